"""A document as it was written: values that remember their line and column.

Both file readers (`yaml_text`, `json_text`) produce these nodes and nothing else, so the rest of
the house never asks which of the two a suite was written in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct


class Scalar(Struct, frozen=True):
    """A string, number, boolean or null. `text` is what stood in the file."""

    value: str | int | float | bool | None
    text: str
    line: int
    column: int
    undefined_alias: bool = False
    """`*name` where no anchor has that name: an error everywhere but in a list of tool patterns."""


class Sequence(Struct, frozen=True):
    """A list of nodes."""

    items: list[Node]
    line: int
    column: int


class Entry(Struct, frozen=True):
    """One key of a mapping: where the key stands, and its value."""

    key: str
    line: int
    column: int
    value: Node


class Mapping(Struct, frozen=True):
    """Keys in the order they were written; the readers have refused duplicates."""

    entries: dict[str, Entry]
    line: int
    column: int

    def get(self, key: str) -> Node | None:
        entry = self.entries.get(key)
        return entry.value if entry else None

    def __contains__(self, key: str) -> bool:
        return key in self.entries

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries.values())


Node = Scalar | Sequence | Mapping


def plain(node: Node) -> Any:
    """The node as ordinary Python lists, dicts and scalars."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    return {entry.key: plain(entry.value) for entry in node}


def node_at(node: Node, path: Iterable[str | int]) -> Node | Entry:
    """What stands at a path inside a node, or as far along it as there is something."""
    found: Node | Entry = node
    for step in path:
        inside = found.value if isinstance(found, Entry) else found
        if isinstance(inside, Mapping) and str(step) in inside:
            found = inside.entries[str(step)]
        elif isinstance(inside, Sequence) and isinstance(step, int) and step < len(inside.items):
            found = inside.items[step]
        else:
            break
    return found


def node_of(value: Any) -> Node:
    """A Python value as a node, for what was never written in a file."""
    if isinstance(value, dict):
        return Mapping({str(key): Entry(str(key), 0, 0, node_of(inner)) for key, inner in value.items()}, 0, 0)
    if isinstance(value, (list, tuple)):
        return Sequence([node_of(item) for item in value], 0, 0)
    return Scalar(value, "" if value is None else str(value), 0, 0)


def kind_of(node: Node) -> str:
    """What a person would call this node in a message: 'a list', 'a string', 'null'."""
    if isinstance(node, Mapping):
        return "a map"
    if isinstance(node, Sequence):
        return "a list"
    match node.value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case _:
            return "a string"
