"""A pattern that runs out of time costs a run a second or two, not a second per trace."""

from __future__ import annotations

import time
from typing import Any

import pytest
from tests.checks.building import call, judge, trace

SLOW = r"(a|aa)+$"
TEXT = "a" * 60 + "!"


@pytest.mark.parametrize(
    "scenario",
    [
        {"correctness": {"regex_match": SLOW}},
        {"correctness": {"label": "spam"}},
        {"expected_behaviors": [{"answer_matches": [SLOW]}]},
        {"must_not": [{"answer_matches": [SLOW]}]},
        {"path": {"expected_calls": [{"tool": "pay", "args": {"note": {"$regex": SLOW}}}]}},
        {"must_not": [{"tool_called": {"tool": "pay", "args": {"note": {"$regex": SLOW}}}}]},
    ],
)
def test_it_is_not_tried_again_in_a_scenario(scenario: dict[str, Any]) -> None:
    suite: dict[str, Any] = {"layers": {"path": "block"}, "scenarios": [{"id": "A", **scenario}]}
    if "label" in str(scenario):
        suite["classification"] = {"positive": "spam", "from": {"regex": SLOW}}
    traces = [trace([call("pay", {"note": TEXT})], scenario="A", answer=TEXT) for _ in range(12)]
    started = time.perf_counter()
    report = judge(suite, traces)
    assert time.perf_counter() - started < 8
    assert report.exit_code == 1
    assert "took longer than a second" in repr(report.scenarios)


@pytest.mark.parametrize(
    "suite",
    [
        {
            "tests": [
                {
                    "id": "t",
                    "metric": "sequence_valid",
                    "rules": [{"type": "count", "tool": {"tool": "pay", "args": {"note": {"$regex": SLOW}}}, "max": 1}],
                }
            ]
        },
        {
            "failed_when": [{"tool": "pay", "result": {"$regex": SLOW}}],
            "tests": [{"id": "t", "metric": "sequence_valid", "rules": [{"type": "require", "tool": "pay"}]}],
        },
    ],
)
def test_it_is_not_tried_again_in_a_test(suite: dict[str, Any]) -> None:
    traces = [trace([call("pay", {"note": TEXT}, result=TEXT)]) for _ in range(12)]
    started = time.perf_counter()
    report = judge(suite, traces)
    assert time.perf_counter() - started < 8
    assert (report.exit_code, report.tests[0].status) == (1, "error")
    assert "took longer than a second" in (report.tests[0].error or "")


def test_a_pattern_of_a_policy_is_not_tried_again() -> None:
    slow = {"type": "string", "pattern": r"^(?:(a|aa)+)\1*$"}
    suite = {"tests": [{"id": "t", "metric": "args_valid", "tool": "pay", "constraints": {"note": slow}}]}
    traces = [trace([call("pay", {"note": TEXT})]) for _ in range(2_000)]
    started = time.perf_counter()
    report = judge(suite, traces)
    assert time.perf_counter() - started < 8
    assert (report.exit_code, report.tests[0].status) == (1, "error")
    assert "too much backtracking" in (report.tests[0].error or "")
