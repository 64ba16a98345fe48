"""Modules found by listing a package's folder, imported when they are used.

A check, rule, metric, reader, report format or command is one module; its file name is its name. Adding one is adding
the file, and a start pays only for those it needs.
"""

import os
from collections.abc import Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import TypeVar

T = TypeVar("T")


class Registry(Mapping[str, ModuleType]):
    """The public modules of a package by name, in alphabetical order."""

    def __init__(self, package: str) -> None:
        self._package = package
        self._folders: list[str] = []
        self._names: frozenset[str] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        """The names, without importing what they stand for."""
        folders: list[str] = list(import_module(self._package).__path__)
        if folders != self._folders:
            found = (entry for folder in folders for entry in os.listdir(folder))
            self._names = frozenset(name[:-3] for name in found if name.endswith(".py") and not name.startswith("_"))
            self._folders = folders
        return self._names

    def __getitem__(self, name: str) -> ModuleType:
        if name not in self.names:
            raise KeyError(name)
        return import_module(f"{self._package}.{name}")

    def declared(self, name: str, base: type[T]) -> type[T]:
        """The class of this base that the module of this name declares."""
        module = self[name]
        classes = (one for one in vars(module).values() if isinstance(one, type) and one.__module__ == module.__name__)
        return next(one for one in classes if issubclass(one, base))

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.names))

    def __len__(self) -> int:
        return len(self.names)
