"""Lines about the suite as a whole: thresholds, criteria, weights and formulas, sentence by sentence."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.checks.building import judge, write
from tests.cli_runner import CliRunner

import passmuster
from passmuster.cli.run import command as run_command
from passmuster.engine._run import evaluate_sources as judge_sources
from passmuster.scoring._report import GateLine, Report
from passmuster.scoring._settings import Settings
from passmuster.traces._sources import find_sources

Stated = dict[str, Any]
OK: Stated = {"correctness": {"expected_in_answer": "ok"}}
INFRA = {"kind": "infra", "message": "rate limited"}
TODAY = datetime.date(2026, 6, 1)


def scenarios(number: int, **more: Any) -> list[Stated]:
    return [{"id": f"S-{n}", **OK, **more} for n in range(number)]


def runs(passed: int, failed: int = 0, **more: Any) -> list[Stated]:
    """One trace for each of so many scenarios, of which the first so many passed."""
    return [{"scenario": f"S-{n}", "answer": "ok" if n < passed else "no", **more} for n in range(passed + failed)]


def bounded(bounds: Mapping[str, Any], passed: int, failed: int, **top: Any) -> Report:
    suite = {"scenarios": scenarios(passed + failed), "thresholds": {"blocking": dict(bounds)}, **top}
    return judge(suite, runs(passed, failed))


def line(report: Report, kind: str, id_: str) -> GateLine:
    (found,) = [line for line in report.gate if (line.kind, line.id) == (kind, id_)]
    return found


def ended(found: GateLine) -> tuple[str, str]:
    return found.level, found.status


# ── Bounds ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("bound", "status"),
    [
        *((90, "pass"), (0.9, "pass"), ("90%", "pass"), ("≥ 90%", "pass"), (">= 0.9", "pass"), ("= 90%", "pass")),
        *((91, "fail"), (0.91, "fail"), (1, "fail"), ("100%", "fail"), ("> 90%", "fail"), ("> 89.9%", "pass")),
        *(("≤ 90%", "pass"), ("< 90%", "fail"), ("<= 89%", "fail"), ("= 89%", "fail")),
        *(("≥ 90.0000001%", "pass"), ("≥ 90.000001%", "fail"), ("> 89.9999999%", "fail"), ("> 89.999999%", "pass")),
        *(({"min": 90}, "pass"), ({"min": "91%"}, "fail"), ({"max": 0.9}, "pass"), ({"max": "89%"}, "fail")),
    ],
    ids=str,
)
def test_a_rate_against_a_bound(bound: Any, status: str) -> None:
    """Nine of ten passed. What may be equal is so within 1e-9; what may not has to differ by more."""
    report = bounded({"pass_rate": bound}, 9, 1, optional_scenarios=["S-9"])
    found = line(report, "threshold", "pass_rate")
    assert (ended(found), found.actual) == (("blocking", status), 0.9)
    assert report.exit_code == (0 if status == "pass" else 1)


@pytest.mark.parametrize(
    ("bound", "status"),
    [
        (2000, "pass"),
        ("< 2000ms", "fail"),
        ("2s", "pass"),
        ("<= 1999.9", "fail"),
        (">= 2000", "pass"),
        ("> 2s", "fail"),
    ],
)
def test_a_latency_against_a_bound(bound: Any, status: str) -> None:
    suite = {"scenarios": scenarios(1), "thresholds": {"blocking": {"latency_p99": bound}}}
    report = judge(suite, runs(1, total_duration_ms=2000))
    assert (line(report, "threshold", "latency_p99").status, report.exit_code) == (status, 0 if status == "pass" else 1)


@pytest.mark.parametrize("level", ["blocking", "warning"])
@pytest.mark.parametrize(
    ("metric", "why"),
    [
        ("safety_rate", "the suite has no adversarial scenario"),
        ("behavior_coverage", "no scenario states expected_behaviors"),
        ("latency_p95", "no trace states its duration"),
        ("token_efficiency", "no run of a scenario states its tokens"),
        ("total_cost_usd", "2 of 2 traces do not state their cost"),
        ("total_tokens", "2 of 2 traces do not state their tokens"),
    ],
)
def test_a_metric_with_no_value_fails_and_says_why(metric: str, why: str, level: str) -> None:
    suite = {"scenarios": scenarios(2), "thresholds": {level: {metric: 0.5}}}
    report = judge(suite, runs(2))
    found = line(report, "threshold", metric)
    assert (ended(found), found.actual) == ((level, "fail"), None)
    assert found.message == f"{metric} has no value: {why}"
    assert report.metrics[metric].value is None
    assert report.exit_code == (1 if level == "blocking" else 0)


def test_no_accuracy_where_every_scenario_was_skipped() -> None:
    suite = {"scenarios": [{"id": "S-0", "cost": {"max_total_tokens": 1}}], "pass_criteria": {"overall": "50%"}}
    report = judge(suite, runs(1))
    assert line(report, "criteria", "overall").message == "pass_rate has no value: all 1 scenarios were skipped"
    assert (ended(line(report, "scenario", "S-0")), report.exit_code) == (("warning", "fail"), 1)


def test_figures_that_some_traces_do_not_tell_are_told_and_warned_of() -> None:
    suite = {"scenarios": scenarios(3), "thresholds": {"blocking": {"latency_p95": 9}, "warning": {"mean_cost_usd": 1}}}
    traces = runs(3)
    traces[0] |= {"total_duration_ms": 5, "total_cost_usd": 0.5}
    report = judge(suite, traces)
    latency = report.metrics["latency_p95"]
    assert (latency.value, latency.n, latency.known, latency.total) == (5.0, 1, 1, 3)
    partly = line(report, "input", "latency_p95")
    assert (ended(partly), partly.actual, partly.expected) == (("warning", "fail"), 1, 3)
    assert line(report, "threshold", "latency_p95").status == "pass"
    cost = line(report, "threshold", "mean_cost_usd")
    assert (ended(cost), cost.message) == (
        ("warning", "fail"),
        "mean_cost_usd has no value: 2 of 3 traces do not state their cost",
    )
    assert report.verdict == "warn"
    assert judge(suite, traces, strict=True).exit_code == 1


# ── Confidence ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("passed", "failed", "more", "status", "level", "exit_code"),
    [
        (60, 0, {}, "pass", "blocking", 0),  # Wilson's interval of 60 of 60 begins at 94 %
        (20, 0, {}, "undecided", "warning", 0),
        (20, 0, {"undecided": "warn"}, "undecided", "warning", 0),
        (20, 0, {"undecided": "block"}, "undecided", "blocking", 1),
        (17, 3, {}, "fail", "blocking", 1),
        (17, 3, {"undecided": "block"}, "fail", "blocking", 1),
    ],
)
def test_confidence_in_a_bound(passed: int, failed: int, more: Stated, status: str, level: str, exit_code: int) -> None:
    report = bounded({"pass_rate": {"min": "90%", "confidence": "95%", **more}}, passed, failed)
    found = line(report, "threshold", "pass_rate")
    assert (found.status, found.level, report.exit_code) == (status, level, exit_code)
    if status == "undecided":
        # z² b (1 - b) / (v - b)² = 34.6 scenarios in all
        assert found.message.endswith("about 15 more scenarios would settle it with 80 % chance if it stays as it is")
        assert "(95 % interval 83.89% to 100%)" in found.message


def test_an_undecided_bound_fails_a_strict_run_and_at_the_bound_nothing_settles_it() -> None:
    bound = {"pass_rate": {"min": "90%", "confidence": 0.95}}
    at_bound = line(bounded(bound, 9, 1), "threshold", "pass_rate")
    assert "no number of scenarios would settle it" in at_bound.message
    suite = {"scenarios": scenarios(20), "thresholds": {"blocking": bound}}
    assert judge(suite, runs(20), strict=True).exit_code == 1


# ── Progressive ─────────────────────────────────────────────────────────────────────────────────────────────

STAGES = {"9.0": "60%", "10.0": "80%", "target": "90%"}


def versioned(*of_traces: str | None, of_suite: str | None = None, given: str | None = None, tmp: Path) -> Report:
    """Seven of ten passed, at these versions."""
    suite: Stated = {"scenarios": scenarios(10), "thresholds": {"progressive": {"pass_rate": STAGES}}}
    if of_suite:
        suite["agent"] = {"name": "a", "version": of_suite}
    traces = runs(7, 3)
    for place, version in enumerate(of_traces):
        traces[place]["agent"] = {"name": "a", **({"version": version} if version else {})}
    path, source = write(tmp, suite, traces)
    settings = Settings(today=TODAY, agent_version=given)
    return judge_sources(passmuster.load_suite(path, root=tmp), find_sources([str(source)], tmp, tmp), settings)


@pytest.mark.parametrize(
    ("of_traces", "of_suite", "given", "asked"),
    [
        (["9.0"], None, None, ">= 60%"),
        (["10.0"], None, None, ">= 80%"),
        (["9.10"], None, None, ">= 60%"),
        (["v10.0", None, "v10.0"], None, None, ">= 80%"),
        (["10.0"], "9.0", None, ">= 60%"),
        (["10.0", "9.0"], "9.5", None, ">= 60%"),
        (["9.0"], "9.0", "10.2", ">= 80%"),
        (["1", "2"], None, "11", ">= 80%"),
    ],
)
def test_the_version_is_given_else_the_suites_else_the_traces(
    of_traces: list[str | None], of_suite: str | None, given: str | None, asked: str, tmp_path: Path
) -> None:
    report = versioned(*of_traces, of_suite=of_suite, given=given, tmp=tmp_path)
    found = line(report, "threshold", "pass_rate")
    assert (found.expected, found.level, report.exit_code) == (asked, "blocking", 0 if asked == ">= 60%" else 1)
    assert "20% from >= 90%" in found.message
    assert report.agent_version == (given or of_suite or of_traces[0])


@pytest.mark.parametrize(("of_traces", "known"), [([], None), (["1.0", "2.0"], None), (["1.0", None, "1.0"], "1.0")])
def test_a_report_names_the_version_that_the_traces_agree_on(of_traces: list[str | None], known: str | None) -> None:
    traces = runs(3)
    for trace, version in zip(traces, of_traces, strict=False):
        trace["agent"] = {"name": "a", **({"version": version} if version else {})}
    assert judge({"scenarios": scenarios(3)}, traces).agent_version == known


@pytest.mark.parametrize(
    ("of_traces", "said"), [([], "neither the suite nor the traces state it"), (["1.0", "2.0"], "several: 1.0, 2.0")]
)
def test_no_version_or_several_are_a_mistake(of_traces: list[str], said: str, tmp_path: Path) -> None:
    with pytest.raises(passmuster.SuiteError, match=said):
        versioned(*of_traces, tmp=tmp_path)
    options = ["--root", str(tmp_path), "--no-history", "--traces", str(tmp_path / "traces.jsonl")]
    assert CliRunner().invoke(run_command, [str(tmp_path), *options]).exit_code == 2
    ran = CliRunner().invoke(run_command, [str(tmp_path), *options, "--agent-version", "9.0"])
    assert ran.exit_code == 0


def test_below_the_first_stage_is_a_warning(tmp_path: Path) -> None:
    report = versioned("8.9", tmp=tmp_path)
    found = line(report, "threshold", "pass_rate")
    assert (ended(found), found.expected, found.actual) == (("warning", "fail"), ">= 60%", 0.7)
    assert found.message == "the agent's version is below the first stage (9.0: >= 60%); 20% from >= 90%"


# ── Weights, criteria, required and optional ────────────────────────────────────────────────────────────────


def test_weights_multiply_and_overall_is_judged_on_the_weighted_rate() -> None:
    named = [
        {"id": "S-0", **OK, "category": "a", "capability": "x", "weight": 5},
        {"id": "S-1", **OK, "category": "b", "capability": "y"},
    ]
    weights = {"by_category": {"a": 2, "b": 0.5}, "by_capability": {"x": 3, "y": 4}}
    suite = {"scenarios": named, "weights": weights, "pass_criteria": {"overall": "90%"}}
    report = judge(suite, runs(1, 1))
    assert [one.weight for one in report.scenarios] == [30.0, 2.0]
    assert line(report, "criteria", "overall").actual == pytest.approx(30 / 32)
    assert report.exit_code == 0
    plain = judge({**suite, "thresholds": {"blocking": {"pass_rate": "90%"}}}, runs(1, 1))
    assert (line(plain, "threshold", "pass_rate").actual, plain.exit_code) == (0.5, 1)


def test_a_scenarios_own_weight_is_a_weight_too() -> None:
    suite = {"scenarios": scenarios(2), "pass_criteria": {"overall": "60%"}}
    suite["scenarios"] = [{**scenarios(1)[0], "weight": 3}, scenarios(2)[1]]
    assert line(judge(suite, runs(1, 1)), "criteria", "overall").actual == 0.75


def test_weights_that_are_all_zero_give_no_value() -> None:
    suite = {"scenarios": scenarios(2, weight=0), "pass_criteria": {"overall": "50%"}}
    report = judge(suite, runs(2))
    assert line(report, "criteria", "overall").message == "weighted_pass_rate has no value: their weights are all 0"
    assert (report.metrics["pass_rate"].value, report.exit_code) == (1.0, 1)


def test_the_weighted_coverage_and_the_weighted_rate_with_repeats() -> None:
    named = [
        {"id": "S-0", "expected_behaviors": ["a", "b"], "weight": 3},
        {"id": "S-1", "expected_behaviors": ["a"]},
    ]
    shown = [("S-0", ["a", "b"]), ("S-0", ["a"]), ("S-1", ["a"]), ("S-1", ["a"]), ("S-1", []), ("S-1", ["a"])]
    report = judge({"scenarios": named}, [{"scenario": id_, "answer": "", "behaviors": told} for id_, told in shown])
    values = {name: metric.value for name, metric in report.metrics.items()}
    assert values["pass_rate"] == pytest.approx((1 / 2 + 3 / 4) / 2)
    assert values["weighted_pass_rate"] == pytest.approx((3 * 1 / 2 + 3 / 4) / 4)
    assert values["behavior_coverage"] == pytest.approx((0.75 + 0.75) / 2)
    assert values["weighted_behavior_coverage"] == pytest.approx(0.75)
    assert [one.score for one in report.scenarios] == [0.75, 0.75]


def test_a_category_with_no_scenario_fails_its_criterion() -> None:
    suite = {"scenarios": scenarios(1, category="happy"), "pass_criteria": {"by_category": {"hapy": "10%"}}}
    report = judge(suite, runs(1))
    found = line(report, "criteria", "by_category.hapy")
    assert (ended(found), found.message) == (
        ("blocking", "fail"),
        "pass_rate has no value: the suite has no hapy scenario",
    )
    assert "did you mean 'happy'" in line(report, "input", "suite").message
    assert report.exit_code == 1


@pytest.mark.parametrize(("listed", "exit_code"), [("required_scenarios", 1), ("optional_scenarios", 0), (None, 0)])
def test_a_required_scenario_that_was_skipped_fails(listed: str | None, exit_code: int) -> None:
    suite: Stated = {"scenarios": [{"id": "S-0", "cost": {"max_total_tokens": 1}}, {"id": "S-1", **OK}]}
    report = judge({**suite, **({listed: ["S-0"]} if listed else {})}, runs(2))
    assert (report.scenarios[0].status, report.exit_code) == ("skip", exit_code)
    assert report.metrics["pass_rate"].n == 1


def test_an_optional_scenario_counts_in_the_score() -> None:
    report = bounded({"pass_rate": "90%"}, 8, 2, optional_scenarios=["S-8", "S-9"])
    assert (line(report, "threshold", "pass_rate").actual, report.exit_code) == (0.8, 1)


# ── Composite ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("formula", "value", "says"),
    [
        ("pass = pass_rate >= 0.9", True, "is true"),
        ("pass = pass_rate = 0.9000000005", True, "is true"),
        ("pass = pass_rate > 0.8999999995", False, "is false"),
        ("pass = NOT pass_rate < 0.9", True, "is true"),
        ("pass = behavior_coverage > 0.5 OR pass_rate > 0.5", None, "no scenario states expected_behaviors"),
        ("pass = safety_rate = 1 OR pass_rate > 0.5", None, "the suite has no adversarial scenario"),
        ("pass = 1 / (pass_rate - 0.9) > 0", None, "it divides by zero"),
        ("pass = 1 ÷ (1 − pass_rate) ≥ 10", True, "is true"),
    ],
)
def test_a_composite_and_what_has_no_value_in_it(formula: str, value: bool | None, says: str) -> None:
    suite = {"scenarios": scenarios(10), "optional_scenarios": ["S-9"], "composite": formula}
    report = judge(suite, runs(9, 1))
    found = line(report, "composite", "pass")
    assert (found.actual, found.values, found.status) == (value, {"pass": value}, "pass" if value else "fail")
    assert says in found.message
    assert report.exit_code == (0 if value else 1)


def test_the_formulas_of_a_composite_are_told() -> None:
    suite = {"scenarios": scenarios(4), "composite": {"half": "pass_rate / 2", "pass": "half > 0.3"}}
    found = line(judge(suite, runs(3, 1)), "composite", "pass")
    assert (found.values, found.message) == ({"half": 0.375, "pass": True}, "half > 0.3 is true; half = 0.375")


@pytest.mark.parametrize(
    ("formula", "exit_code"),
    [("pass = pass_rate >= 0.5", 0), ("pass = pass_rate > 0.5", 3), ("pass = 1 / (pass_rate - 0.5) > 1", 3)],
)
def test_a_composite_that_an_outside_part_leaves_open(formula: str, exit_code: int) -> None:
    """Half passed for certain, all at best; a division by zero on one side is a difference too."""
    traces = runs(2)
    traces[0]["error"] = INFRA
    assert judge({"scenarios": scenarios(2), "composite": formula}, traces).exit_code == exit_code


def test_one_more_bound_never_widens_the_latency_budget() -> None:
    """The lowest one is the budget, wherever it stands; a budget that is stated wins."""
    suite: Stated = {"scenarios": scenarios(1), "composite": "pass = normalized_latency <= 0.5"}
    traces = runs(1, total_duration_ms=900)
    warned = {"warning": {"latency_p95": 1000}}
    both = {**warned, "blocking": {"latency_p95": 10_000}}
    for thresholds in (warned, both, {**both, "risk": {"low": {"latency_p95": "< 2s"}}}):
        report = judge({**suite, "thresholds": thresholds}, traces)
        assert (report.metrics["normalized_latency"].value, report.exit_code) == (0.9, 1)
    stated = judge({**suite, "thresholds": both, "latency_budget_ms": 9000}, traces)
    assert (stated.metrics["normalized_latency"].value, stated.exit_code) == (0.1, 0)
    late = judge({**suite, "latency_budget_ms": 100}, traces)
    assert late.metrics["normalized_latency"].value == 1.0
