"""Set-up of the tests of migration."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import passmuster
from passmuster import api

Trace = dict[str, Any]


def call(tool: str, **fields: Any) -> dict[str, Any]:
    return {"type": "tool_call", "tool": tool, **fields}


def trace(query: str, *steps: dict[str, Any], answer: str = "Done.", **fields: Any) -> Trace:
    return {"query": query, "answer": answer, "steps": list(steps), **fields}


class Verdicts(NamedTuple):
    """The exit code of a file run as it stands, and of the suite it was migrated to."""

    as_it_stands: int | None
    migrated: int


def migrate(folder: Path, text: str, name: str = "agentci_spec.yaml") -> api.MigratedFile:
    """The file migrated; it is written, too."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    (found,) = api.migrate([str(path)])
    return found


def notes(found: api.MigratedFile) -> list[tuple[int, str]]:
    return [(note.line, note.kind) for note in found.notes]


def verdicts(folder: Path, found: api.MigratedFile, traces: Sequence[Trace], *, runs: bool = True) -> Verdicts:
    """What both come to on these traces."""
    read = folder / "traces.jsonl"
    read.write_text("".join(json.dumps(one) + "\n" for one in traces), encoding="utf-8")
    suite = folder / "passmuster.yaml"
    suite.write_text(found.text, encoding="utf-8")
    codes = [
        passmuster.evaluate(passmuster.load_suite(path, root=folder), passmuster.read_traces(read)).exit_code
        for path in ([Path(found.source)] if runs else []) + [suite]
    ]
    return Verdicts(codes[0] if runs else None, codes[-1])
