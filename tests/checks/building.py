"""Traces and suites in a line or two, judged by the whole of the house but its command line.

`calls("a b! (c d)")` is a trace's calls in short: `b` failed, `c` and `d` were made in parallel.
"""

from __future__ import annotations

import datetime
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import passmuster
from passmuster.engine._run import evaluate_sources as judge_sources
from passmuster.scoring._report import Report, TestReport
from passmuster.scoring._settings import Settings
from passmuster.traces._sources import find_sources

__all__ = ["Step", "call", "calls", "judge", "judge_one", "rules", "trace", "write"]

Step = dict[str, Any]
TODAY = "2026-06-01"


def call(tool: str, arguments: object = None, **fields: Any) -> Step:
    """One tool call as a trace records it."""
    return {"type": "tool_call", "tool": tool, "arguments": {} if arguments is None else arguments, **fields}


def calls(short: str) -> list[Step]:
    """Calls in short: `!` marks a failed one, parentheses hold those made in parallel."""
    found: list[Step] = []
    group: int | None = None
    for word in short.replace("(", " ( ").replace(")", " ) ").split():
        if word in "()":
            group = len(found) + 1 if word == "(" else None
            continue
        found.append(call(word.rstrip("!"), group=group, error="it failed" if word.endswith("!") else None))
    return found


def trace(steps: str | Sequence[Step] = (), **fields: Any) -> Step:
    """One trace of the native form."""
    return {"steps": calls(steps) if isinstance(steps, str) else list(steps), **fields}


def rules(*written: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    """A suite with one `sequence_valid` test."""
    return {"tests": [{"id": "t", "metric": "sequence_valid", "rules": list(written), **fields}]}


def write(
    folder: Path, suite: str | Mapping[str, Any], traces: Sequence[str | Mapping[str, Any]] = (), **files: str
) -> tuple[Path, Path]:
    """The suite (text as YAML, data as JSON), its traces (text as it is), and other files by name (`__` is a dot)."""
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")
    text, ending = (suite, "yaml") if isinstance(suite, str) else (json.dumps(suite), "json")
    path, source = folder / f"passmuster.{ending}", folder / "traces.jsonl"
    path.write_text(text, encoding="utf-8")
    lines = [one if isinstance(one, str) else json.dumps(one) for one in traces]
    source.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path, source


def judge(
    suite: str | Mapping[str, Any],
    traces: Sequence[str | Mapping[str, Any]],
    *,
    strict: bool = False,
    accept_loss: bool = False,
    today: str = TODAY,
    only: tuple[str, ...] = (),
    files: Mapping[str, str] | None = None,
    baseline: Sequence[Mapping[str, Any]] = (),
) -> Report:
    """The report on these traces; `baseline` are the golden ones."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve()
        path, source = write(folder, suite, traces, **(files or {}))
        settings = Settings(today=datetime.date.fromisoformat(today), strict=strict, only=only, accept_loss=accept_loss)
        golden = folder / "golden.jsonl"
        golden.write_text("".join(f"{json.dumps(one)}\n" for one in baseline), encoding="utf-8")
        return judge_sources(
            passmuster.load_suite(path, root=folder),
            find_sources([str(source)], folder, folder),
            settings,
            baseline=find_sources([str(golden)], folder, folder) if baseline else (),
        )


def judge_one(suite: str | Mapping[str, Any], *traces: str | Mapping[str, Any], **files: str) -> TestReport:
    """What is reported of the suite's only test."""
    (test,) = judge(suite, traces, files=files).tests
    return test
