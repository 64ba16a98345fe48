"""Each package exports lazily what its `__init__` tells type checkers it exports."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
LAZY = [path for path in SOURCE.rglob("__init__.py") if "lazy_exports(" in path.read_text(encoding="utf-8")]


def declared(path: Path) -> dict[str, str]:
    """The names that a package imports for type checkers, and the modules they come from."""
    (block,) = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.If)]
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.asname or alias.name: str(node.module) for node in imports for alias in node.names}


@pytest.mark.parametrize("path", LAZY, ids=[str(path.parent.relative_to(SOURCE)) for path in LAZY])
def test_a_package_exports_what_it_declares(path: Path) -> None:
    package = import_module(".".join(path.parent.relative_to(SOURCE).parts))
    for name, home in declared(path).items():
        assert getattr(package, name) is getattr(import_module(home), name), name
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        package.nonsense  # noqa: B018
