"""Imports the modules that a suite names. Several suites in one process may have modules of the same name."""

from __future__ import annotations

import contextlib
import importlib
import importlib.machinery
import sys
import traceback
from collections.abc import Iterator
from types import ModuleType

from passmuster._foreign_code import foreign_code

_homes: dict[str, str] = {}
"""Module name → the suite folder that it was imported from."""


class PluginError(Exception):
    """A plugin that cannot be imported, and why."""


def import_plugin(name: str, folder: str) -> ModuleType:
    """The module of this name. The suite's folder comes first; modules of other suites are forgotten."""
    importlib.invalidate_caches()
    home = importlib.machinery.FileFinder(folder).path  # the way modules from there will name it
    with _importable(folder), _without_others(name, home):
        known = set(sys.modules)
        try:
            with foreign_code():
                return importlib.import_module(name)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # `sys.exit()` in a plugin must not end the run, least of all with 0
            if isinstance(error, ModuleNotFoundError) and error.name == name:
                raise PluginError(
                    f"there is no module '{name}' (looked in {folder} and the installed packages)"
                ) from error
            raise PluginError(f"importing '{name}' failed: {describe_error(error)}") from error
        finally:
            for new in set(sys.modules) - known:
                if _lies_in(sys.modules[new], home):
                    _homes[new] = home


def plugin_files(folder: str) -> list[str]:
    """The files of the modules that were imported from a suite's folder."""
    home = importlib.machinery.FileFinder(folder).path
    modules = [sys.modules[name] for name, there in _homes.items() if there == home and name in sys.modules]
    return sorted({file for module in modules if isinstance(file := getattr(module, "__file__", None), str)})


def describe_error(error: BaseException) -> str:
    """An exception on a line or two, with the place of a syntax error."""
    return "".join(traceback.format_exception_only(error)).strip()


@contextlib.contextmanager
def _importable(folder: str) -> Iterator[None]:
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(folder)


@contextlib.contextmanager
def _without_others(name: str, home: str) -> Iterator[None]:
    """Forget the modules of other suites, and hide other modules of the plugin's name during the import."""
    for other in [other for other, there in _homes.items() if there != home]:
        del _homes[other]
        sys.modules.pop(other, None)
    top = name.partition(".")[0]
    aside: dict[str, ModuleType] = {}
    if top not in _homes and importlib.machinery.PathFinder.find_spec(top, [home]):
        aside = {one: sys.modules.pop(one) for one in list(sys.modules) if one == top or one.startswith(f"{top}.")}
    try:
        yield
    finally:
        sys.modules.update(aside)
        for one in aside:
            _homes.pop(one, None)


def _lies_in(module: ModuleType, home: str) -> bool:
    places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
    return any(isinstance(place, str) and place.startswith((f"{home}/", f"{home}\\")) for place in places)
