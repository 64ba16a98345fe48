"""A file of another tool, run as it stands."""

from __future__ import annotations

from pathlib import Path

from passmuster._problems import Problem
from passmuster.migration._migrate import migrated, origin_of
from passmuster.suite import Node


def adapted(document: Node, path: Path, file: str) -> tuple[Node, list[Problem], list[Problem]]:
    """The document as a suite, warnings on what is not asked as it was, and remarks on what checks nothing."""
    origin = origin_of(document)
    if origin is None:
        return document, [], []
    found = migrated(document, path, file, origin)
    warnings = [Problem(note.text, file, note.line) for note in found.notes if note.kind in ("weaker", "lost")]
    remarks = [Problem(note.text, file, note.line) for note in found.notes if note.kind in ("ignored", "changed")]
    return found.suite, warnings, remarks
