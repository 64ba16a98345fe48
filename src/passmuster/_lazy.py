"""Package exports that are imported when they are first used, so that a start pays only for what it needs."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_exports(package: str, homes: Mapping[str, tuple[str, ...]]) -> Callable[[str], object]:
    """A package's `__getattr__`: `homes` maps modules to the names that the package exports from them.

    A module is named from the package on (`_model`), or in full where it is another package (`passmuster.traces`).
    """
    home_of = {name: home for home, names in homes.items() for name in names}

    def get(name: str) -> object:
        home = home_of.get(name)
        if home is None:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        module = import_module(home if home.startswith("passmuster.") else f"{package}.{home}")
        value: object = getattr(module, name)
        vars(sys.modules[package])[name] = value
        return value

    return get
