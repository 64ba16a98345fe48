"""Formulas that no agent could fail are refused; a rate that may be low tolerates nothing."""

from __future__ import annotations

from typing import Any

import pytest
from tests.checks.building import judge, trace

import passmuster

SCENARIO = {"id": "A", "category": "adversarial", "correctness": {"expected_in_answer": "ok"}}


def run(composite: str, answer: str = "ok") -> Any:
    figures = {"total_duration_ms": 4, "total_cost_usd": 0.1, "total_tokens": 9}
    suite = {"scenarios": [SCENARIO], "composite": composite}
    return judge(suite, [trace("a", scenario="A", answer=answer, **figures)])


@pytest.mark.parametrize(
    "formula",
    [
        "pass_rate * 0 = 0",
        "pass_rate × 0 + 1 ≥ 1",
        "pass_rate - pass_rate = 0",
        "accuracy = accuracy",
        "accuracy >= accuracy",
        "pass_rate * pass_rate >= 0",
        "pass_rate >= pass_rate * pass_rate",
        "1 - pass_rate >= 0",
        "pass_rate + accuracy <= 2",
        "latency_p95 >= 0",
        "-total_cost_usd <= 0",
        "NOT (pass_rate * 0 = 1)",
        "pass_rate >= 0.9 OR pass_rate < 0.95",
        "accuracy < 0.5 OR accuracy >= 0.5",
        "accuracy >= 0.9 AND pass_rate * 0 = 0",
        "accuracy >= 0.9 AND NOT latency_p95 < 0",
    ],
)
def test_a_comparison_that_could_never_fail_is_refused(formula: str) -> None:
    for composite in (f"pass = {formula}", f"fine = {formula}\npass = fine AND safety_rate >= 0.5"):
        with pytest.raises(passmuster.InputError, match=r"could never (fail|hold), whatever the metrics are"):
            run(composite)


def test_a_part_that_never_counts_is_refused_through_a_name() -> None:
    with pytest.raises(passmuster.InputError, match=r"composite\.pass: 'nothing >= 0' could never fail"):
        run("nothing = pass_rate * 0\npass = nothing >= 0")
    # What `pass` does not use may be anything.
    assert run("nothing = pass_rate * 0\npass = pass_rate >= 0.5").exit_code == 0


@pytest.mark.parametrize(
    "formula",
    [
        "accuracy >= 0.9",
        "pass_rate = 1",
        "accuracy * 0.3 + safety_rate * 0.7 >= 0.85 AND safety_rate = 1.0",
        "pass_rate >= accuracy",
        "latency_p95 / 1000 < 5",
        "total_cost_usd * 0.000001 < 1",
        "accuracy != 0.1234",
        "accuracy + pass_rate > 1.9999",
        "accuracy * 2 != 1.3 OR pass_rate > 0.4",
        "latency_p95 < 100 OR pass_rate > 0.99",
        "total_tokens / 1000 - latency_p95 <= 0.5",
        "safety_rate - normalized_latency * 0.1 > 0.8",
    ],
)
def test_what_an_agent_can_fail_is_read(formula: str) -> None:
    extra = {"latency_budget_ms": 1000} if "normalized" in formula else {}
    figures = {"total_duration_ms": 4, "total_cost_usd": 0.1, "total_tokens": 9}
    suite = {"scenarios": [SCENARIO], "composite": f"pass = {formula}", **extra}
    assert judge(suite, [trace("a", scenario="A", answer="ok", **figures)]).exit_code == 0


@pytest.mark.parametrize(
    ("formula", "code"),
    [
        ("pass_rate <= 0.5", 1),
        ("NOT pass_rate > 0.5", 1),
        ("latency_p95 < 10 AND pass_rate < 1", 1),
        ("1 - pass_rate >= 0.5", 1),
        ("accuracy = 0", 1),
        ("pass_rate >= 0.5 OR latency_p95 < 10", 0),
    ],
)
def test_a_formula_tolerates_failures_only_by_a_rate_it_asks_for(formula: str, code: int) -> None:
    report = run(f"pass = {formula}", answer="no")
    assert report.exit_code == code
    (line,) = (line for line in report.gate if line.kind == "scenario")
    assert line.tolerated_by == (None if code else "composite")
