"""`run_limits`: limits on the calls, tokens, time and cost of every run."""

from __future__ import annotations

from typing import Any

import pytest

import passmuster
from passmuster._problems import SuiteError

Record = dict[str, Any]
SEARCH = {"type": "tool_call", "tool": "search"}


def judged(limits: dict[str, float], *traces: Record) -> passmuster.Report:
    test = {"id": "effort", "metric": "run_limits", **limits}
    return passmuster.evaluate(passmuster.suite_from_dict({"tests": [test]}), traces)


@pytest.mark.parametrize(
    ("key", "trace", "figure"),
    [
        ("max_tool_calls", {"steps": [SEARCH] * 4}, 4),
        ("max_loops", {"steps": [SEARCH] * 4}, 3),
        ("max_llm_calls", {"steps": [], "total_llm_calls": 4}, 4),
        ("max_total_tokens", {"steps": [], "total_tokens": 900}, 900),
        ("max_latency_ms", {"steps": [], "total_duration_ms": 800}, 800),
        ("max_cost_usd", {"answer": "Hello.", "total_cost_usd": 0.5}, 0.5),
    ],
)
def test_a_limit_holds_up_to_its_value(key: str, trace: Record, figure: float) -> None:
    assert judged({key: figure}, trace).verdict == "pass"
    report = judged({key: figure - (0.25 if key == "max_cost_usd" else 1)}, trace)
    (violation,) = report.tests[0].violations
    assert report.verdict == "fail"
    assert violation.constraint is not None
    assert violation.constraint.startswith(f"{key}: ")
    assert violation.policy_line


def test_an_unknown_figure_is_skipped_with_a_warning_and_hides_no_violation() -> None:
    limits = {"max_cost_usd": 0.5, "max_tool_calls": 1}
    unknown = judged(limits, {"steps": []})
    assert (unknown.verdict, unknown.tests[0].status) == ("warn", "skip")
    assert judged(limits, {"steps": [SEARCH] * 2}).verdict == "fail"
    assert judged(limits, {"answer": "Hello.", "total_cost_usd": 0.1}).verdict == "warn"  # its calls are not recorded
    assert judged(limits, {"answer": "Hello.", "total_cost_usd": 0.6}).verdict == "fail"


def test_a_test_without_a_limit_is_a_mistake() -> None:
    with pytest.raises(SuiteError, match="needs a limit: max_tool_calls"):
        judged({}, {"steps": []})
