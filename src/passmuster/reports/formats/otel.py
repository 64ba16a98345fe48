"""The OpenTelemetry report: each result as a `gen_ai.evaluation.result` event, in OTLP JSON.

A store that keeps traces can keep the evaluations beside them: events about one trace carry its id where that is an id
of OpenTelemetry.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from time import time_ns
from typing import Any

from passmuster.reports._text import headline, one_line
from passmuster.reports.formats.json import encoded
from passmuster.scoring import Report

FILE_NAME = "evaluations.otlp.json"
DESCRIPTION = "For stores of traces: `gen_ai.evaluation.result` events as OTLP JSON."

_EVENT = "gen_ai.evaluation.result"
_TRACE_ID = re.compile(r"(?!0{32})[0-9a-f]{32}")
_SEVERITY = {"pass": (9, "INFO"), "warn": (13, "WARN"), "skip": (13, "WARN")}
_WORST = (17, "ERROR")


def write(report: Report) -> bytes:
    """The report as log records of one resource, to send to `/v1/logs` as they are."""
    now = str(time_ns())
    scope = {"name": "passmuster", "version": report.provenance.version}
    resource: dict[str, Any] = {"service.name": one_line(report.suite)}
    if report.agent_version:
        resource["service.version"] = one_line(report.agent_version)
    records = [{"timeUnixNano": now, "observedTimeUnixNano": now, **record} for record in _records(report)]
    logs = {"resource": {"attributes": _attributes(resource)}, "scopeLogs": [{"scope": scope, "logRecords": records}]}
    return encoded({"resourceLogs": [logs]})


def _records(report: Report) -> Iterator[dict[str, Any]]:
    why = next((line.message for line in report.gate if line.status != "pass" and line.level == "blocking"), "")
    yield _record("gate", "passmuster.gate", report.verdict, explanation=why)
    for name, metric in report.metrics.items():
        if metric.value is not None:
            yield _record("metric", name, None, metric.value)
    for group in report.groups:
        of = {f"passmuster.group.{one_line(key)}": one_line(value or "") for key, value in group.by.items()}
        for name, metric in group.metrics.items():
            if metric.value is not None:
                yield _record("group", name, None, metric.value, group=of)
    for test in report.tests:
        yield _record("test", test.id, test.status, explanation=test.error or test.skip_reason)
        for violation in test.violations:
            yield _record("test", test.id, "fail", explanation=headline(violation), trace_id=violation.trace_id)
    for scenario in report.scenarios:
        yield _record("scenario", scenario.id, scenario.status, scenario.score)
        for attempt in scenario.attempts:
            yield _record(
                "scenario", scenario.id, attempt.status, attempt.score, attempt.message, trace_id=attempt.trace_id
            )


def _record(
    kind: str,
    name: str,
    label: str | None,
    score: float | None = None,
    explanation: str | None = None,
    trace_id: str | None = None,
    group: dict[str, str] | None = None,
) -> dict[str, Any]:
    """One event; one about a trace names it also where its id is none of OpenTelemetry's."""
    number, text = _SEVERITY.get(label or "pass", _WORST)
    attributes = {
        "gen_ai.evaluation.name": one_line(name),
        "gen_ai.evaluation.score.label": label,
        "gen_ai.evaluation.score.value": score,
        "gen_ai.evaluation.explanation": one_line(explanation) if explanation else None,
        "passmuster.kind": kind,
        "passmuster.trace_id": one_line(trace_id) if trace_id else None,
        **(group or {}),
    }
    record: dict[str, Any] = {"severityNumber": number, "severityText": text, "eventName": _EVENT}
    if trace_id and _TRACE_ID.fullmatch(trace_id):
        record["traceId"] = trace_id
    return {**record, "attributes": _attributes(attributes)}


def _attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    """Attributes in OTLP's form; those without a value are left out."""
    return [
        {"key": key, "value": {"doubleValue" if isinstance(value, float) else "stringValue": value}}
        for key, value in values.items()
        if value is not None
    ]
