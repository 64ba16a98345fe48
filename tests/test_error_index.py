"""The index of error messages lists what the program says: no message without an entry, no entry without a message."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import passmuster

PACKAGE = Path(passmuster.__file__).parent
PAGE = PACKAGE.parent.parent / "docs" / "errors.md"
RAISED = {"Problem": 0, "UsageError": 0, "report": 0, "_report": 0, "problem": 1, "BadRecord": 1, "Mistake": 1}
"""What raises a mistake, and which of its arguments is the message."""
OF_LIBRARIES = {"Expected … got …"}
"""What msgspec says; tests/test_bad_input.py meets it."""


@cache
def entries() -> tuple[str, ...]:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    return tuple(entry for row in rows for entry in re.findall(r"`([^`]+)`", row.replace(r"\|", "¦").split("|")[1]))


@cache
def patterns() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(".*".join(map(re.escape, entry.split("…")))) for entry in entries())


def is_listed(message: str) -> bool:
    return any(pattern.search(message) for pattern in patterns())


def template(node: ast.expr | None) -> str:
    """A message as it stands in the source, with `…` for what is filled in."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(part.value if isinstance(part, ast.Constant) else "…" for part in parts)  # type: ignore[misc]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return template(left) + template(right)
    return "…"


def raised(tree: ast.Module) -> list[str]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "mistakes":
            tuples = [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Yield)]
            found += [template(one.elts[1]) for one in tuples if isinstance(one, ast.Tuple)]
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            index = RAISED.get(name, len(node.args))
            if index < len(node.args):
                found.append(template(node.args[index]))
    return found


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_every_message_is_listed(path: Path) -> None:
    found = raised(ast.parse(path.read_text(encoding="utf-8")))
    fixed = [
        text for text in found if len(re.findall(r"[a-z]{2,}", text)) > 1
    ]  # others are a place and what is said there
    assert [text for text in fixed if not is_listed(text)] == []


def test_every_entry_is_a_message() -> None:
    texts = [
        template(node)
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant | ast.JoinedStr)
    ]
    whole = "\n".join(texts)
    unknown = [entry for entry, pattern in zip(entries(), patterns(), strict=True) if not pattern.search(whole)]
    assert set(unknown) == OF_LIBRARIES


def test_no_entry_is_listed_twice() -> None:
    assert sorted(entries()) == sorted(set(entries()))
