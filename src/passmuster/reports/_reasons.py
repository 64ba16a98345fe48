"""Why the gate did not pass: what blocks, the worst first."""

from __future__ import annotations

from msgspec.structs import replace

from passmuster.checks import Violation
from passmuster.reports._cases import Case, Ending
from passmuster.scoring import GateLine, Report, ScenarioReport, TestReport

BLOCKING: tuple[Ending, ...] = ("fail", "error")

_REQUIRED, _FORBIDDEN, _MEASURED, _OTHER = range(4)


def reasons(report: Report, all_cases: list[Case]) -> list[Case]:
    """The cases that block: required scenarios, then what is forbidden, then by how far each is from passing.

    A required scenario is one reason, though it has two gate lines.
    """
    required = {case.id: case for case in all_cases if case.group == "required" and case.ending in BLOCKING}
    by_id = {scenario.id: scenario for scenario in report.scenarios}
    found = [
        replace(case, source=by_id.get(case.id, case.source)) if case.group == "required" else case
        for case in all_cases
        if case.ending in BLOCKING and not (case.scenario and case.id in required)
    ]
    return sorted(found, key=lambda case: _rank(case, case.id in required))


def first_blocking(test: TestReport) -> Violation | None:
    """The violation to look at first: one that blocks, where there is one."""
    blocking = (one for one in test.violations if one.level == "block" and one.waived is None)
    return next(blocking, test.violations[0] if test.violations else None)


def _rank(case: Case, required: bool) -> tuple[int, float]:
    if required and not case.test:
        return _REQUIRED, 0.0
    if case.test:
        test = case.test
        share = test.failed_traces / test.traces if test.traces else 0.0
        return (_FORBIDDEN if test.metric == "tool_blocklist" and test.violations else _MEASURED), -share
    if case.scenario:
        return (_FORBIDDEN if _did_forbidden(case.scenario) else _MEASURED), (case.scenario.pass_rate or 0.0) - 1.0
    distance = _distance(case.line) if case.line else None
    return (_OTHER, 0.0) if distance is None else (_MEASURED, -distance)


def _did_forbidden(scenario: ScenarioReport) -> bool:
    if scenario.behaviors.violated:
        return True
    checks = (check for layer in scenario.layers.values() for check in layer.checks)
    return any(check.name == "forbidden_tools" and check.status == "fail" for check in checks)


def _distance(line: GateLine) -> float | None:
    """How far a metric is from its bound: points of a rate, else a share of the bound; at most 1."""
    bound, actual = line.bound, line.actual
    if bound is None or isinstance(actual, (bool, str)):
        return None
    if actual is None:
        return 1.0
    gap = abs(actual - bound.value)
    return min(1.0, gap if max(abs(bound.value), abs(actual)) <= 1 else gap / abs(bound.value or actual))
