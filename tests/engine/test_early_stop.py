"""Live runs that stop once the verdict is known: the exit code is that of all runs."""

from __future__ import annotations

import datetime
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema_rs
import pytest
from bench.early_stop import EXPECTED, missed, saving, stops
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.checks.building import trace
from tests.scoring.gated_suites import RATES, bound, gated_suites, run

from passmuster._problems import UsageError
from passmuster.agents import FinishedRun, PlannedRun, random_order
from passmuster.api import suite_from_dict
from passmuster.engine import NeededRuns, evaluate_traces, stop_early
from passmuster.engine._run import prepared
from passmuster.reports import render, report_schema
from passmuster.scoring import Report, Settings, compare
from passmuster.suite import Suite
from passmuster.traces import Trace, traces_of

DAY = Settings(today=datetime.date(2026, 6, 1))
Record = dict[str, Any]


def planned(suite: Suite) -> list[PlannedRun]:
    return [PlannedRun(one.id, n, ("",)) for one in suite.scenarios for n in range(1, one.repeat + 1)]


def run_live(
    suite: Suite,
    outcome: Callable[[PlannedRun], Record],
    stop: str | None,
    *,
    given: Settings = DAY,
    seed: int = 0,
    at_once: int = 1,
) -> Report:
    """The report of a live run whose runs come to these outcomes; `at_once` of them are under way together."""
    job, _ = prepared(suite, given, ())
    order = random_order(planned(suite), seed)
    needed = NeededRuns(job, order, stop_early(stop), seed)
    chance = random.Random(seed)
    traces: list[Trace] = []
    under_way: list[PlannedRun] = []
    waiting = iter(order)

    def start() -> Iterator[PlannedRun]:
        for one in waiting:
            if needed.needless(one) is None:
                yield one

    for one in start():
        under_way.append(one)
        if len(under_way) == at_once:
            traces.append(_finish(needed, under_way.pop(chance.randrange(at_once)), outcome))
    while under_way:
        traces.append(_finish(needed, under_way.pop(), outcome))
    return evaluate_traces(suite, traces, replace(given, early_stop=needed.early_stop()))


def _finish(needed: NeededRuns, one: PlannedRun, outcome: Callable[[PlannedRun], Record]) -> Trace:
    (found,) = traces_of([{**outcome(one), "scenario": one.scenario, "run": one.run, "trace_id": one.name}])
    needed.finished(FinishedRun(one, found))
    return found


TESTS: list[list[Record]] = [
    *([], [], []),
    [{"id": "no_c", "metric": "tool_blocklist", "blocklist": ["c"]}],
    [{"id": "no_c", "metric": "tool_blocklist", "blocklist": ["c"], "severity": "warn"}],
    [{"id": "no_c", "metric": "tool_blocklist", "blocklist": ["c"], "scenarios": ["S-1"]}],
]


@st.composite
def cases(draw: st.DrawFn) -> tuple[Suite, dict[str, Record]]:
    written = draw(gated_suites())
    written["tests"] = draw(st.sampled_from(TESTS))
    if draw(st.booleans()):
        written.setdefault("thresholds", {})["risk"] = {"high": {draw(st.sampled_from(RATES)): draw(bound)}}
    for scenario in written["scenarios"]:
        scenario["repeat"] = draw(st.integers(1, 5))
    suite = suite_from_dict({key: value for key, value in written.items() if value != []})
    often = draw(st.sampled_from([run, st.just(draw(run)), st.sampled_from([draw(run), draw(run)])]))
    odd = st.sampled_from([{"answer": "ok"}, {"answer": "no"}])  # calls and figures are unknown, so checks are skipped
    return suite, {one.name: draw(st.one_of(often, often, often, odd)) for one in planned(suite)}


@settings(max_examples=250, deadline=None)
@given(cases(), st.sampled_from([None, "certain"]), st.integers(0, 99), st.integers(1, 3), st.booleans())
def test_what_is_certain_equals_the_verdict_of_all_runs(
    case: tuple[Suite, dict[str, Record]], stop: str | None, seed: int, at_once: int, strict: bool
) -> None:
    suite, outcomes = case
    options = replace(DAY, strict=strict)
    whole = run_live(suite, lambda one: outcomes[one.name], "off", given=options, seed=seed)
    assert whole.early_stop is not None
    assert not whole.early_stop.skipped
    stopped = run_live(suite, lambda one: outcomes[one.name], stop, given=options, seed=seed, at_once=at_once)
    assert stopped.exit_code == whole.exit_code
    assert stopped.early_stop is not None
    assert stopped.traces.read + stopped.early_stop.not_run == stopped.early_stop.planned == whole.traces.read
    if stop is None:
        assert all(one.runs for one in stopped.scenarios)


def suite_of(scenarios: int, repeat: int, **keys: Any) -> Suite:
    asked = {"correctness": {"expected_in_answer": "ok"}}
    listed = [{"id": f"S-{n}", "repeat": repeat, **asked} for n in range(scenarios)]
    return suite_from_dict({"scenarios": listed, **keys})


NINETY = {"thresholds": {"blocking": {"pass_rate": "90%"}}}


def answers(text: str) -> Callable[[PlannedRun], Record]:
    return lambda one: trace("", answer=text, total_cost_usd=0.5, total_duration_ms=2000)


def test_skipped_runs_are_not_run_and_the_report_says_why() -> None:
    report = run_live(suite_of(20, 1, **NINETY), answers("no"), "certain")
    stop = report.early_stop
    assert stop is not None
    assert (report.exit_code, report.verdict, report.partial) == (1, "fail", False)
    assert (stop.rule, stop.planned, stop.not_run) == ("certain", 20, 17)  # the third failure decides
    assert stop.reason is not None
    assert "pass_rate cannot reach >= 90% any more" in stop.reason
    assert (stop.saved_usd, stop.saved_ms) == (8.5, 34000)
    statuses = [one.status for one in report.scenarios]
    assert statuses.count("not_run") == 17
    assert statuses.count("fail") == 3
    assert report.scenario_counts is not None
    assert (report.scenario_counts.not_run, report.scenario_counts.failed) == (17, 3)
    assert report.metrics["pass_rate"].n == 3
    assert not any(line.id in stop.skipped for line in report.gate)
    assert report.incomplete


def test_by_default_every_scenario_runs_once() -> None:
    report = run_live(suite_of(10, 4, **NINETY), answers("no"), None)
    assert report.early_stop is not None
    assert report.early_stop.rule == "repeats"
    assert all(one.runs >= 1 for one in report.scenarios)
    assert report.early_stop.not_run > 20
    assert not any("fewer traces" in line.message for line in report.gate)
    assert not run_live(suite_of(10, 1, **NINETY), answers("no"), None).early_stop.skipped  # type: ignore[union-attr]


def test_a_settled_green_verdict_is_at_best_a_warning() -> None:
    report = run_live(suite_of(50, 5, **NINETY), answers("ok"), "1%")
    stop = report.early_stop
    assert stop is not None
    assert (report.exit_code, report.verdict) == (0, "warn")
    assert stop.not_run > 150
    (settled,) = stop.settled
    assert (settled.id, settled.status, settled.of, settled.chance) == ("pass_rate", "pass", 250, 0.01)
    assert any(line.id == "stop_early" and line.level == "warning" for line in report.gate)


@pytest.mark.parametrize(
    "keys",
    [
        {"required_scenarios": ["S-0"]},
        {"defaults": {"must_not": [{"tool_called": "x"}]}},
        {"defaults": {"path": {"forbidden_tools": ["x"]}}},
    ],
    ids=["required", "must_not", "forbidden_tools"],
)
def test_what_must_not_fail_runs_in_full_where_a_chance_is_accepted(keys: Record) -> None:
    report = run_live(suite_of(20, 5, **NINETY, **keys), answers("no"), "5%")
    protected = report.scenarios if "defaults" in keys else report.scenarios[:1]
    assert all(one.runs == 5 for one in protected)
    assert report.early_stop is not None
    assert bool(report.early_stop.skipped) == (len(protected) == 1)


def test_a_broken_test_ends_the_run_and_a_test_that_may_break_does_not() -> None:
    blocked = [{"id": "no_x", "metric": "tool_blocklist", "blocklist": ["x"]}]
    broken = run_live(suite_of(10, 1, **NINETY, tests=blocked), lambda one: trace("x", answer="ok"), "certain")
    assert (broken.exit_code, broken.traces.read) == (1, 1)
    held = run_live(suite_of(10, 1, **NINETY, tests=blocked), lambda one: trace("y", answer="ok"), "certain")
    assert (held.exit_code, held.traces.read) == (0, 10)


def test_a_line_that_skipped_runs_could_change_is_undecided() -> None:
    keys = {"thresholds": {"blocking": {"pass_rate": "90%", "latency_p95": 1}}}
    report = run_live(suite_of(20, 1, **keys), answers("no"), "certain")
    lines = {line.id: line for line in report.gate if line.kind == "threshold"}
    assert (lines["pass_rate"].status, lines["pass_rate"].level) == ("fail", "blocking")
    assert (lines["latency_p95"].status, lines["latency_p95"].level) == ("undecided", "warning")


def test_runs_count_in_the_order_in_which_they_were_drawn() -> None:
    """Failures that take longer must not make the runs that finished look better than all runs are."""
    suite = suite_of(50, 5, **NINETY)
    job, _ = prepared(suite, DAY, ())
    order = random_order(planned(suite), 7)
    needed = NeededRuns(job, order, stop_early("1%"), 7)
    slow = set(random.Random(3).sample([one.name for one in order], 100))
    for one in order:
        if one.name not in slow:
            _finish(needed, one, answers("ok"))
    assert needed.needless(order[0]) is None


def test_runs_of_one_seed_are_drawn_in_one_order() -> None:
    runs = planned(suite_of(9, 3))
    assert random_order(runs, 5) == random_order(reversed(runs), 5)
    assert random_order(runs, 5) != random_order(runs, 6)
    assert sorted(random_order(runs, 5), key=lambda one: one.name) == sorted(runs, key=lambda one: one.name)


@pytest.mark.parametrize("text", ["", "0", "0%", "60%", "1", "sometimes", "-1%", "nan", "x" * 500])
def test_what_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--stop-early: expected off, repeats, certain, or the chance"):
        stop_early(text)


@pytest.mark.parametrize("rate", [0.7, 0.95])
def test_the_simulation_counts_what_the_rule_does(rate: float) -> None:
    """`bench.early_stop` draws failures without a suite; here the same failures are runs of one."""
    suite = suite_of(50, 5, **NINETY)
    order = random_order(planned(suite), 2)
    chance = random.Random(11)
    fails = {one.name: chance.random() >= rate for one in order}
    certain, settled, _ = stops(list(fails.values()))
    for stop, after in (("certain", certain), ("1%", settled)):
        report = run_live(suite, lambda one: answers("no" if fails[one.name] else "ok")(one), stop, seed=2)
        assert report.traces.read == after


def test_the_simulation_gives_the_expected_figures() -> None:
    for rate in EXPECTED:
        found = saving(rate, 1500)
        assert not list(missed(found)), found


def test_what_only_traces_or_judges_can_tell_stays_open() -> None:
    staged = suite_of(10, 1, thresholds={"progressive": {"pass_rate": {"1.0": "90%"}}})
    versioned = run_live(staged, lambda one: {**answers("no")(one), "agent": {"version": "1.2"}}, "certain")
    judged = suite_of(10, 1, **NINETY, defaults={"correctness": {"llm_judge": {"rule": "It is polite."}}})
    unheard = run_live(judged, answers("ok"), "certain", given=replace(DAY, judge="off"))
    for report in (versioned, unheard):
        assert report.early_stop is not None
        assert not report.early_stop.skipped
    failed = run_live(judged, answers("no"), "certain", given=replace(DAY, judge="off"))
    assert (failed.exit_code, failed.traces.read) == (1, 2)  # a judge is not asked about an answer that is wrong


def test_a_report_says_what_was_skipped() -> None:
    report = run_live(suite_of(20, 1, **NINETY), answers("no"), "certain")
    told = "17 of 20 runs (85%), because the gate fails whatever the remaining runs come to"
    printed = " ".join(render("console", report).decode().split())
    assert told in printed
    assert "that saved about 8.50 USD and about 34 s of the agent's time" in printed
    document = json.loads(render("json", report))
    assert sum(document["early_stop"]["skipped"].values()) == 17
    jsonschema_rs.validator_for(report_schema()).validate(document)
    assert render("junit", report).count(b"not_run") == 17
    same = compare(document, document)
    assert same.after.skipped_runs == 17
    assert b"17 of 20 runs" in render("html", report)
