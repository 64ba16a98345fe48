"""The last line of the console: one sentence that a person can act on."""

from __future__ import annotations

from passmuster._problems import plural
from passmuster.checks import Violation
from passmuster.reports._cases import Case
from passmuster.reports._text import one_line, place, shown
from passmuster.scoring import Report

_GLANCE = 60


def closing_sentence(report: Report, all_cases: list[Case]) -> str:
    """The verdict, its main reason, and where to start."""
    partial = " (a partial run)" if report.partial else ""
    if report.verdict == "error":
        return f"ERROR{partial}: the gate could not be decided{_reason(all_cases)}{_start(all_cases)}."
    if report.verdict == "fail":
        return f"FAIL{partial}: {_failures(report, all_cases)}{_start(all_cases)}."
    warnings = sum(line.status != "pass" and line.level == "warning" for line in report.gate)
    if report.verdict == "warn" or warnings:
        noun = plural(max(warnings, 1), "warning")
        return f"PASS with {noun}{partial}: {_held(report, all_cases)}{_first_warning(all_cases)}."
    return f"PASS{partial}: {_held(report, all_cases)}."


def _failures(report: Report, all_cases: list[Case]) -> str:
    parts: list[str] = []
    broken = [case for case in all_cases if case.ending in ("fail", "error")]
    tests = [case for case in broken if case.test]
    if tests:
        failed = _failed_traces(tests)
        on = f" on {failed} of {plural(report.traces.evaluated, 'trace')}" if failed else ""
        parts.append(f"{len(tests)} of {plural(len(report.tests), 'test')} failed{on}")
    scenarios = [case for case in broken if case.scenario]
    if scenarios:
        parts.append(f"{len(scenarios)} of {plural(len(report.scenarios), 'scenario')} failed")
    others = [case for case in broken if not case.test and not case.scenario]
    if others and not parts:
        parts.append(f"{others[0].group} {one_line(others[0].id)}: {_clause(others[0].message)}")
        others = others[1:]
    if others:
        parts.append(f"{plural(len(others), 'more reason' if parts else 'reason')} above")
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts) or "see above"


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


def _start(all_cases: list[Case]) -> str:
    """Where to look first: the first located reason among what blocks."""
    for case in all_cases:
        if case.ending not in ("fail", "error"):
            continue
        if case.scenario is not None:
            first = next((each for each in case.scenario.violations() if each.level == "block"), None)
            where = place(first.policy_file, first.policy_line) if first else _place_of(case)
            return f"; start with {where} ({one_line(case.id)})"
        violation = _first_blocking(case)
        if violation is not None:
            where = place(violation.policy_file, violation.policy_line) or _place_of(case)
            return f"; start with {where} ({_subject(violation)})" if where else f"; start with {_subject(violation)}"
        if where := _place_of(case):
            return f"; start with {where} ({one_line(case.id)})"
    return ""


def _first_blocking(case: Case) -> Violation | None:
    violations = case.test.violations if case.test else []
    blocking = (each for each in violations if each.level == "block" and each.waived is None)
    return next(blocking, violations[0] if violations else None)


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


def _reason(all_cases: list[Case]) -> str:
    for case in all_cases:
        if case.ending == "error" and case.message:
            return f": {_clause(case.message)}"
    return ""


def _first_warning(all_cases: list[Case]) -> str:
    for case in all_cases:
        if case.ending in ("warning", "never", "tolerated"):
            told = "never exercised" if case.ending == "never" else _clause(case.message)
            where = _place_of(case)
            return f"; look at {one_line(case.id)}{f' ({where})' if where else ''}{f': {told}' if told else ''}"
    return ""


def _held(report: Report, all_cases: list[Case]) -> str:
    parts = [
        _share(sum(case.ending == "pass" for case in all_cases if case.test), len(report.tests), "test"),
        _share(sum(case.ending == "pass" for case in all_cases if case.scenario), len(report.scenarios), "scenario"),
    ]
    held = " and ".join(part for part in parts if part) or "every condition"
    return f"{held} held on {plural(report.traces.evaluated, 'trace')}"


def _share(held: int, total: int, noun: str) -> str:
    if not total:
        return ""
    return plural(total, noun) if held == total else f"{held} of {plural(total, noun)}"


def _clause(message: str) -> str:
    return one_line(message).rstrip(". ")
