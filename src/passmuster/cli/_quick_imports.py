"""Imports of libraries without the work they do on import that hardly a command needs.

Only the command line does this, at its very start: a library must not change how others import. Measured on the example
run (615 million instructions): the patterns of PyYAML's own scanner, compiled although libyaml scans, took 70 million;
`email.utils`, which jsonschema-rs imports for the date of its build, 45 million; `typing_extensions`, which msgspec
prefers to the equal parts of `typing` where it is installed, 12 million; `platform`, which `uuid` (imported by msgspec)
asks for the system's name, 8 million, and `urllib.parse`, which `pathlib` imports for one method, 10 million, both in
Python 3.11 and 3.12 only; `textwrap`, which msgspec imports for JSON Schemas, 4 million.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any


def import_quickly() -> None:
    """From now on, import those in the quick way."""
    sys.meta_path.insert(0, _QuickFinder)  # a class is a finder, too


class _QuickFinder:
    """Finds modules as usual, and lets those of `_QUICKER` run inside their context."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in _QUICKER:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            vars(spec.loader)["exec_module"] = _within(_QUICKER[name], spec.loader.exec_module)
        return spec


def _within(
    context: Callable[[], AbstractContextManager[None]], run: Callable[[ModuleType], None]
) -> Callable[[ModuleType], None]:
    def exec_module(module: ModuleType) -> None:
        with context():
            run(module)

    return exec_module


class _PatternOnDemand:
    """A regular expression that is compiled when it is first used."""

    def __init__(self, *given: Any) -> None:
        self._given = given

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(*self._given)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._compiled, name)


@contextmanager
def _patterns_on_demand() -> Iterator[None]:
    compiled = re.compile
    vars(re)["compile"] = _PatternOnDemand
    try:
        yield
    finally:
        vars(re)["compile"] = compiled


@contextmanager
def _stand_in(name: str, **attributes: object) -> Iterator[None]:
    """In place of a module, one with these attributes, which gives all others from the real module."""
    if name in sys.modules:
        yield
        return
    stand_in = sys.modules[name] = ModuleType(name)

    def real(attribute: str) -> Any:
        if attribute.startswith("__"):  # asked for by the import itself
            raise AttributeError(attribute)
        if sys.modules.get(name) is stand_in:
            del sys.modules[name]
        return getattr(import_module(name), attribute)

    vars(stand_in).update(attributes, __getattr__=real)
    try:
        yield
    finally:
        if sys.modules.get(name) is stand_in:
            del sys.modules[name]


@contextmanager
def _without_typing_extensions() -> Iterator[None]:
    name = "typing_extensions"
    if name in sys.modules:
        yield
        return
    vars(sys)["modules"][name] = None  # which makes importing it an `ImportError`
    try:
        yield
    finally:
        del sys.modules[name]


def _quoted(*given: Any) -> Any:
    return import_module("urllib.parse").quote_from_bytes(*given)


_QUICKER: dict[str, Callable[[], AbstractContextManager[None]]] = {
    "jsonschema_rs": lambda: _stand_in("email.utils", parsedate_to_datetime=str),
    "msgspec": _without_typing_extensions,
    "msgspec._json_schema": lambda: _stand_in("textwrap"),
    "pathlib": lambda: _stand_in("urllib.parse", quote_from_bytes=_quoted),
    "uuid": lambda: _stand_in("platform", system=lambda: os.uname().sysname),
    "yaml": _patterns_on_demand,
}
