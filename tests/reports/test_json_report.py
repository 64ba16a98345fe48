"""The JSON report keeps its keys in their order and can be read by anyone."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.reports.report_factory import line, report, rich_report, rule, scenario, test_report, too_much, violation

from passmuster.reports.formats import json as json_report
from passmuster.scoring._report import Attempt, Metric


def strictly(data: bytes) -> dict[str, Any]:
    def refuse(text: str) -> None:
        raise AssertionError(f"{text} is not JSON")

    read = json.loads(data.decode("utf-8"), parse_constant=refuse)
    assert isinstance(read, dict)
    return read


def test_keys_stand_in_their_order() -> None:
    read = strictly(json_report.write(rich_report()))
    assert list(read)[:11] == [
        *("schema", "suite", "verdict", "exit_code", "partial", "metrics", "gate"),
        *("tests", "scenarios", "traces", "provenance"),
    ]
    assert {"suite_file", "agent_version", "duration_ms"} <= set(read)
    assert "root" not in read
    assert list(read["gate"][0]) == [
        *("kind", "id", "level", "status", "actual", "expected", "message", "tolerated_by", "file", "line"),
    ]
    assert list(read["tests"][0]) == [
        *("id", "metric", "status", "exercised", "rules", "violations", "violation_count", "stats", "duration_ms"),
        *(
            "severity",
            "file",
            "line",
            "traces",
            "failed_traces",
            "waived_count",
            "error",
            "skipped_traces",
            "skip_reason",
        ),
    ]
    assert list(read["tests"][1]["rules"][0]) == ["type", "line", "status", "exercised_on", "violated_on"]
    assert list(read["scenarios"][0])[:9] == [
        *("id", "category", "status", "score", "weight", "runs", "layers", "behaviors", "attempts"),
    ]
    assert list(read["scenarios"][0]["behaviors"]) == ["observed", "missing", "violated", "undecided", "checks"]


def test_a_violation_has_what_applies_and_no_more() -> None:
    read = strictly(json_report.write(report(test_report(too_much(), violation(message="odd")))))
    first, second = read["tests"][0]["violations"]
    assert list(first) == [
        *("tool", "argument", "value", "constraint", "call_index", "level", "policy_file", "policy_line"),
        *("trace_id", "trace_file", "trace_line", "message", "suggestion", "neighbours"),
    ]
    assert first["neighbours"] == {"calls": 5, "before": "get_customer", "after": "send_email"}
    assert second == {"level": "block", "message": "odd"}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, {}),
        ({"value": None, "has_value": True}, {"value": None}),
        ({"value": 0, "has_value": True}, {"value": 0}),
        ({"value": 5, "has_value": False}, {}),
        ({"value": 10**30, "has_value": True}, {"value": 10**30}),
        ({"value": math.inf, "has_value": True}, {"value": "Infinity"}),
        ({"value": {"a": [math.nan, -math.inf]}, "has_value": True}, {"value": {"a": ["NaN", "-Infinity"]}}),
    ],
)
def test_a_value_is_written_if_there_is_one(fields: dict[str, Any], expected: dict[str, Any]) -> None:
    read = strictly(json_report.write(report(test_report(violation(**fields)))))
    assert read["tests"][0]["violations"][0] == {**expected, "level": "block", "message": violation().message}


def test_gate_lines_always_say_what_was_asked_and_found() -> None:
    read = strictly(json_report.write(report(gate=[line("scenario", "S-1")])))
    assert read["gate"][0] == {
        "kind": "scenario",
        "id": "S-1",
        "level": "blocking",
        "status": "fail",
        "actual": None,
        "expected": None,
        "message": "S-1 fail",
        "tolerated_by": None,
        "file": None,
        "line": None,
    }


def test_metrics_attempts_and_rules() -> None:
    made = report(
        test_report(rules=[rule()]),
        metrics={"accuracy": Metric(None, 0), "pass_rate": Metric(0.5, 4, (0.1, 0.9))},
        scenarios=[scenario(attempts=[Attempt("t-1", "fail", 0.0), Attempt("t-2", "error", None, "broke")])],
    )
    read = strictly(json_report.write(made))
    assert read["metrics"] == {
        "accuracy": {"value": None, "n": 0, "ci95": None},
        "pass_rate": {"value": 0.5, "n": 4, "ci95": [0.1, 0.9]},
    }
    assert read["scenarios"][0]["attempts"] == [
        {"trace_id": "t-1", "status": "fail", "score": 0.0},
        {"trace_id": "t-2", "status": "error", "score": None, "message": "broke"},
    ]
    assert read["tests"][0]["rules"] == [
        {"type": "before", "line": 9, "status": "pass", "exercised_on": 3, "violated_on": 0}
    ]


def test_it_is_indented_and_ends_with_a_newline() -> None:
    data = json_report.write(rich_report())
    assert data.startswith(b'{\n  "schema": "passmuster.report/1",\n  "suite": "customer-service",\n')
    assert data.endswith(b"}\n")


def test_a_log_that_shows_it_obeys_nothing() -> None:
    data = json_report.write(report(test_report(violation(message="##[error]a ##vso[task] \\##"))))
    assert b"##" not in data
    assert strictly(data)["tests"][0]["violations"][0]["message"] == "##[error]a ##vso[task] \\##"


@settings(deadline=None)
@given(st.text())
def test_any_text_survives(text: str) -> None:
    made = report(test_report(violation(message=text, value={text: text}, has_value=True), stats={text: 1}))
    read = strictly(json_report.write(made))["tests"][0]
    assert read["violations"][0]["message"] == text
    assert read["violations"][0]["value"] == {text: text}
    assert read["stats"] == {text: 1}


def test_lone_surrogates_are_shown() -> None:
    read = strictly(json_report.write(replace(rich_report(), suite="\ud800")))
    assert read["suite"] == "\\ud800"
