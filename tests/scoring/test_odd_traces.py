"""Traces that state nonsense, and thousands of them: figures beyond any number, names that are not unique."""

from __future__ import annotations

import json
from time import process_time
from typing import Any

import pytest
from tests.checks.building import judge

import passmuster
from passmuster.reports.formats import json as json_report
from passmuster.reports.formats import junit, sarif

Stated = dict[str, Any]
OK: Stated = {"correctness": {"expected_in_answer": "ok"}}
SUMS = ("total_cost_usd", "total_tokens", "mean_cost_usd", "token_efficiency")
BOUNDS = {"total_cost_usd": 1, "total_tokens": 9, "mean_cost_usd": 1, "latency_p95": 9, "token_efficiency": 1e-6}
FIGURES: Stated = {"total_cost_usd": 0.5, "total_tokens": 2, "total_duration_ms": 3}


def odd(scenarios: int = 2, runs: int = 2, **figures: Any) -> Any:
    """The report on runs that all state these figures."""
    suite = {"scenarios": [{"id": f"S-{n}", **OK} for n in range(scenarios)], "thresholds": {"blocking": BOUNDS}}
    one = {"answer": "ok", **FIGURES, **figures}
    report = judge(suite, [{"scenario": f"S-{n}", **one} for n in range(scenarios) for _ in range(runs)])
    for write in (json_report.write, junit.write, sarif.write):
        assert b"NaN" not in write(report)
        assert b"Infinity" not in write(report)
    json.loads(json_report.write(report))
    return report


@pytest.mark.parametrize(
    ("figures", "without_value"),
    [
        ({"total_tokens": 2**63 - 1}, set()),
        ({"total_cost_usd": 1e308}, {"total_cost_usd"}),
        ({"total_duration_ms": 1e308}, set()),
        ({"total_cost_usd": 1e-320, "total_duration_ms": 5e-324}, set()),
        ({"total_cost_usd": 0, "total_tokens": 0, "total_duration_ms": 0}, {"token_efficiency"}),
    ],
    ids=lambda value: str(sorted(value)),
)
@pytest.mark.parametrize("number", [(1, 2), (2, 2), (200, 1)], ids=str)
def test_a_sum_beyond_any_number_has_no_value(
    figures: Stated, without_value: set[str], number: tuple[int, int]
) -> None:
    """And so fails what blocks on it, and says why."""
    report = odd(*number, **figures)
    missing = {name for name in SUMS if report.metrics[name].value is None}
    assert missing == without_value
    for name in without_value:
        (found,) = [line for line in report.gate if line.kind == "threshold" and line.id == name]
        assert (found.status, found.actual) == ("fail", None)
        assert "overflows" in found.message or "no tokens were used" in found.message


@pytest.mark.parametrize(
    "written",
    [
        *('"total_duration_ms": -1', '"total_tokens": -1', '"total_cost_usd": -0.01', '"total_tokens": 1.5'),
        '"total_tokens": 9223372036854775808',
        *('"total_duration_ms": NaN', '"total_cost_usd": Infinity', '"total_cost_usd": 1e400', '"total_tokens": true'),
        *('"total_duration_ms": "12"', '"behaviors": [1]', '"behaviors": {"a": "yes"}', '"behaviors": "a"'),
    ],
)
def test_what_is_no_figure_is_refused_at_its_place(written: str) -> None:
    with pytest.raises(passmuster.TraceError, match=r"traces\.jsonl:1: "):
        judge({"scenarios": [{"id": "S", **OK}]}, ['{"scenario": "S", "answer": "ok", ' + written + "}"])


def test_traces_of_the_same_name_are_runs_of_their_own() -> None:
    runs = [{"scenario": "S", "trace_id": "same", "answer": answer} for answer in ("ok", "no", "ok")]
    (scenario,) = judge({"scenarios": [{"id": "S", **OK}]}, runs).scenarios
    assert (scenario.status, scenario.runs) == ("fail", 3)
    assert scenario.pass_rate == pytest.approx(2 / 3)
    assert [(run.trace_id, run.status) for run in scenario.attempts] == [
        *(("same", "pass"), ("same", "fail"), ("same", "pass"))
    ]


@pytest.mark.parametrize(
    ("answer", "told", "status"),
    [
        ("", ["a"], "pass"),
        ("", {"a": True}, "pass"),
        (None, ["a"], "pass"),
        ("", {"a": False}, "fail"),
        ("", [], "fail"),
        ("", ["A"], "fail"),
        ("", ["a", "a"], "pass"),
        ("", {"a": True, "bad": False}, "pass"),
        ("", {"a": True, "bad": True}, "fail"),
        ("", ["a", "bad"], "fail"),
    ],
)
def test_behaviors_told_as_a_list_and_as_a_map(answer: str | None, told: Any, status: str) -> None:
    """A list is complete; of what a map does not name, nobody but a judge could tell."""
    scenario: Stated = {"id": "S", "expected_behaviors": ["a"]}
    if isinstance(told, list) or "bad" in told:
        scenario["must_not"] = ["bad"]
    report = judge({"scenarios": [scenario]}, [{"scenario": "S", "steps": [], "answer": answer, "behaviors": told}])
    assert (report.scenarios[0].status, report.exit_code) == (status, 0 if status == "pass" else 1)


@pytest.mark.parametrize(("told", "exit_code"), [({}, 3), ({"b": True}, 3), (None, 3), ([], 1)])
def test_what_nobody_tells_is_no_pass(told: Any, exit_code: int) -> None:
    suite = {"scenarios": [{"id": "S", "expected_behaviors": ["a"]}]}
    assert judge(suite, [{"scenario": "S", "answer": "", "behaviors": told}]).exit_code == exit_code


def test_an_empty_answer_is_an_answer() -> None:
    behaviors = [{"answer_contains": "x"}, {"answer_matches": "^$"}]
    suite = {"scenarios": [{"id": "S", "expected_behaviors": behaviors, "pass_score": 0.5}]}
    (empty,) = judge(suite, [{"scenario": "S", "answer": ""}]).scenarios
    assert (empty.status, empty.score) == ("pass", 0.5)
    (none,) = judge(suite, [{"scenario": "S", "answer": None, "steps": []}]).scenarios
    assert (none.status, none.score) == ("fail", 0.0)


@pytest.mark.parametrize(
    ("own", "by_category", "rate"),
    [(1e100, 1e100, 2 / 3), (1e100, 1.0, 2 / 3), (1e100, 1e-100, 2 / 3), (5e-324, 1.0, 2 / 3), (0, 1e100, None)],
)
def test_weights_beyond_any_number_still_weigh(own: float, by_category: float, rate: float | None) -> None:
    """Three alike, of which one failed; what weighs nothing gives no rate."""
    scenarios = [{"id": f"S-{n}", **OK, "category": "c", "capability": "x", "weight": own} for n in range(3)]
    weights = {"by_category": {"c": by_category}, "by_capability": {"x": by_category}}
    suite = {"scenarios": scenarios, "weights": weights, "pass_criteria": {"overall": "60%"}}
    report = judge(suite, [{"scenario": f"S-{n}", "answer": "ok" if n else "no"} for n in range(3)])
    weighted = report.metrics["weighted_pass_rate"]
    assert weighted.value == pytest.approx(rate)
    assert weighted.ci95 == (pytest.approx(report.metrics["pass_rate"].ci95) if rate else None)
    assert report.exit_code == (0 if rate else 1)


# ── Many of them ────────────────────────────────────────────────────────────────────────────────────────────


def seconds(suite: Stated, traces: list[Stated]) -> float:
    """Of this process, for others may be busy beside it."""
    started = process_time()
    judge(suite, traces)
    return process_time() - started


def test_five_thousand_runs_of_one_scenario() -> None:
    suite = {"scenarios": [{"id": "S", **OK}], "repeat_policy": 0.6}
    traces = [{"scenario": "S", "answer": "ok" if n % 3 else "no", **FIGURES} for n in range(5_000)]
    started = process_time()
    (scenario,) = judge(suite, traces).scenarios
    assert process_time() - started < 5
    assert (scenario.runs, scenario.status, len(scenario.attempts)) == (5_000, "pass", 1_000)
    assert scenario.pass_rate == pytest.approx(3333 / 5_000)


def many(number: int) -> tuple[Stated, list[Stated]]:
    """A suite that asks of each of so many scenarios whatever there is to ask, and half of them do well."""
    ids = [f"S-{n}" for n in range(number)]
    behaviors = {"expected_behaviors": ["a", {"answer_contains": "o"}], "must_not": ["b"]}
    suite = {
        "scenarios": [
            {"id": id_, **OK, **behaviors, "category": f"c{n % 9}", "weight": n % 7} for n, id_ in enumerate(ids)
        ],
        "required_scenarios": ids[: number // 2],
        "optional_scenarios": ids[number // 2 :],
        "thresholds": {"blocking": {"pass_rate": {"min": 0.4, "confidence": "95%"}, **BOUNDS}},
        "pass_criteria": {"overall": "40%", "by_category": {f"c{n}": "10%" for n in range(9)}},
        "composite": "pass = accuracy > 0.4",
    }
    runs = [
        {"scenario": id_, "answer": "ok" if n % 2 else "no", "behaviors": ["a"], **FIGURES} for n, id_ in enumerate(ids)
    ]
    return suite, runs


def test_two_thousand_scenarios_take_a_second_or_two_and_no_square_of_their_number() -> None:
    seconds(*many(100))
    quarter, whole = (min(seconds(*many(number)) for _ in range(2)) for number in (500, 2_000))
    assert whole < 6
    assert whole < 10 * quarter  # four times as many; were it their square, it would take sixteen times as long
