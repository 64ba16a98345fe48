"""How much a violation weighs: severity, and waivers that end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from tests.checks.building import judge, trace

from passmuster.scoring._report import Report

BLOCKED = {"id": "blocked", "metric": "tool_blocklist", "blocklist": ["a*", "b"]}
SCENARIOS = [{"id": "S-1", "query": "one"}, {"id": "S-2", "query": "two"}]
NAMED = {**BLOCKED, "scenarios": ["S-*"]}


@pytest.mark.parametrize(
    ("severity", "strict", "status", "level", "exit_code", "verdict"),
    [
        ("block", False, "fail", "blocking", 1, "fail"),
        ("warn", False, "warn", "warning", 0, "warn"),
        ("log", False, "pass", "warning", 0, "pass"),
        ("block", True, "fail", "blocking", 1, "fail"),
        ("warn", True, "warn", "blocking", 1, "fail"),
        ("log", True, "pass", "warning", 0, "pass"),
    ],
)
def test_severity_decides_what_violations_do(
    severity: str, strict: bool, status: str, level: str, exit_code: int, verdict: str
) -> None:
    report = judge({"tests": [{**BLOCKED, "severity": severity}]}, [trace("a")], strict=strict)
    (test,), (line,) = report.tests, report.gate
    assert (test.status, test.violation_count, line.level) == (status, 1, level)
    assert (report.exit_code, report.verdict) == (exit_code, verdict)
    assert test.violations[0].level == severity


def waived(
    *waivers: Mapping[str, Any],
    traces: Sequence[Mapping[str, Any]] | None = None,
    tests: Sequence[Mapping[str, Any]] = (NAMED,),
    **options: Any,
) -> Report:
    """The verdict on a call of `a` in S-1 and one of `b` in S-2."""
    given = traces or [trace("a", scenario="S-1"), trace("b", scenario="S-2")]
    defaults = {"test": "blocked", "reason": "known", "expires": "2026-06-01"}
    written = [{**defaults, **waiver} for waiver in waivers]
    return judge({"tests": list(tests), "scenarios": SCENARIOS, "waivers": written}, given, **options)


def let_off(report: Report) -> list[str | None]:
    """The tools whose violations a waiver turned into warnings."""
    return [found.tool for found in report.tests[0].violations if found.waived]


@pytest.mark.parametrize(
    ("waiver", "tools"),
    [
        ({}, ["a", "b"]),
        ({"tool": "a"}, ["a"]),
        ({"tool": "[ab]"}, ["a", "b"]),
        ({"tool": "A"}, []),
        ({"scenario": "S-2"}, ["b"]),
        ({"scenario": "S-*"}, ["a", "b"]),
        ({"tool": "a", "scenario": "S-2"}, []),
        ({"tool": "a", "scenario": "S-1"}, ["a"]),
    ],
)
def test_a_waiver_reaches_what_its_tool_and_scenario_name(waiver: dict[str, str], tools: list[str]) -> None:
    report = waived(waiver)
    assert let_off(report) == tools
    assert report.tests[0].waived_count == len(tools)
    assert report.tests[0].status == ("warn" if len(tools) == 2 else "fail")
    assert report.exit_code == (0 if len(tools) == 2 else 1)


def test_what_is_waived_is_a_warning_that_names_the_waiver() -> None:
    report = waived({"reason": "until the new flow ships"})
    found = report.tests[0].violations[0]
    assert (found.level, found.waived) == ("warn", "until the new flow ships (until 2026-06-01)")
    (line,) = [line for line in report.gate if line.kind == "test"]
    assert (line.level, line.status) == ("warning", "fail")
    assert "2 waived: until the new flow ships (until 2026-06-01)" in line.message
    assert report.verdict == "warn"
    assert waived({}, strict=True).exit_code == 1


@pytest.mark.parametrize(
    ("today", "works"), [("2026-05-31", True), ("2026-06-01", True), ("2026-06-02", False), ("2027-01-01", False)]
)
def test_a_waiver_holds_through_its_last_day(today: str, works: bool) -> None:
    report = waived({}, today=today)
    assert report.exit_code == (0 if works else 1)
    said = [line.message for line in report.gate if line.kind == "input"]
    assert said == ([] if works else ["the waiver 'known' expired on 2026-06-01"])


def test_a_waiver_that_nothing_matches_is_a_warning_at_its_line() -> None:
    report = waived({"tool": "a"}, {"tool": "zz", "reason": "no longer"}, traces=[trace("x", scenario="S-1")] * 2)
    lines = [line for line in report.gate if line.kind == "input"]
    assert [(line.id, line.level, line.line) for line in lines] == [("waiver:blocked", "warning", 1)] * 2
    assert "the waiver 'no longer' matched no violation: remove it" in lines[1].message


def test_a_waiver_never_reaches_another_test() -> None:
    report = waived({}, tests=[NAMED, {**NAMED, "id": "also"}])
    assert [test.status for test in report.tests] == ["warn", "fail"]
    assert report.exit_code == 1


def test_a_waiver_without_a_scenario_reaches_traces_without_one() -> None:
    traces = [trace("a"), trace("x", scenario="S-1"), trace("x", scenario="S-2")]
    assert let_off(waived({}, traces=traces, tests=[BLOCKED])) == ["a"]
    assert let_off(waived({"scenario": "S-*"}, traces=traces, tests=[BLOCKED])) == []


def test_of_two_waivers_the_first_that_fits_is_named() -> None:
    report = waived({"tool": "a", "reason": "narrow"}, {"reason": "broad"})
    assert [found.waived for found in report.tests[0].violations] == [
        "narrow (until 2026-06-01)",
        "broad (until 2026-06-01)",
    ]


def test_a_waiver_does_not_lift_what_a_lower_level_let_off_already() -> None:
    report = waived({}, tests=[{**NAMED, "severity": "log"}])
    assert [found.level for found in report.tests[0].violations] == ["log", "log"]
    assert report.tests[0].status == "pass"


def test_a_waiver_does_not_excuse_a_check_that_broke() -> None:
    limits = {
        "id": "blocked",
        "metric": "args_valid",
        "tool": "a",
        "constraints": {"x": {"pattern": r"^(?:(a+)\1?)+$"}},
    }
    call = {"type": "tool_call", "tool": "a", "arguments": {"x": "a" * 40 + "b"}}
    report = judge(
        {"tests": [limits], "waivers": [{"test": "blocked", "reason": "r", "expires": "2030-01-01"}]},
        [trace([call])],
    )
    assert (report.tests[0].status, report.exit_code) == ("error", 1)
