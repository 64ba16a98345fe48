"""Package exports that are imported when they are first used, so that a start pays only for what it needs."""

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType


def lazy_exports(package: str) -> Callable[[str], object]:
    """The `__getattr__` of a package that exports what its `__init__` imports under `if TYPE_CHECKING:`.

    Names are listed once, for type checkers; here they are read from the source, which takes about 0.05 ms.
    """
    homes: dict[str, str] = {}

    def get(name: str) -> object:
        module = sys.modules[package]
        homes.update(homes or _homes(module))
        if name not in homes:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        value: object = getattr(import_module(homes[name]), name)
        vars(module)[name] = value
        return value

    return get


def _homes(module: ModuleType) -> dict[str, str]:
    """The module of each name that is imported under an `if`."""
    source: str = module.__spec__.loader.get_data(module.__file__).decode()  # type: ignore[union-attr]
    found: dict[str, str] = {}
    for statement in source.split("\n    from ")[1:]:
        home, _, names = statement.partition("\nelse:")[0].partition(" import ")
        found |= dict.fromkeys(names.strip("()\r\n ").replace(",", " ").split(), home)
    return found
