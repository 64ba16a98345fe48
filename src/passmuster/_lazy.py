"""Package exports that are imported when they are first used, so that a start pays only for what it needs."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_exports(
    package: str, homes: Mapping[str, tuple[str, ...]], modules: Mapping[str, str] | None = None
) -> Callable[[str], object]:
    """A package's `__getattr__`: `homes` maps each private module to the names that the package takes from it.

    `modules` are private modules that are exported whole, by their public names.
    """
    home_of = {name: home for home, names in homes.items() for name in names}

    def get(name: str) -> object:
        if modules and name in modules:
            value: object = import_module(f"{package}.{modules[name]}")
        elif name in home_of:
            value = getattr(import_module(f"{package}.{home_of[name]}"), name)
        else:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        vars(sys.modules[package])[name] = value
        return value

    return get
