"""A run next to a recorded one: which drops block, which warn, and what is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest  # type: ignore[import-untyped]
from tests.baseline_runs import (
    BROKEN,
    DAY,
    FAIL,
    PASS,
    compared,
    lines,
    loaded,
    recorded,
    source_of,
    suite_of,
    trace,
    traces_of,
)

import passmuster
from passmuster.api._redact_report import redact_report
from passmuster.api._save_baseline import redact_baseline
from passmuster.engine._execution import ONE_PROCESS, Execution
from passmuster.engine._parts import cut
from passmuster.engine._plan import Job
from passmuster.engine._progress import Progress
from passmuster.engine._run import evaluate_sources, record
from passmuster.engine.executors.inline import execute
from passmuster.redaction._redactor import Redactor
from passmuster.reports._baseline_text import encoded_baseline as write
from passmuster.scoring._baseline import BASELINE_SCHEMA as SCHEMA
from passmuster.scoring._baseline import Baseline, Share
from passmuster.scoring._baseline_pairs import pairs_of
from passmuster.scoring._metrics import metric_named
from passmuster.scoring._report import Report
from passmuster.scoring._settings import Settings
from passmuster.scoring._tally import merge
from passmuster.scoring._verdict import conclude

IDS = [f"S-{number:02}" for number in range(20)]


def run_of(folder: Path, before: dict[str, Any], after: dict[str, Any], **keys: Any) -> Report:
    """A suite of the scenarios of both, recorded with one and compared with the other."""
    suite = suite_of(dict.fromkeys([*before, *after]), **keys)
    return compared(folder, suite, traces_of(after), recorded(folder, suite, traces_of(before)))


def ends(number: int, failed: int) -> dict[str, str]:
    return {id_: FAIL if place < failed else PASS for place, id_ in enumerate(IDS[:number])}


# ── Metrics ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_single_runs_are_mcnemars_exact_test(tmp_path: Path) -> None:
    # Of 20 scenarios, 7 passed before and fail now, 1 the other way: the tail of 7 or more of 8, (8 + 1) / 2⁸.
    before = {id_: FAIL if place == 19 else PASS for place, id_ in enumerate(IDS)}
    after = {id_: FAIL if place < 7 else PASS for place, id_ in enumerate(IDS)}
    line = lines(run_of(tmp_path, before, after))["pass_rate"]
    assert line.values is not None
    assert line.values["p_value"] == 9 / 256 == pytest.approx(binomtest(7, 8, alternative="greater").pvalue)
    assert (line.values["pairs"], line.level, line.status) == (20, "blocking", "fail")
    assert line.values["drop"] == pytest.approx(0.3)
    assert line.message == (
        "pass_rate 95% → 65% over 20 scenarios, 30 points lower: significantly more than max_drop 0% "
        "(p = 0.035, required < 0.05)"
    )
    assert (line.actual, line.expected) == (0.65, ">= 95%")


@pytest.mark.parametrize(
    ("number", "failed", "spec", "level", "said"),
    [
        (5, 5, {}, "blocking", "significantly more than max_drop 0% (p = 0.031, required < 0.05)"),
        (5, 4, {}, "warning", "beyond max_drop 0%, but not significantly (p = 0.062, required < 0.05)"),
        (5, 4, {"confidence": "90%"}, "blocking", "significantly more than max_drop 0% (p = 0.062, required < 0.1)"),
        (20, 5, {"max_drop": "30%"}, "warning", "25 points lower: within max_drop 30%"),
        (20, 5, {"max_drop": "25%"}, "warning", ": within max_drop 25%"),
        (20, 5, {"max_drop": "24.9%"}, "warning", "beyond max_drop 24.9%, but not significantly (p = 0."),
        (20, 10, {"max_drop": "10%"}, "blocking", "significantly more than max_drop 10% (p = "),
        (20, 1, {"max_drop": "30%"}, "warning", "5 points lower: within max_drop 30%"),
        (20, 5, {"method": "scenarios"}, "blocking", "significantly more than max_drop 0% (p = 0.031"),
    ],
)
def test_what_blocks_and_what_only_warns(
    number: int, failed: int, spec: dict[str, Any], level: str, said: str, tmp_path: Path
) -> None:
    report = run_of(tmp_path, ends(number, 0), ends(number, failed), baseline=spec, optional_scenarios=IDS[:number])
    line = lines(report)["pass_rate"]
    assert (line.level, line.status) == (level, "fail")
    assert said in line.message
    # Of five, all failed: the threshold that tolerates them fails as well.
    assert report.exit_code == (1 if level == "blocking" else 0)


@pytest.mark.parametrize(("before", "after"), [(ends(6, 2), ends(6, 2)), (ends(6, 2), ends(6, 0))])
def test_what_is_no_worse_passes(before: dict[str, str], after: dict[str, str], tmp_path: Path) -> None:
    (line,) = lines(run_of(tmp_path, before, after)).values()
    assert (line.status, line.level) == ("pass", "blocking")
    assert line.message.endswith("over 6 scenarios, no worse than the baseline")


def test_holm_adjusts_over_the_metrics_that_the_suite_names(tmp_path: Path) -> None:
    """Five of five is 1/32 alone; of two metrics with the same p-value, neither is significant at 95 %."""
    suite = suite_of(IDS[:5], baseline={"metrics": ["pass_rate", "mean_cost_usd"]})
    before = recorded(tmp_path, suite, traces_of(ends(5, 0), total_cost_usd=0.01))
    worse = lines(compared(tmp_path, suite, traces_of(ends(5, 5), total_cost_usd=0.02), before))
    cost, rate = worse["mean_cost_usd"], worse["pass_rate"]
    assert cost.values is not None
    assert rate.values is not None
    assert (cost.values["p_value"], cost.values["adjusted_p_value"]) == (1 / 32, 1 / 16)
    assert (rate.level, cost.level) == ("warning", "warning")
    assert "mean_cost_usd 0.01 USD → 0.02 USD over 5 scenarios, 100% higher: beyond max_drop 0%" in cost.message
    only_rate = lines(compared(tmp_path, suite, traces_of(ends(5, 5), total_cost_usd=0.01), before))
    assert only_rate["mean_cost_usd"].status == "pass"
    assert only_rate["pass_rate"].level == "warning"  # still one of two
    alone = suite_of(IDS[:5], baseline={"metrics": ["pass_rate"]})
    assert lines(compared(tmp_path, alone, traces_of(ends(5, 5)), before))["pass_rate"].level == "blocking"


@pytest.mark.parametrize(
    ("metric", "shown"),
    [
        ("latency_p95", "latency_p95 100 ms → 120 ms over 8 scenarios, 20% higher: significant"),
        ("mean_cost_usd", "mean_cost_usd 0.1 USD → 0.2 USD over 8 scenarios, 100% higher: significant"),
        ("total_cost_usd", "total_cost_usd 0.8 USD → 1.6 USD over 8 scenarios, 100% higher: significant"),
        ("total_tokens", "total_tokens 800 tokens → 880 tokens over 8 scenarios, 10% higher: significant"),
    ],
)
def test_cost_latency_and_tokens_are_relative_and_better_when_lower(metric: str, shown: str, tmp_path: Path) -> None:
    suite = suite_of(IDS[:8], baseline={"metrics": [metric]})
    runs = ends(8, 0)
    slow = {"total_duration_ms": 120, "total_cost_usd": 0.2, "total_tokens": 110}
    fast = {"total_duration_ms": 100, "total_cost_usd": 0.1, "total_tokens": 100}
    before = recorded(tmp_path, suite, traces_of(runs, **fast))
    line = lines(compared(tmp_path, suite, traces_of(runs, **slow), before))[metric]
    assert (line.level, line.status) == ("blocking", "fail")
    assert line.message.startswith(shown)
    assert lines(compared(tmp_path, suite, traces_of(runs, **fast), before))[metric].status == "pass"
    # Twice the runs cost twice as much, and each of them as much as before.
    twice = traces_of({id_: [PASS, PASS] for id_ in runs}, **fast)
    assert lines(compared(tmp_path, suite, twice, before))[metric].status == "pass"
    free = recorded(tmp_path, suite, traces_of(runs, total_duration_ms=0, total_cost_usd=0, total_tokens=0))
    up = lines(compared(tmp_path, suite, traces_of(runs, **fast), free))[metric]
    assert (up.level, up.values and up.values["drop"]) == ("blocking", None)
    assert "up from 0" in up.message


def test_weights_count_in_weighted_rates(tmp_path: Path) -> None:
    suite = suite_of(IDS[:3], baseline={"metrics": ["weighted_pass_rate"]})
    suite["scenarios"][0]["weight"] = 2.0
    before = recorded(tmp_path, suite, traces_of(ends(3, 0)))
    line = lines(compared(tmp_path, suite, traces_of(ends(3, 1)), before))["weighted_pass_rate"]
    assert "100% → 50% over 3 scenarios, 50 points lower" in line.message
    suite["scenarios"][0]["weight"] = 0
    assert lines(compared(tmp_path, suite, traces_of(ends(3, 1)), before))["weighted_pass_rate"].status == "pass"


def test_a_metric_that_is_not_made_of_scenarios_is_compared_by_value_and_warns(tmp_path: Path) -> None:
    keys: dict[str, Any] = {"classification": {"positive": "yes", "from": {"words": ["yes", "no"]}}}
    suite = suite_of(IDS[:6], baseline={"metrics": ["recall", "pass_rate"], "max_drop": "1%"}, **keys)
    for scenario in suite["scenarios"]:
        scenario["label"] = "yes"
    before = recorded(tmp_path, suite, traces_of(ends(6, 0)))
    line = lines(compared(tmp_path, suite, traces_of(ends(6, 5)), before))["recall"]
    assert (line.level, line.status) == ("warning", "fail")
    assert line.message.endswith(": beyond max_drop 1%; no test is defined for it, so this only warns")
    assert lines(compared(tmp_path, suite, traces_of(ends(6, 0)), before))["recall"].status == "pass"


def test_a_value_that_vanished_blocks_and_one_that_was_never_there_warns(tmp_path: Path) -> None:
    suite = suite_of(IDS[:2], baseline={"metrics": ["mean_cost_usd"]})
    known, unknown = traces_of(ends(2, 0), total_cost_usd=1), traces_of(ends(2, 0))
    line = lines(compared(tmp_path, suite, unknown, recorded(tmp_path, suite, known)))["mean_cost_usd"]
    assert (line.level, line.status) == ("blocking", "fail")
    assert line.message == (
        "mean_cost_usd was 1 USD in the baseline and has no value now: 2 of 2 traces do not state their cost"
    )
    line = lines(compared(tmp_path, suite, known, recorded(tmp_path, suite, unknown)))["mean_cost_usd"]
    assert (line.level, line.status) == ("warning", "fail")
    assert line.message == "the baseline has no value of mean_cost_usd to compare with; save it again"


def test_what_an_outside_part_broke_is_left_out_and_said(tmp_path: Path) -> None:
    after = {**ends(6, 0), "S-01": BROKEN}
    found = lines(run_of(tmp_path, ends(6, 0), after))
    assert list(found) == ["pass_rate"]
    assert found["pass_rate"].message == (
        "pass_rate 100% → 100% over 5 scenarios, no worse than the baseline; "
        "left out because of infrastructure or judge errors: S-01"
    )
    everything = lines(run_of(tmp_path, ends(2, 0), dict.fromkeys(IDS[:2], BROKEN)))["pass_rate"]
    assert (everything.level, everything.status) == ("warning", "fail")
    assert "no scenario has it in both runs, so this only warns; left out" in everything.message


def test_repeats_are_compared_by_their_fractions(tmp_path: Path) -> None:
    before = {"S-00": [PASS] * 4, "S-01": [PASS, FAIL]}
    after = {"S-00": [PASS, PASS, PASS, FAIL], "S-01": [PASS, FAIL]}
    line = lines(run_of(tmp_path, before, after))["pass_rate"]
    assert line.message.startswith(
        "pass_rate 75% → 62.5% over 2 scenarios, 12.5 points lower: beyond max_drop 0%, but not significantly (p = 0.5"
    )


def test_scenarios_that_break_block_by_runs_and_not_by_scenarios(tmp_path: Path) -> None:
    before = {id_: [PASS] * 5 for id_ in IDS}
    after = {id_: [FAIL if place < 4 else PASS] * 5 for place, id_ in enumerate(IDS)}
    assert lines(run_of(tmp_path, before, after))["pass_rate"].level == "blocking"
    by_scenarios = run_of(tmp_path, before, after, baseline={"method": "scenarios"})
    assert lines(by_scenarios)["pass_rate"].level == "warning"


def test_numbers_of_runs_may_differ(tmp_path: Path) -> None:
    before = dict.fromkeys(IDS, PASS)
    after = {id_: [PASS] * 9 + [FAIL] for id_ in IDS}
    line = lines(run_of(tmp_path, before, after))["pass_rate"]
    assert (line.level, line.status) == ("warning", "fail")
    assert line.values is not None
    assert line.values["before"] == 1
    assert line.values["after"] == pytest.approx(0.9)


def test_the_percentile_of_latency_is_that_of_the_metric_and_a_doubled_one_is_seen(tmp_path: Path) -> None:
    suite = suite_of(IDS, baseline={"metrics": ["latency_p95"]})

    def timed(slow: float) -> list[dict[str, Any]]:
        return [
            trace(id_, PASS, total_duration_ms=slow + place if (place + number) % 12 == 0 else 300 + place % 7)
            for place, id_ in enumerate(IDS)
            for number in range(10)
        ]

    before = recorded(tmp_path, suite, timed(1_000))
    report = compared(tmp_path, suite, timed(2_000), before)
    line = lines(report)["latency_p95"]
    assert (line.level, line.actual) == ("blocking", report.metrics["latency_p95"].value)
    assert line.values is not None
    assert line.values["before"] == before.metrics["latency_p95"].value
    assert lines(compared(tmp_path, suite, timed(1_000), before))["latency_p95"].status == "pass"


def test_the_line_tells_the_worst_value_that_is_allowed(tmp_path: Path) -> None:
    line = lines(run_of(tmp_path, ends(20, 0), ends(20, 2), baseline={"max_drop": "5%"}))["pass_rate"]
    assert line.expected == ">= 95%"
    assert "beyond max_drop 5%" in line.message


# ── Scenarios and tests ─────────────────────────────────────────────────────────────────────────────────────


def test_each_scenario_that_passed_and_now_fails_is_named(tmp_path: Path) -> None:
    before = {"A": PASS, "B": PASS, "C": FAIL, "D": PASS}
    after = {"A": FAIL, "C": FAIL, "D": PASS}
    warned = run_of(tmp_path, before, after)
    found = lines(warned)
    assert list(found) == ["pass_rate", "A", "B"]
    assert {line.level for line in found.values()} == {"warning"}
    assert found["A"].message.startswith("passed in the baseline and now fails: expected_in_answer: ")
    assert (
        found["B"].message
        == "passed in the baseline and now is missing: no trace belongs to this scenario: it never ran"
    )
    assert found["A"].line is not None
    blocked = run_of(tmp_path, before, after, baseline={"on_regression": "block"})
    assert {id_: line.level for id_, line in lines(blocked).items()} == {
        "pass_rate": "warning",
        "A": "blocking",
        "B": "blocking",
    }
    assert (warned.exit_code, blocked.exit_code) == (0, 1)
    strict = compared(
        tmp_path,
        suite_of(before),
        traces_of(after),
        recorded(tmp_path, suite_of(before), traces_of(before)),
        strict=True,
    )
    assert strict.exit_code == 1


def test_an_optional_scenario_never_blocks(tmp_path: Path) -> None:
    before, after = {"A": PASS, "B": PASS}, {"A": FAIL, "B": PASS}
    keys: dict[str, Any] = {"optional_scenarios": ["A"], "baseline": {"on_regression": "block"}}
    line = lines(run_of(tmp_path, before, after, **keys))["A"]
    assert (line.level, line.tolerated_by) == ("warning", "optional_scenarios")


@pytest.mark.parametrize(("required", "level", "code"), [(True, "blocking", 1), (False, "warning", 0)])
def test_a_scenario_that_vanished_warns_and_a_required_one_blocks(
    required: bool, level: str, code: int, tmp_path: Path
) -> None:
    keys: dict[str, Any] = {"required_scenarios": ["B"]} if required else {}
    before = recorded(tmp_path, suite_of("AB", **keys), traces_of({"A": PASS, "B": PASS}))
    report = compared(tmp_path, suite_of("AC"), traces_of({"A": PASS, "C": PASS}), before)
    found = lines(report)
    assert (found["B"].level, found["B"].status) == (level, "fail")
    assert "is no longer in the suite; it was 'pass'" in found["B"].message
    assert (found["new_scenarios"].status, found["new_scenarios"].message) == (
        "pass",
        "1 scenario that the baseline does not have: C",
    )
    assert found["pass_rate"].message == "pass_rate 100% → 100% over 1 scenario, no worse than the baseline"
    assert report.exit_code == code


def test_what_stopped_being_exercised_is_named(tmp_path: Path) -> None:
    suite = suite_of(
        "AB",
        tests=[{"id": "t", "metric": "sequence_valid", "rules": [{"type": "before", "first": "look", "then": "pay"}]}],
    )
    suite["scenarios"][1] = {"id": "B", "path": {"match_mode": "strict"}}
    bought = [trace("A", PASS, tools=["look", "pay"]), trace("B", PASS)]
    before = recorded(tmp_path, suite, bought)
    assert (before.scenarios["B"].status, before.tests["t"].exercised) == ("pass", True)
    without = {id_: msgspec.structs.replace(one, golden=None) for id_, one in before.scenarios.items()}
    report = compared(
        tmp_path,
        suite,
        [trace("A", PASS), trace("B", PASS)],
        msgspec.structs.replace(before, scenarios=without),
    )
    found = lines(report)
    assert found["B"].message == "is no longer exercised: every run was skipped, and in the baseline it was 'pass'"
    assert found["t"].message == "no trace exercises this test any more; in the baseline some did"
    assert {found["B"].level, found["t"].level} == {"warning"}


def test_a_partial_run_is_not_compared(tmp_path: Path) -> None:
    suite = suite_of("AB")
    before = recorded(tmp_path, suite, traces_of({"A": PASS, "B": PASS}))
    report = compared(tmp_path, suite, traces_of({"A": FAIL, "B": FAIL}), before, only=("A",))
    assert lines(report) == {}


def test_a_suite_of_tests_alone_has_a_baseline_too(tmp_path: Path) -> None:
    suite = {"tests": [{"id": "none", "metric": "tool_blocklist", "blocklist": ["pay"]}]}
    before = recorded(tmp_path, suite, [{"steps": [{"type": "tool_call", "tool": "look", "arguments": {}}]}])
    assert (before.scenarios, before.tests["none"].exercised) == ({}, True)
    (line,) = lines(compared(tmp_path, suite, [{"answer": "x", "steps": []}], before)).values()
    assert (line.id, line.level) == ("none", "warning")


# ── Golden sequences and costs ──────────────────────────────────────────────────────────────────────────────


def test_a_baseline_is_the_reference_of_path_and_cost_and_of_itself(tmp_path: Path) -> None:
    suite = {
        "layers": {"path": "block", "cost": "block"},
        "scenarios": [{"id": "A", "path": {"match_mode": "strict"}, "cost": {"max_cost_multiplier": 2}}],
    }
    runs = [trace("A", PASS, tools=tools, total_cost_usd=cost) for tools, cost in ((["a"], 1), (["b", "c"], 2))]
    before = recorded(tmp_path, suite, runs)
    assert before.scenarios["A"].status == "pass"
    golden = before.golden()["A"]
    assert (golden.sequences, golden.cost_usd) == ((("a",), ("b", "c")), 1.5)
    assert compared(tmp_path, suite, runs, before).exit_code == 0
    other = compared(tmp_path, suite, [trace("A", PASS, tools=["c"], total_cost_usd=4)], before)
    checks = {check.name: check.status for layer in other.scenarios[0].layers.values() for check in layer.checks}
    assert checks == {"match_mode": "fail", "max_cost_multiplier": "fail"}


# ── The file ────────────────────────────────────────────────────────────────────────────────────────────────


def test_saving_twice_gives_the_same_bytes_and_reading_them_the_same_baseline(tmp_path: Path) -> None:
    suite = suite_of("AB", required_scenarios=["A"])
    traces = traces_of({"A": [PASS, FAIL], "B": PASS}, total_cost_usd=0.1, total_duration_ms=7)
    one, other = (write(recorded(tmp_path, suite, order)) for order in (traces, traces[::-1]))
    assert one == other
    document = json.loads(one)
    assert document["schema"] == SCHEMA
    assert next(iter(document)) == "schema"
    assert document["scenarios"]["A"]["passed"] == {"passed": 1, "counted": 2}
    assert document["scenarios"]["A"]["required"] is True
    assert b'"sequences": [\n' in one
    assert b'["look"]' in one
    assert msgspec.json.decode(one, type=Baseline) == recorded(tmp_path, suite, traces)


def test_secrets_in_the_names_of_tools_are_hidden(tmp_path: Path) -> None:
    secret = "sk-" + "a1B2" * 12
    found = recorded(tmp_path, suite_of("A"), [trace("A", PASS, tools=[secret, "look"])])
    text = write(redact_baseline(found, Redactor())).decode()
    assert secret not in text
    assert "[hidden #1]" in text
    report = compared(tmp_path, suite_of("A"), [trace("A", FAIL)], found)
    assert redact_report(report, Redactor()).gate


@pytest.mark.parametrize("wrong", [{"passed": 2, "counted": 1}, {"passed": -1, "counted": 1}])
def test_a_share_is_checked_when_it_is_read(wrong: dict[str, int]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(wrong, Share)


# ── Laws ────────────────────────────────────────────────────────────────────────────────────────────────────

OUTCOMES = st.dictionaries(
    st.sampled_from("ABCDEF"), st.lists(st.sampled_from([PASS, FAIL, BROKEN]), min_size=1, max_size=3), min_size=1
)
METRICS = ["pass_rate", "weighted_pass_rate", "accuracy", "latency_p95", "mean_cost_usd", "token_efficiency"]
RELAXED = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def priced(runs: dict[str, list[str]]) -> list[dict[str, Any]]:
    return [
        {**one, "total_cost_usd": place % 3 + 0.1, "total_duration_ms": place % 5 + 1, "total_tokens": 10 + place}
        for place, one in enumerate(traces_of(runs))
    ]


@RELAXED
@given(OUTCOMES, OUTCOMES, st.integers(20, 300), st.randoms())
def test_no_split_of_the_traces_changes_a_line(
    tmp_path: Path, before: dict[str, list[str]], after: dict[str, list[str]], part_bytes: int, chance: Any
) -> None:
    given_suite = suite_of("ABCDEF", baseline={"metrics": METRICS})
    baseline = recorded(tmp_path, given_suite, priced(before))
    whole = compared(tmp_path, given_suite, priced(after), baseline)
    suite, source = loaded(tmp_path, given_suite), source_of(tmp_path, priced(after))
    job = Job(suite, Settings(today=DAY), baseline.golden())
    tallies = [execute(job, [part], ONE_PROCESS, Progress()) for part in cut([source], 2, part_bytes)]
    chance.shuffle(tallies)
    report = conclude(suite, merge(tallies), Settings(today=DAY), {}, baseline)
    assert lines(report) == lines(whole)


@RELAXED
@given(OUTCOMES)
def test_a_run_is_no_worse_than_itself(tmp_path: Path, runs: dict[str, list[str]]) -> None:
    suite = suite_of("ABCDEF", baseline={"metrics": METRICS, "on_regression": "block"})
    found = lines(compared(tmp_path, suite, priced(runs), recorded(tmp_path, suite, priced(runs))))
    assert all(line.status == "pass" or "has no value" in line.message for line in found.values())


@RELAXED
@given(OUTCOMES, OUTCOMES)
def test_only_a_drop_that_is_sure_and_large_blocks(
    tmp_path: Path, before: dict[str, list[str]], after: dict[str, list[str]]
) -> None:
    suite = suite_of("ABCDEF", baseline={"metrics": METRICS, "confidence": "60%", "max_drop": "5%"})
    for line in lines(compared(tmp_path, suite, priced(after), recorded(tmp_path, suite, priced(before)))).values():
        values = line.values
        if values is None or values["drop"] is None:  # without a value, or from nothing
            continue
        sure = values["adjusted_p_value"] is not None and values["adjusted_p_value"] < 0.4
        large = values["drop"] > 0.05 + 1e-9
        assert (line.status == "fail" and line.level == "blocking") == (sure and large)
        assert (line.status == "pass") == (values["drop"] <= 1e-9)


def test_pairs_are_the_metric_itself_where_both_runs_have_the_same_scenarios(tmp_path: Path) -> None:
    suite = suite_of("ABC")
    runs = priced({"A": [PASS], "B": [FAIL], "C": [PASS]})
    found = recorded(tmp_path, suite, runs)
    for name in (
        "pass_rate",
        "accuracy",
        "latency_p50",
        "latency_p99",
        "mean_cost_usd",
        "total_cost_usd",
        "total_tokens",
    ):
        pairs = pairs_of(metric_named(name), found.scenarios, found.scenarios, dict.fromkeys("ABC", 1.0))
        assert pairs is not None
        assert pairs.before == pytest.approx(found.metrics[name].value)
        assert pairs.p_value == 1.0


# ── In Python ───────────────────────────────────────────────────────────────────────────────────────────────


def test_evaluate_takes_the_path_of_a_baseline(tmp_path: Path) -> None:
    suite = loaded(tmp_path, suite_of(IDS[:5]))
    baseline, _ = record(suite, [source_of(tmp_path, traces_of(ends(5, 0)), "before.jsonl")], Settings(today=DAY))
    path = tmp_path / "b.json"
    path.write_bytes(write(baseline))
    source_of(tmp_path, traces_of(ends(5, 5)))
    traces = list(passmuster.read_traces(tmp_path / "t.jsonl"))
    report = passmuster.evaluate(suite, traces, baseline=path)
    assert lines(report)["pass_rate"].level == "blocking"
    assert report.provenance.options["baseline"] == str(path)
    assert lines(passmuster.evaluate(suite, traces)) == {}
    assert lines(passmuster.evaluate(suite, traces, baseline=tmp_path / "before.jsonl")) == {}
    own = loaded(tmp_path, suite_of(IDS[:5], baseline={"file": "b.json"}))
    assert lines(passmuster.evaluate(own, traces))["pass_rate"].level == "blocking"
    with pytest.raises(passmuster.UsageError, match=r"baseline\.file: there is no file or folder 'none\.json'"):
        passmuster.evaluate(loaded(tmp_path, suite_of("A", baseline={"file": "none.json"})), traces)


def test_workers_give_the_same_baseline_and_the_same_lines(tmp_path: Path) -> None:
    suite = loaded(tmp_path, suite_of(IDS[:6]))
    before = [source_of(tmp_path, traces_of({id_: PASS}), f"before-{id_}.jsonl") for id_ in IDS[:6]]
    after = [source_of(tmp_path, traces_of({id_: FAIL}), f"after-{id_}.jsonl") for id_ in IDS[:6]]
    asked = Settings(today=DAY)
    alone, _ = record(suite, before, asked)
    assert record(suite, before, asked, execution=Execution(workers=2))[0] == alone
    assert lines(evaluate_sources(suite, after, asked, execution=Execution(workers=2), baseline=alone)) == lines(
        evaluate_sources(suite, after, asked, baseline=alone)
    )
