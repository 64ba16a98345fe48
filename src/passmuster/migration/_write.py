"""A migrated suite as YAML text, with comments that name the origin of each part."""

from __future__ import annotations

import textwrap
from typing import Any

from passmuster.migration._draft import Migrated, Note
from passmuster.suite import Mapping, Node, Sequence, plain

_WIDTH = 110
_HEADINGS = {
    ("weaker", "lost"): "This suite asks less than its origin. What was not carried over, or only in part:",
    ("changed",): "Checked in another way than by its origin:",
    ("ignored",): "These parts check nothing:",
}


def suite_text(found: Migrated, name: str) -> str:
    """The suite as YAML. `name` is what comments call the file it comes from."""
    name = _in_comments(name)
    lines = [f"# Migrated from {name} ({found.origin})."]
    for kinds, heading in _HEADINGS.items():
        notes = [note for note in found.notes if note.kind in kinds]
        if notes:
            lines += ["#", f"# {heading}", *(line for note in notes for line in _commented(note, name))]
    parts = [_part(entry.key, entry.value, name) for entry in found.suite]
    return "\n".join(lines) + "\n\n" + "\n".join(parts)


def _commented(note: Note, name: str) -> list[str]:
    text = _in_comments(" ".join(note.text.split()))
    return textwrap.wrap(f"{name}:{note.line}: {text}", _WIDTH, initial_indent="# - ", subsequent_indent="#   ")


def _in_comments(text: str) -> str:
    """Text that stays in its comment: a line break or a byte that is no text becomes an escape."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _part(key: str, node: Node, name: str) -> str:
    """One key of the suite; each item of a list of maps says where it comes from."""
    if not isinstance(node, Sequence) or not all(isinstance(item, Mapping) for item in node.items) or not node.items:
        return _dumped({key: plain(node)})
    items = (f"  # {name}:{item.line}\n" + textwrap.indent(_dumped([plain(item)]), "  ") for item in node.items)
    return f"{key}:\n" + "\n".join(items)


def _dumped(value: Any) -> str:
    import yaml  # late, for only migrations write YAML

    text: str = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=_WIDTH, default_flow_style=False)
    return text
