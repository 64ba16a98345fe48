"""Paths of files in a suite that is written to another folder than the file it comes from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import cast

from msgspec.structs import replace

from passmuster.migration._draft import Migrated, Note, entries_of, made, text_of
from passmuster.suite import Entry, Mapping, Node, Scalar, Sequence, find_root

_PATHS = ("policy", "context_file")
"""Keys of suites, whose value may be the path of a file."""


def moved(found: Migrated, source: Path, target: Path) -> Migrated:
    """The same suite for another folder, with paths relative to it; a note says where they need `--root`."""
    notes: list[Note] = []
    folder = source.resolve().parent
    suite = cast(Mapping, _moved(found.suite, folder, target.resolve(), notes))
    function = entries_of(found.suite.get("agent")).get("python")
    if function is not None and folder != target.resolve().parent:
        text = f"'{text_of(function)}' is imported from the folder of the suite; to run it live, write the suite there"
        notes.append(Note(function.line, "changed", text))
    return replace(found, suite=suite, notes=(*found.notes, *notes))


def _moved(node: Node, folder: Path, target: Path, notes: list[Note]) -> Node:
    if isinstance(node, Sequence):
        return Sequence([_moved(item, folder, target, notes) for item in node.items], node.line, node.column)
    if not isinstance(node, Mapping):
        return node
    entries = {}
    for entry in node:
        value = entry.value
        if entry.key in _PATHS and isinstance(value, Scalar) and (folder / value.text).is_file():
            file = (folder / value.text).resolve()
            if not file.is_relative_to(find_root(None, target)):
                root = os.path.relpath(os.path.commonpath((file, target)), Path.cwd())
                text = f"'{value.text}' is outside the folder of the suite; run it with --root {root}"
                notes.append(Note(entry.line, "changed", text))
            value = made(Path(os.path.relpath(file, target.parent)).as_posix(), value)
        entries[entry.key] = Entry(entry.key, entry.line, entry.column, _moved(value, folder, target, notes))
    return Mapping(entries, node.line, node.column)
