"""What a page shows besides the report, redacted and within its budget: traces, source lines, earlier runs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec.structs import replace

from passmuster.api._earlier_runs import changes_since_baseline, earlier_runs
from passmuster.api._redact_report import report_secrets
from passmuster.api._redact_trace import redact_trace
from passmuster.engine import Gathered
from passmuster.redaction import Redactor
from passmuster.scoring import Baseline, Evidence, KeptTrace, Report
from passmuster.suite import Suite, display

_AROUND = 2
"""Lines of context before and after a line of the suite."""
_MOST_LINES = 5_000


def with_evidence(
    gathered: Gathered, safe: Report, suite: Suite, redactor: Redactor, baseline: Baseline | None
) -> Report:
    """The redacted report with what a page shows besides it. What changed is told since the baseline, if there is one,
    else since the last run."""
    megabytes = suite.output.trace_mb
    traces = _within_budget(gathered, redactor, megabytes * 1_000_000)
    past = earlier_runs(safe)
    evidence = Evidence(
        when=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        traces=traces,
        left_out=max(0, gathered.total - sum(trace.role == "run" for trace in traces)),
        budget=f"{megabytes} MB",
        lines=_source_lines(safe, suite, redactor),
        sequences={
            id_: tuple(tuple(map(redactor.text, tools)) for tools in sequences)
            for id_, sequences in gathered.sequences.items()
        },
        distributions=gathered.distributions,
        history=past.runs,
        trails=past.trails,
        changes=changes_since_baseline(safe, baseline) if baseline and not safe.incomplete else past.changes,
        what_if=gathered.what_if,
    )
    return replace(safe, evidence=evidence)


def _within_budget(gathered: Gathered, redactor: Redactor, budget: int) -> tuple[KeptTrace, ...]:
    """The traces in their order, as many as there is room for. One that is too large makes way for smaller ones."""
    secrets = report_secrets(gathered.report, redactor)
    room = budget
    kept: list[KeptTrace] = []
    for trace in gathered.traces if budget else ():
        safe = redact_trace(trace, redactor, secrets)
        size = len(msgspec.json.encode(safe))
        if size <= room:
            kept.append(safe)
            room -= size
        elif room < budget // 100:
            break
    return tuple(kept)


def _source_lines(report: Report, suite: Suite, redactor: Redactor) -> dict[str, dict[int, str]]:
    """The lines of suite and policies that violations and checks refer to, with those around them."""
    wanted: dict[str, set[int]] = {}
    for file, line in _references(report):
        if file and line and sum(map(len, wanted.values())) < _MOST_LINES:
            wanted.setdefault(file, set()).update(range(line - _AROUND, line + _AROUND + 1))
    found: dict[str, dict[int, str]] = {}
    for path, data in suite.documents.items():
        name = display(Path(path), suite.root)
        if name in wanted:
            lines = data.decode("utf-8", "replace").splitlines()
            numbers = sorted(number for number in wanted[name] if 0 < number <= len(lines))
            found[name] = {number: redactor.text(lines[number - 1]) for number in numbers}
    return found


def _references(report: Report) -> Iterator[tuple[str | None, int | None]]:
    for violation in report.violations():
        yield violation.policy_file, violation.policy_line
    for scenario in report.scenarios:
        if scenario.status not in ("pass", "skip"):
            for layer in scenario.layers.values():
                yield from ((scenario.file, check.line) for check in layer.checks if check.status != "pass")
