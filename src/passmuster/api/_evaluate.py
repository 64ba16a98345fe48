"""The verdict of a suite on traces at hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from passmuster.api._inputs import compared_with
from passmuster.api._options import RunOptions
from passmuster.api._redact_report import redact_report
from passmuster.engine import evaluate_traces, redactor_of
from passmuster.scoring import JudgeMode, Report
from passmuster.suite import Suite
from passmuster.traces import Trace, traces_of


def evaluate(
    suite: Suite,
    traces: Iterable[Trace | Mapping[str, Any] | Sequence[Any]],
    *,
    strict: bool = False,
    judge: JudgeMode = "live",
    agent_version: str | None = None,
    baseline: str | Path | None = None,
    redact: bool = True,
) -> Report:
    """The verdict of a suite on traces at hand, with secrets hidden and long values cut as in every report.

    A trace may be given as a `Trace`, as a record of any format, or as a list of messages.

    `baseline` is a baseline file or golden traces; without it, what the suite itself names. `redact=False` gives the
    raw report, with what the traces hold: keep it where the traces may be kept.
    """
    compared, name = compared_with(suite, None if baseline is None else str(baseline))
    options = RunOptions(strict=strict, judge=judge, agent_version=agent_version)
    report = evaluate_traces(suite, traces_of(traces), replace(options.settings, baseline=name), compared)
    return redact_report(report, redactor_of(suite)) if redact else report
