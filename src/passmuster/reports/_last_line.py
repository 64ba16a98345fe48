"""The verdict in one sentence, and the one thing to do next."""

from __future__ import annotations

import re

from passmuster._problems import plural
from passmuster.checks import Violation
from passmuster.reports._cases import Case
from passmuster.reports._reasons import first_blocking, reasons
from passmuster.reports._text import cut, headline, one_line, place, shown, trace_place
from passmuster.scoring import Report, ScenarioReport

_FAILED = ("fail", "error", "missing")
_GLANCE = 60
_CLAUSE = 160
_REMEDY = r"pip install 'passmuster\[\w+\]'|set the environment variable [A-Z][A-Z0-9_]*"
"""What a message may ask to do: messages quote texts of others, so only packages of this program are installed."""


def verdict_sentence(report: Report, all_cases: list[Case], *, rest: str = "below") -> str:
    """The verdict and its main reason; `rest` says where the other reasons are."""
    return _sentence(f"{_verdict(report)}: {_reason(report, all_cases, rest)}")


def closing_sentence(report: Report, all_cases: list[Case], *, rest: str = "below") -> str:
    """The verdict, its main reason, and where to start."""
    if report.verdict in ("fail", "error"):
        return f"{_verdict(report)}: {_reason(report, all_cases, rest)}{_start(report, all_cases)}."
    return f"{_verdict(report)}: {_reason(report, all_cases, rest)}{_first_warning(all_cases)}."


def next_step(report: Report, all_cases: list[Case]) -> str:
    """The verdict in a word, and the one thing to do next."""
    return _sentence(f"{_verdict(report)}. {_next(report, all_cases)}")


def _sentence(text: str) -> str:
    return text if text.endswith("…") else f"{text}."


def _verdict(report: Report) -> str:
    partial = " (a partial run)" if report.partial else ""
    if report.verdict in ("fail", "error"):
        return f"{report.verdict.upper()}{partial}"
    warnings = sum(line.status != "pass" and line.level == "warning" for line in report.gate)
    if report.verdict == "warn" or warnings:
        return f"PASS with {plural(max(warnings, 1), 'warning')}{partial}"
    return f"PASS{partial}"


def _reason(report: Report, all_cases: list[Case], rest: str) -> str:
    if report.verdict == "error":
        cause = next((case for case in reasons(report, all_cases) if case.message), None)
        return f"the gate could not be decided{f': {_undecided(cause)}' if cause else ''}"
    return _failures(report, all_cases, rest) if report.verdict == "fail" else _held(report, all_cases)


def _undecided(case: Case) -> str:
    """What could not be evaluated, and why."""
    who = f"scenario {one_line(case.id)} " if case.scenario and case.message.startswith("could not") else ""
    return f"{who}{_clause(case.message)}"


def _failures(report: Report, all_cases: list[Case], rest: str) -> str:
    parts: list[str] = []
    broken = reasons(report, all_cases)
    tests = [case for case in broken if case.test]
    if tests:
        failed = _failed_traces(tests)
        on = f" on {failed} of {plural(report.traces.evaluated, 'trace')}" if failed else ""
        broke = sum(case.ending == "error" for case in tests)
        if broke < len(tests):
            parts.append(f"{len(tests) - broke} of {plural(len(report.tests), 'test')} failed{on}")
        if broke:
            where = "" if parts else on
            parts.append(f"{broke} of {plural(len(report.tests), 'test')} could not be evaluated{where}")
    scenarios = [case for case in broken if case.scenario]
    if scenarios:
        parts.append(_failed_scenarios(report, scenarios))
    others = [case for case in broken if not case.test and not case.scenario]
    if others and not parts:
        parts.append(f"{others[0].group} {one_line(others[0].id)}: {_clause(others[0].message)}")
        others = others[1:]
    if others:
        parts.append(f"{plural(len(others), 'more reason' if parts else 'reason')} {rest}")
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts) or f"see {rest}"


def _failed_scenarios(report: Report, blocking: list[Case]) -> str:
    """The one count of failed scenarios, and how many of them block."""
    failed = sum(one.status in _FAILED for one in report.scenarios)
    counted = sum(case.scenario is not None and case.scenario.status in _FAILED for case in blocking)
    told = f"{failed} of {plural(len(report.scenarios), 'scenario')} failed"
    if counted < failed:
        told += f" ({failed - counted} tolerated)"
    warned = len(blocking) - counted
    if not counted:
        return f"{warned} of {plural(len(report.scenarios), 'scenario')} with a warning that blocks"
    return f"{told}, {warned} more with a warning that blocks" if warned else told


def _failed_traces(tests: list[Case]) -> int:
    """On how many traces something failed: each test's own count, or more if different traces are named."""
    named = {
        (violation.trace_file, violation.trace_id)
        for case in tests
        if case.test
        for violation in case.test.violations
        if violation.trace_id is not None and violation.level == "block" and violation.waived is None
    }
    return max(len(named), *(case.test.failed_traces for case in tests if case.test))


def _start(report: Report, all_cases: list[Case]) -> str:
    """Where the suite or policy has the first located reason among what blocks."""
    for case in reasons(report, all_cases):
        if case.scenario is not None:
            first = next((each for each in case.scenario.violations() if each.level == "block"), None)
            where = place(first.policy_file, first.policy_line) if first else _place_of(case)
            return f"; start with {where} ({one_line(case.id)})"
        violation = first_blocking(case.test) if case.test else None
        if violation is not None:
            where = place(violation.policy_file, violation.policy_line) or _place_of(case)
            return f"; start with {where} ({_subject(violation)})" if where else f"; start with {_subject(violation)}"
        if where := _place_of(case):
            return f"; start with {where} ({one_line(case.id)})"
    return ""


def _next(report: Report, all_cases: list[Case]) -> str:
    if report.verdict in ("fail", "error"):
        worst = reasons(report, all_cases)
        if not worst:
            return "Next: see the reasons above"
        if report.verdict == "error" and (remedy := _remedy([*worst, *all_cases])):
            return f"Next: {remedy}"
        return f"Next: {_look_at(report, worst[0])}"
    if warning := _first_warning(all_cases):
        return f"Next: {warning.removeprefix('; ')}"
    if report.partial:
        return "Next: run the whole suite, for thresholds are left out of a partial run"
    return "Nothing to do: the agent may ship"


def _remedy(cases: list[Case]) -> str:
    """What a message says that has to be installed or set."""
    found = (re.search(_REMEDY, case.message) for case in cases)
    return next((f"{one[0]}, and run again" for one in found if one), "")


def _look_at(report: Report, case: Case) -> str:
    """The place of a reason, and what is wrong there."""
    if case.scenario is not None:
        return _look_at_scenario(case, case.scenario)
    violation = first_blocking(case.test) if case.test else None
    if violation is not None:
        policy = place(violation.policy_file, violation.policy_line)
        breaks = f", which breaks {policy}" if policy else f": {_clause(violation.message)}"
        where = trace_place(violation.trace_file, violation.trace_line, violation.trace_id)
        what = headline(violation) if violation.rule else _subject(violation)
        return f"look at {where or 'the traces'}: {what}{breaks}"
    failed = next((one for one in report.scenarios if one.status in _FAILED and one.worst_run), None)
    if failed is not None and failed.worst_run is not None and "; lowered by " in case.message:
        run = failed.worst_run
        where = place(run.file, run.line) or trace_place(None, None, run.trace_id)
        return f"look at scenario {one_line(failed.id)} ({where}), which lowers {one_line(case.id)}"
    about = f"{'test' if case.test else case.group} {one_line(case.id)}"
    at = _place_of(case)
    return f"look at {about}{f' ({at})' if at else ''}: {_clause(case.message)}"


def _look_at_scenario(case: Case, scenario: ScenarioReport) -> str:
    suite = place(scenario.file, scenario.line)
    if scenario.status == "missing":
        return f"record a trace of scenario {one_line(case.id)}, or take it out of the suite ({suite})"
    run = scenario.worst_run
    where = trace_place(run.file, run.line, run.trace_id) if run else ""
    return f"look at {where or 'the suite'}: {one_line(case.id)}, {_clause(case.message)}"


def _subject(violation: Violation) -> str:
    parts = [one_line(part) for part in (violation.tool or violation.rule,) if part]
    if violation.argument is not None:
        name = one_line(violation.argument)
        parts.append(f"{name} = {shown(violation.value, _GLANCE)}" if violation.has_value else name)
    return ", ".join(parts) or _clause(violation.message)


def _place_of(case: Case) -> str:
    if case.line is not None and case.line.file:
        return place(case.line.file, case.line.line)
    return place(case.source.file, case.source.line) if case.source else ""


def _first_warning(all_cases: list[Case]) -> str:
    for case in all_cases:
        if case.ending in ("warning", "never", "tolerated"):
            told = "never exercised" if case.ending == "never" else _clause(case.message)
            run = case.scenario.worst_run if case.scenario else None
            where = place(run.file, run.line) if run else _place_of(case)
            return f"; look at {one_line(case.id)}{f' ({where})' if where else ''}{f': {told}' if told else ''}"
    return ""


def _held(report: Report, all_cases: list[Case]) -> str:
    counts = report.scenario_counts
    parts = [
        _share(sum(case.ending == "pass" for case in all_cases if case.test), len(report.tests), "test"),
        _share(counts.passed if counts else 0, len(report.scenarios), "scenario"),
    ]
    held = " and ".join(part for part in parts if part) or "every condition"
    return f"{held} held on {plural(report.traces.evaluated, 'trace')}"


def _share(held: int, total: int, noun: str) -> str:
    if not total:
        return ""
    return plural(total, noun) if held == total else f"{held} of {plural(total, noun)}"


def _clause(message: str) -> str:
    return cut(one_line(message).rstrip(". "), _CLAUSE)
