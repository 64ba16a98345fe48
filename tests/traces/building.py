"""Small traces, the files they stand in, and the ways to read them back."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from passmuster._problems import TraceError
from passmuster.traces import FORMATS, _accounting
from passmuster.traces._model import Trace
from passmuster.traces._reading import BadLines, read_source
from passmuster.traces._sources import Source

Json = dict[str, Any]

READERS = [_accounting, *(FORMATS[name] for name in FORMATS)]
"""Imported here, so that the first example of a property test does not run into its deadline."""


def call(tool: str = "look", **fields: Any) -> Json:
    """A tool call as a step or an event."""
    return {"type": "tool_call", "tool": tool, **fields}


def result(**fields: Any) -> Json:
    """A result recorded apart from its call."""
    return {"type": "tool_result", **fields}


def said(role: str, content: Any) -> Json:
    return {"type": "message", "role": role, "content": content}


def header(**fields: Any) -> Json:
    """The line that states a trace's own fields among events."""
    return {"type": "trace", **fields}


def trace(*steps: Json, **fields: Any) -> Json:
    """A trace in the native form."""
    return {**fields, "steps": list(steps)}


def lines(*records: Json, newline: str = "\n", last: str | None = None) -> bytes:
    """One record a line; `last` ends the file."""
    text = newline.join(json.dumps(record, ensure_ascii=False) for record in records)
    return (text + (newline if last is None else last)).encode()


def write(path: Path, data: bytes | Json | list[Json], indent: int | None = None) -> Path:
    """A file with these bytes, or with this JSON document; packed if its name ends in .gz."""
    if not isinstance(data, bytes):
        data = json.dumps(data, ensure_ascii=False, indent=indent).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def source_of(path: Path) -> Source:
    return Source(str(path), path.name)


def read(path: Path) -> list[Trace]:
    """All traces of a file, none of them bad."""
    source = source_of(path)
    return list(read_source(source, BadLines(source, skip=False)))


def read_past(path: Path) -> tuple[list[Trace], int]:
    """The readable traces of a file, and the number of bad records."""
    source = source_of(path)
    bad = BadLines(source, skip=True)
    return list(read_source(source, bad)), bad.count


def refusal(path: Path) -> str:
    """What is said about a file that cannot be read."""
    with pytest.raises(TraceError) as caught:
        read(path)
    (problem,) = caught.value.problems
    return str(problem)


def tools(one: Trace) -> list[str]:
    return [step.tool for step in one.tool_calls]
