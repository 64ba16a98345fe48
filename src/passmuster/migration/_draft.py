"""A suite that is put together from another tool's file: its nodes, and notes on what differs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from passmuster.suite import Entry, Mapping, Node, Scalar, Sequence

NoteKind = Literal["ignored", "changed", "weaker", "lost"]


class Note(Struct, frozen=True):
    """What a translation did to a part of a file."""

    line: int
    kind: NoteKind
    """`ignored`: it checks nothing. `changed`: it is checked in another way. `weaker`: less is asked than before.
    `lost`: it is not asked any more."""
    text: str


class Migrated(Struct, frozen=True):
    """A file as a passmuster suite."""

    origin: str
    """The kind of file it was."""
    suite: Mapping
    """Nodes with the lines of the file they come from."""
    notes: tuple[Note, ...] = ()

    @property
    def asks_less(self) -> bool:
        """Whether the suite asks less than the file did."""
        return any(note.kind in ("weaker", "lost") for note in self.notes)


class Draft:
    """Collects notes while a file is translated."""

    def __init__(self, path: Path, *, spell_defaults: bool = False) -> None:
        self.path = path
        self.spell_defaults = spell_defaults
        """Whether what the other tool asks by default is spelled out."""
        self.notes: list[Note] = []

    def note(self, at: Node | Entry, kind: NoteKind, text: str) -> None:
        """Record what became of the part of the file at this place."""
        self.notes.append(Note(at.line, kind, text))

    def drop(self, found: dict[str, Any], map_: Mapping, key: str, kind: NoteKind, text: str) -> None:
        """Leave out a key of a map, where it is there, with a note."""
        if found.pop(key, None) is not None:
            self.note(map_.entries[key], kind, text)


def made(value: Any, at: Node | Entry) -> Node:
    """A Python value as a node at a place of the file; nodes inside it keep their own."""
    if isinstance(value, Mapping | Sequence | Scalar):
        return value
    if isinstance(value, dict):
        inner = {key: made(item, at) for key, item in value.items()}
        return Mapping(
            {key: Entry(key, node.line, node.column, node) for key, node in inner.items()}, at.line, at.column
        )
    if isinstance(value, list | tuple):
        return Sequence([made(item, at) for item in value], at.line, at.column)
    return Scalar(value, "" if value is None else str(value), at.line, at.column)


def entries_of(node: Node | None) -> dict[str, Node]:
    """The keys and values of a map; none of anything else, which the suite's own reader will refuse."""
    return {entry.key: entry.value for entry in node} if isinstance(node, Mapping) else {}


def items_of(node: Node | None) -> list[Node]:
    """The items of a list, or the node as a list of one; none of nothing."""
    if node is None or (isinstance(node, Scalar) and node.value is None):
        return []
    return node.items if isinstance(node, Sequence) else [node]


def text_of(node: Node | None) -> str:
    """The text of a scalar, empty for anything else."""
    return str(node.value) if isinstance(node, Scalar) and node.value is not None else ""


def is_true(node: Node | None) -> bool:
    """Whether the node is `true`."""
    return isinstance(node, Scalar) and node.value is True


def rebuilt(node: Mapping, entries: dict[str, Any]) -> Mapping:
    """A map in the place of another, with these entries; a key that was there keeps its line."""
    found: dict[str, Entry] = {}
    for key, value in entries.items():
        before = node.entries.get(key)
        item = made(value, before or node)
        found[key] = Entry(key, before.line if before else item.line, before.column if before else item.column, item)
    return Mapping(found, node.line, node.column)
