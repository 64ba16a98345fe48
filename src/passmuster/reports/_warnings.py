"""What does not block and should be known, in a line each."""

from __future__ import annotations

from collections.abc import Iterator

from passmuster._problems import plural
from passmuster.reports._cases import Case
from passmuster.reports._reasons import BLOCKING
from passmuster.reports._screen import Line
from passmuster.reports._text import cut, one_line, place, test_name
from passmuster.reports._violation_groups import group_line, grouped
from passmuster.scoring import Report, TestReport

_NAMED = 5
_GLANCE = 60
_RULES = 10
"""Rules of one test that are named as never exercised; the JSON report has a line for each."""
_MESSAGE = 240
_FIRST = ("input", "judge", "error", "vacuous", "baseline", "threshold", "criteria", "composite", "tests", "scenarios")


def warning_lines(report: Report, all_cases: list[Case]) -> list[Line]:
    """The warnings, those about the gate itself first; what a bound tolerates is one line per bound."""
    rules = {f"{test.id}.rules[{n}]": test for test in report.tests for n, _ in test.idle_rules()}
    of_rules = {case.id: case for case in all_cases if case.group == "vacuous" and case.id in rules}
    told = [
        case for case in all_cases if case.ending not in ("pass", "tolerated", *BLOCKING) and case.id not in of_rules
    ]
    told.sort(key=lambda case: _FIRST.index(case.group) if case.group in _FIRST else len(_FIRST))
    lines = [(line, "yellow") for line in _told(told)]
    lines += [(line, "yellow") for test in report.tests for line in _idle_rules(test, of_rules)]
    return [*lines, *((line, "yellow") for line in _tolerated(all_cases))]


def _told(told: list[Case]) -> Iterator[str]:
    """A line for each warning; tests that were skipped on as many traces for one reason share theirs."""
    skipped: dict[str, list[str]] = {}
    for case in told:
        if why := _why_skipped(case):
            skipped.setdefault(why, []).append(one_line(case.id))
    for case in told:
        same = skipped.get(_why_skipped(case), [])
        if len(same) < 2:
            yield _warning(case)
        elif same[0] == one_line(case.id):
            more = f" and {len(same) - _NAMED} more" if len(same) > _NAMED else ""
            count, _, why = cut(one_line(_why_skipped(case)), _MESSAGE).partition(": ")
            yield f"⚠ WARN: {len(same)} tests skipped on {count} traces ({', '.join(same[:_NAMED])}{more}): {why}"


def _why_skipped(case: Case) -> str:
    """On how many traces a test was skipped, and why; nothing where the warning is of another kind."""
    return case.message.partition(" was skipped on ")[2] if case.group == "vacuous" and not case.scenario else ""


def _warning(case: Case) -> str:
    if case.test:
        return f"{_mark(case)}: {test_name(case.test)}  {_of_test(case, case.test)}"
    kind = "scenario" if case.scenario else "not checked:" if case.group == "vacuous" else case.group
    run = case.scenario.worst_run if case.scenario else None
    where = f" ({place(case.line.file, case.line.line)})" if case.line is not None and case.line.file else ""
    if run is not None:
        where = f"; {place(run.file, run.line) or f'trace {one_line(run.trace_id)}'}"
    return f"{_mark(case)}: {kind} {one_line(case.id)}: {cut(one_line(case.message), _MESSAGE)}{where}"


def _mark(case: Case) -> str:
    return {"never": "⚠ NOT EXERCISED", "skip": "⚠ SKIP"}.get(case.ending, "⚠ WARN")


def _of_test(case: Case, test: TestReport) -> str:
    groups = grouped(test.violations)
    if not groups or case.ending in ("never", "skip"):
        message = case.message.partition(" was never exercised ")[2] or case.message
        told = cut(one_line(message), _MESSAGE) or plural(test.traces, "trace")
        return f"{told} ({place(test.file, test.line)})"
    more = f"; and {len(groups) - 1} more" if len(groups) > 1 else ""
    return f"{group_line(groups[0])}{more}"


def _idle_rules(test: TestReport, cases_of_rules: dict[str, Case]) -> Iterator[str]:
    """The rules of a test that no trace exercised, in one line; those that block are told with the reasons."""
    idle = [
        (rule, case)
        for n, rule in test.idle_rules()
        if (case := cases_of_rules.get(f"{test.id}.rules[{n}]")) is None or case.ending not in BLOCKING
    ]
    if not idle:
        return
    told = [
        f"{one_line(rule.type)} at line {rule.line}{f' ({one_line(rule.description)})' if rule.description else ''}"
        f"{one_line(case.message.partition(' was never exercised')[2]) if case else ''}"
        for rule, case in idle
    ]
    more = f" and {len(told) - _RULES} more" if len(told) > _RULES else ""
    count = f"{len(idle)} of {plural(len(test.rules), 'rule')} never exercised"
    yield f"⚠ NOT EXERCISED: {test_name(test)}  {count}: {'; '.join(told[:_RULES])}{more}"


def _tolerated(all_cases: list[Case]) -> Iterator[str]:
    """What failed and is tolerated, one line for each bound that tolerates it."""
    by: dict[str, list[Case]] = {}
    for case in all_cases:
        if case.ending == "tolerated" and case.line is not None and case.line.tolerated_by:
            by.setdefault(case.line.tolerated_by, []).append(case)
    for name, found in by.items():
        ids = list(dict.fromkeys(one_line(case.id) for case in found))
        more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
        what = plural(len(ids), "failed scenario" if all(case.scenario for case in found) else "line")
        if name == "repeat_policy":
            what = f"{plural(len(ids), 'scenario')} with failed runs"
        first = next((case.scenario.worst_run for case in found if case.scenario and case.scenario.worst_run), None)
        at = f"; first: {place(first.file, first.line)}" if first and first.file else ""
        yield (
            f"⚠ TOLERATED: {what} by {one_line(name)}: {', '.join(ids[:_NAMED])}{more}"
            f" ({cut(one_line(found[0].message), _GLANCE)}{at})"
        )
