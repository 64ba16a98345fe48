"""Suites and traces of scenarios that pass or fail as told, recorded and compared in a line or two."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from passmuster.engine._load_suite import load_suite
from passmuster.engine._run import evaluate_sources, record
from passmuster.scoring._baseline import Baseline
from passmuster.scoring._report import GateLine, Report
from passmuster.scoring._settings import Settings
from passmuster.suite._model import Suite
from passmuster.traces._sources import Source

DAY = datetime.date(2026, 6, 1)
PASS, FAIL = "yes", "no"
BROKEN = "broken"
"""A run that an outside part kept from ending."""

Runs = Mapping[str, str | Sequence[str]]
"""How each scenario's runs ended."""


def suite_of(ids: Iterable[str], **keys: Any) -> dict[str, Any]:
    """A suite whose scenarios pass with the answer `yes`; failures are tolerated, so that the baseline decides."""
    scenarios = [{"id": id_, "correctness": {"expected_in_answer": PASS}} for id_ in ids]
    return {"suite": "s", "scenarios": scenarios, "thresholds": {"blocking": {"pass_rate": 0.0001}}, **keys}


def trace(scenario: str, end: str, **fields: Any) -> dict[str, Any]:
    tools = fields.pop("tools", ["look"])
    steps = [{"type": "tool_call", "tool": tool, "arguments": {}} for tool in tools]
    error = {"kind": "infra", "message": "down"} if end == BROKEN else None
    return {"scenario": scenario, "answer": end, "steps": steps, "error": error, **fields}


def traces_of(runs: Runs, **fields: Any) -> list[dict[str, Any]]:
    return [
        trace(id_, end, **fields) for id_, ends in runs.items() for end in ([ends] if isinstance(ends, str) else ends)
    ]


def loaded(folder: Path, suite: Mapping[str, Any]) -> Suite:
    path = folder / "passmuster.json"
    path.write_text(json.dumps(suite), encoding="utf-8")
    return load_suite(path, root=folder)


def source_of(folder: Path, traces: Iterable[Mapping[str, Any]], name: str = "t.jsonl") -> Source:
    path = folder / name
    path.write_text("".join(f"{json.dumps(one)}\n" for one in traces), encoding="utf-8")
    return Source(str(path), name)


def recorded(folder: Path, suite: Mapping[str, Any], traces: Iterable[Mapping[str, Any]]) -> Baseline:
    """The baseline of these traces."""
    return record(loaded(folder, suite), [source_of(folder, traces, "before.jsonl")], Settings(today=DAY))[0]


def compared(
    folder: Path,
    suite: Mapping[str, Any],
    traces: Iterable[Mapping[str, Any]],
    baseline: Baseline,
    **settings: Any,
) -> Report:
    """The report on these traces, compared with a baseline."""
    source = source_of(folder, traces)
    return evaluate_sources(loaded(folder, suite), [source], Settings(today=DAY, **settings), baseline=baseline)


def lines(report: Report) -> dict[str, GateLine]:
    """The lines about the baseline, by id."""
    found = [line for line in report.gate if line.kind == "baseline"]
    assert len({line.id for line in found}) == len(found)
    return {line.id: line for line in found}
