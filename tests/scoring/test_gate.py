"""What decides the verdict: every reason has a line, and the exit code follows from the lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from tests.checks.building import judge, rules, trace

import passmuster
from passmuster.scoring._report import Report

STATED: dict[str, Any] = {"path": {"max_tool_calls": 9}}
"""What makes a scenario ask something."""
HOLDS = {"id": "holds", "metric": "tool_blocklist", "blocklist": ["z"]}
FAILS = {"id": "fails", "metric": "tool_blocklist", "blocklist": ["a"]}
IDLE = {"id": "idle", "metric": "args_valid", "tool": "z", "constraints": {"x": {}}}
WARNS = {**FAILS, "id": "warns", "severity": "warn"}


def verdict(
    tests: Sequence[Mapping[str, Any]], traces: Sequence[Mapping[str, Any]], strict: bool = False, **top: Any
) -> Report:
    return judge({"tests": list(tests), **top}, traces, strict=strict)


def lines(report: Report, *kinds: str) -> list[tuple[str, str, str, str]]:
    return [(line.kind, line.id, line.level, line.status) for line in report.gate if not kinds or line.kind in kinds]


@pytest.mark.parametrize(
    ("tests", "loose", "strict"),
    [
        ([HOLDS], (0, "pass"), (0, "pass")),
        ([HOLDS, FAILS], (1, "fail"), (1, "fail")),
        ([HOLDS, WARNS], (0, "warn"), (1, "fail")),
        ([HOLDS, IDLE], (0, "warn"), (1, "fail")),
    ],
    ids=["all hold", "one fails", "one warns", "one is never exercised"],
)
def test_the_exit_code_follows_from_the_lines(
    tests: list[dict[str, Any]], loose: tuple[int, str], strict: tuple[int, str]
) -> None:
    for asked, expected in ((False, loose), (True, strict)):
        report = verdict(tests, [trace("a")], strict=asked)
        assert (report.exit_code, report.verdict) == expected
        blocking = [line for line in report.gate if line.level == "blocking" and line.status != "pass"]
        assert bool(blocking) == (report.exit_code != 0)


def test_each_test_has_one_line_with_its_place_and_its_count() -> None:
    report = judge(
        "tests:\n"
        "  - {id: holds, metric: tool_blocklist, blocklist: [z]}\n"
        "  - {id: fails, metric: tool_blocklist, blocklist: [a]}\n",
        [trace("a a"), trace("b"), trace("a")],
    )
    holds, fails = report.gate
    assert (holds.kind, holds.id, holds.level, holds.status) == ("test", "holds", "blocking", "pass")
    assert (holds.actual, holds.expected, holds.file, holds.line) == (0, 0, "passmuster.yaml", 2)
    assert holds.message == "tool_blocklist held on 3 traces"
    assert (fails.level, fails.status, fails.actual, fails.line) == ("blocking", "fail", 2, 3)
    assert fails.message == "2 violations of tool_blocklist on 2 of 3 traces"


# ── What never fired ────────────────────────────────────────────────────────────────────────────────────────


def test_a_test_that_is_never_exercised_is_vacuous_and_no_pass() -> None:
    report = verdict([IDLE], [trace("a"), trace("b")])
    assert lines(report) == [("vacuous", "idle", "warning", "fail")]
    assert "args_valid was never exercised on 2 traces" in report.gate[0].message
    assert (report.tests[0].status, report.tests[0].exercised) == ("warn", False)
    assert verdict([IDLE], [trace("a"), trace("z")]).verdict == "pass"


def test_a_test_whose_scenarios_have_no_trace_is_vacuous() -> None:
    tests = [HOLDS, {**HOLDS, "id": "narrow", "scenarios": ["S-1"]}]
    report = verdict(tests, [trace("a")], scenarios=[{"id": "S-1", "query": "q"}])
    assert ("vacuous", "narrow", "warning", "fail") in lines(report)
    assert report.tests[1].traces == 0


NEVER_FIRED: dict[str, Any] = {"type": "before", "first": "x", "then": "y"}
USED: dict[str, Any] = {"type": "blocklist", "tools": ["z"]}


def test_a_rule_that_never_fired_is_a_warning_line_of_its_own_and_fails_a_strict_run() -> None:
    suite = rules(USED, NEVER_FIRED, {**NEVER_FIRED, "description": "ask first"})
    report = judge(suite, [trace("a")])
    assert (report.verdict, [rule.exercised_on for rule in report.tests[0].rules]) == ("warn", [1, 0, 0])
    assert lines(report) == [
        ("test", "t", "blocking", "pass"),
        ("vacuous", "t.rules[1]", "warning", "fail"),
        ("vacuous", "t.rules[2]", "warning", "fail"),
    ]
    assert report.gate[1].message.startswith("the rule 'before' on line 1 was never exercised: neither a policy")
    assert report.gate[2].message.startswith("the rule 'before' on line 1 (ask first) was never exercised: ")
    strict = judge(suite, [trace("a")], strict=True)
    assert lines(strict)[1] == ("vacuous", "t.rules[1]", "blocking", "fail")
    assert strict.exit_code == 1


def test_a_rule_may_be_allowed_to_stay_unexercised() -> None:
    allowed = {**NEVER_FIRED, "allow_unexercised": True}
    for suite in (rules(USED, allowed), rules(allowed), rules(allowed, allowed)):
        report = judge(suite, [trace("a")], strict=True)
        assert (report.verdict, report.exit_code, report.tests[0].status) == ("pass", 0, "pass")
        assert lines(report) == [("test", "t", "blocking", "pass")]
    assert judge(rules(allowed, NEVER_FIRED), [trace("a")], strict=True).exit_code == 1
    assert judge(rules(allowed), [trace("y")], strict=True).exit_code == 1


def test_a_scenario_that_asks_nothing_is_vacuous_whether_or_not_a_test_names_it() -> None:
    """Otherwise one more test could turn a red strict gate green."""
    scenarios = [{"id": "S-1"}, {"id": "S-2", "tags": ["x"]}, {"id": "S-3"}, {"id": "S-4", **STATED}]
    tests = [HOLDS, {**HOLDS, "id": "tagged", "tags": ["x"]}, {**HOLDS, "id": "named", "scenarios": ["S-3"]}]
    traces = [trace("a", scenario=f"S-{n}") for n in (1, 2, 3, 4)]
    expected = [("vacuous", f"S-{n}", "warning", "fail") for n in (1, 2, 3)]
    assert lines(verdict(tests, traces, scenarios=scenarios), "vacuous") == expected
    assert verdict(tests, traces, scenarios=scenarios, strict=True).exit_code == 1


def test_a_test_whose_tags_nothing_has_is_a_mistake_in_the_suite() -> None:
    with pytest.raises(passmuster.SuiteError, match="select nothing"):
        verdict([{**HOLDS, "tags": ["nobody"]}], [trace("a", tags=["somebody"])])
    assert verdict([{**HOLDS, "tags": ["somebody"]}], [trace("a", tags=["somebody"])]).verdict == "pass"


# ── Scenarios and their traces ──────────────────────────────────────────────────────────────────────────────

SCENARIOS = [{"id": "S-1", "query": "first  question", **STATED}, {"id": "S-2", "query": "second question", **STATED}]
ON_BOTH = {**HOLDS, "scenarios": ["S-*"]}


def states(report: Report) -> dict[str, tuple[str, int]]:
    return {scenario.id: (scenario.status, scenario.runs) for scenario in report.scenarios}


def on_scenarios(*traces: Mapping[str, Any], tests: Sequence[Mapping[str, Any]] = (ON_BOTH,), **top: Any) -> Report:
    return verdict(tests, traces, **{"scenarios": SCENARIOS, **top})


def test_a_trace_belongs_to_the_scenario_it_names_or_whose_query_it_has() -> None:
    report = on_scenarios(
        trace("a", scenario="S-1", query="second question"), trace("a", query=" second\n question "), trace("a")
    )
    assert states(report) == {"S-1": ("pass", 1), "S-2": ("pass", 1)}
    assert (report.traces.read, report.traces.evaluated, report.traces.unmatched) == (3, 3, 1)
    assert report.verdict == "pass"


def test_a_trace_without_a_scenario_still_meets_every_test() -> None:
    both = [trace("x", scenario="S-1"), trace("x", scenario="S-2")]
    assert on_scenarios(*both, trace("a"), tests=[ON_BOTH, FAILS]).exit_code == 1


def test_without_scenarios_nothing_is_unmatched() -> None:
    assert verdict([HOLDS], [trace("a", scenario="S-9"), trace("a", query="?")]).traces.unmatched == 0


def test_a_scenario_without_a_trace_is_missing_and_fails() -> None:
    report = on_scenarios(trace("a", scenario="S-1"))
    assert states(report) == {"S-1": ("pass", 1), "S-2": ("missing", 0)}
    assert ("scenario", "S-2", "blocking", "fail") in lines(report)
    assert report.exit_code == 1


def test_an_unknown_scenario_id_is_a_warning_and_its_query_is_not_tried() -> None:
    both = [trace("a", scenario="S-1"), trace("a", scenario="S-2")]
    report = on_scenarios(*both, trace("a", scenario="S-l", query="first question"))
    assert states(report) == {"S-1": ("pass", 1), "S-2": ("pass", 1)}
    assert lines(report, "input") == [("input", "S-l", "warning", "fail")]
    (line,) = [line for line in report.gate if line.kind == "input"]
    assert "did you mean 'S-" in line.message
    assert (report.traces.unmatched, report.exit_code, report.verdict) == (1, 0, "warn")


def test_a_query_that_two_scenarios_share_belongs_to_neither() -> None:
    twins = [{"id": "S-1", "query": "same", **STATED}, {"id": "S-2", "query": " same ", **STATED}]
    report = on_scenarios(trace("a", query="same"), scenarios=twins)
    assert states(report) == {"S-1": ("missing", 0), "S-2": ("missing", 0)}
    assert lines(report, "input") == [("input", "S-1 / S-2", "warning", "fail")]
    assert report.exit_code == 1
    stated = on_scenarios(trace("a", scenario="S-1"), trace("a", scenario="S-2"), scenarios=twins)
    assert stated.verdict == "pass"


def test_several_traces_of_a_scenario_are_repeats_of_which_the_worst_counts() -> None:
    report = on_scenarios(
        trace("a", scenario="S-1", trace_id="1"),
        trace("a", scenario="S-1", trace_id="2", error="gave up"),
        trace("a", scenario="S-2"),
    )
    assert states(report) == {"S-1": ("fail", 2), "S-2": ("pass", 1)}
    assert [(run.trace_id, run.status, run.message) for run in report.scenarios[0].attempts] == [
        ("1", "pass", None),
        ("2", "fail", "gave up"),
    ]
    assert report.scenarios[1].attempts[0].trace_id == "traces.jsonl:3"


INFRA = {"kind": "infra", "message": "rate limited"}


@pytest.mark.parametrize(
    ("error", "status", "line", "exit_code", "word"),
    [
        ("gave up", "fail", "fail", 1, "fail"),
        ({"kind": "agent", "message": "gave up"}, "fail", "fail", 1, "fail"),
        (INFRA, "error", "error", 3, "error"),
    ],
)
def test_a_trace_that_did_not_finish(error: object, status: str, line: str, exit_code: int, word: str) -> None:
    report = on_scenarios(trace("a", scenario="S-1", error=error), trace("a", scenario="S-2"))
    assert states(report)["S-1"] == (status, 1)
    assert ("scenario", "S-1", "blocking", line) in lines(report)
    assert (report.exit_code, report.verdict) == (exit_code, word)


@pytest.mark.parametrize(
    ("others", "tests", "exit_code"),
    [
        ([trace("a", scenario="S-2")], [ON_BOTH], 3),
        ([trace("a", scenario="S-2", error="gave up")], [ON_BOTH], 1),
        ([], [ON_BOTH], 1),
        ([trace("a", scenario="S-2")], [ON_BOTH, FAILS], 1),
        ([trace("a", scenario="S-2")], [ON_BOTH, WARNS], 3),
    ],
    ids=["alone", "an agent's failure", "a missing scenario", "a test that fails", "a warning"],
)
def test_a_blocking_failure_wins_over_an_outside_one(
    others: list[dict[str, Any]], tests: list[dict[str, Any]], exit_code: int
) -> None:
    assert on_scenarios(trace("a", scenario="S-1", error=INFRA), *others, tests=tests).exit_code == exit_code


@pytest.mark.parametrize("error", ["gave up", INFRA])
def test_an_agent_that_failed_outside_any_scenario_is_never_silent(error: object) -> None:
    report = verdict([HOLDS], [trace("a", error=error), trace("a")])
    assert lines(report, "input") == [("input", "agent_errors", "warning", "fail")]
    assert report.verdict == "warn"
    assert verdict([HOLDS], [trace("a", error=error)], strict=True).exit_code == 1


def test_no_trace_at_all_judges_nothing() -> None:
    with pytest.raises(passmuster.TraceError):
        verdict([HOLDS], [])


def test_a_partial_run_says_so_and_leaves_out_what_it_did_not_ask() -> None:
    suite = {"tests": [HOLDS, FAILS], "scenarios": SCENARIOS}
    report = judge(suite, [trace("a", scenario="S-1"), trace("a", scenario="S-9")], only=("holds", "S-1"))
    assert report.partial
    assert [test.id for test in report.tests] == ["holds"]
    assert list(states(report)) == ["S-1"]
    assert lines(report, "input") == []
    assert report.provenance.options["only"] == ["holds", "S-1"]
