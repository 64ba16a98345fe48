"""The JSON report: every field of the verdict, in a fixed order of keys."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from passmuster.checks import CheckReport, LayerReport, Violation
from passmuster.scoring import Attempt, GateLine, Metric, Report, RuleReport, ScenarioReport, TestReport

FILE_NAME = "report.json"
DESCRIPTION = "For programs: every field of the report."

_REPORT = (
    *("schema", "suite", "verdict", "exit_code", "partial"),
    *("metrics", "gate", "tests", "scenarios", "traces", "provenance"),
)
_GATE = ("kind", "id", "level", "status", "actual", "expected", "message", "tolerated_by", "file", "line")
_TEST = ("id", "metric", "status", "exercised", "rules", "violations", "violation_count", "stats", "duration_ms")
_RULE = ("type", "line", "status", "exercised_on")
_METRIC = ("value", "n", "ci95")
_SCENARIO = ("id", "category", "status", "score", "weight", "runs", "layers", "behaviors", "attempts")
_CHECK = ("name", "status", "message", "line", "violations")
_VIOLATION = (
    *(
        "kind",
        "tool",
        "argument",
        "value",
        "constraint",
        "rule",
        "pattern",
        "expected",
        "actual",
        "call_index",
        "calls_found",
    ),
    *("level", "policy_file", "policy_line", "trace_id", "trace_file", "trace_line", "message", "suggestion"),
)


def write(report: Report) -> bytes:
    """The report as indented JSON."""
    top = _ordered(report, _REPORT, leave_out=("root",))
    top["metrics"] = {name: _metric(metric) for name, metric in report.metrics.items()}
    top["gate"] = [_gate(line) for line in report.gate]
    top["tests"] = [_test(test) for test in report.tests]
    top["scenarios"] = [_scenario(scenario) for scenario in report.scenarios]
    top["duration_ms"] = round(report.duration_ms, 3)
    return encoded(top)


def encoded(value: Any) -> bytes:
    """A value as indented JSON that any strict reader takes, UTF-8, with a newline at its end.

    `##` is written with an escape, which reads the same: in a build log, where the report may be printed,
    `##[…]` and `##vso[…]` are commands.
    """
    data = msgspec.json.format(msgspec.json.encode(_plain(value)), indent=2)
    return data.replace(b"##", b"#\\u0023") + b"\n"


def violation_map(violation: Violation) -> dict[str, Any]:
    """The fields that a violation has; `value` may be null if it has one."""
    fields = _ordered(violation, _VIOLATION, leave_out=("has_value",))
    return {
        name: value for name, value in fields.items() if (violation.has_value if name == "value" else value is not None)
    }


def _ordered(struct: Struct, first: tuple[str, ...], leave_out: tuple[str, ...] = ()) -> dict[str, Any]:
    """A struct's fields: the named ones first, then the others as they are declared."""
    fields = asdict(struct)
    rest = (name for name in fields if name not in first and name not in leave_out)
    return {name: fields[name] for name in (*first, *rest)}


def _gate(line: GateLine) -> dict[str, Any]:
    fields = _ordered(line, _GATE)
    return {name: value for name, value in fields.items() if name in _GATE or value is not None}


def _test(test: TestReport) -> dict[str, Any]:
    fields = _ordered(test, _TEST)
    fields["rules"] = [_rule(rule) for rule in test.rules]
    fields["violations"] = [violation_map(violation) for violation in test.violations]
    fields["duration_ms"] = round(test.duration_ms, 3)
    return fields


def _rule(rule: RuleReport) -> dict[str, Any]:
    return _ordered(rule, _RULE)


def _scenario(scenario: ScenarioReport) -> dict[str, Any]:
    fields = _ordered(scenario, _SCENARIO, leave_out=("secrets",))
    fields["layers"] = {name: _layer(layer) for name, layer in scenario.layers.items()}
    fields["behaviors"] = {
        **asdict(scenario.behaviors),
        "checks": [_check(check) for check in scenario.behaviors.checks],
    }
    fields["reasons"] = scenario.behaviors.reasons
    fields["attempts"] = [_attempt(attempt) for attempt in scenario.attempts]
    return {
        name: value for name, value in fields.items() if name in (*_SCENARIO, "file", "line") or value not in (None, [])
    }


def _layer(layer: LayerReport) -> dict[str, Any]:
    measures = {"measures": layer.measures} if layer.measures else {}
    return {"status": layer.status, "checks": [_check(check) for check in layer.checks], **measures}


def _check(check: CheckReport) -> dict[str, Any]:
    return {**_ordered(check, _CHECK), "violations": [violation_map(violation) for violation in check.violations]}


def _metric(metric: Metric) -> dict[str, Any]:
    fields = asdict(metric)
    return {name: value for name, value in fields.items() if name in _METRIC or value is not None}


def _attempt(attempt: Attempt) -> dict[str, Any]:
    fields = asdict(attempt)
    if attempt.message is None:
        del fields["message"]
    return fields


def _plain(value: Any) -> Any:
    """The value in what JSON can say: no infinities, no lone surrogates, text for everything foreign."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        # msgspec writes 64-bit numbers only.
        return value if abs(value) < 2**63 else msgspec.Raw(str(value).encode())
    if isinstance(value, float):
        return value if math.isfinite(value) else _text(str(value).replace("inf", "Infinity").replace("nan", "NaN"))
    if isinstance(value, Mapping):
        return {_text(str(key)): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, Struct):
        return {_text(name): _plain(inner) for name, inner in asdict(value).items() if inner is not None}
    return _text(str(value))


def _text(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()
