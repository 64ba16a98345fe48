"""Redaction of a report: secrets hidden and long values cut, before any writer sees it."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from passmuster.checks import Behaviors, CheckReport, Neighbours, Violation
from passmuster.redaction import SENTENCE_LIMIT, Redactor, Words, telling
from passmuster.scoring import Attempt, Flip, GateLine, Report, ScenarioReport, TestReport

_SENTENCES = ("message", "expected", "actual", "constraint", "suggestion", "waived")
_NAMES = ("tool", "argument", "rule", "pattern", "trace_id", "scenario")
# The ids of these lines may come from a trace; those of the others are the suite's own and tie reports together.
_FOREIGN_IDS = frozenset({"input", "error", "baseline"})


def redact_report(report: Report, redactor: Redactor) -> Report:
    """The report with everything that came from traces or custom code made safe to show and keep."""
    # What is hidden as a value somewhere must not come back elsewhere.
    known = Words(
        telling(
            [
                *(word for violation in report.violations() for word in _secrets(violation, redactor)),
                *(word for scenario in report.scenarios for word in scenario.secrets),
            ]
        )
    )
    return replace(
        report,
        tests=[_test(test, redactor, known) for test in report.tests],
        gate=[_gate(line, redactor, known) for line in report.gate],
        scenarios=[_scenario(scenario, redactor, known) for scenario in report.scenarios],
        tools=_tools(report.tools, redactor, known),
        agent_version=None if report.agent_version is None else redactor.text(report.agent_version, known=known),
    )


def _tools(tools: dict[str, int], redactor: Redactor, known: Words) -> dict[str, int]:
    """How often each tool was called; names that are cut alike are one."""
    found: dict[str, int] = {}
    for name, number in tools.items():
        safe = redactor.text(name, known=known)
        found[safe] = found.get(safe, 0) + number
    return found


def _secrets(violation: Violation, redactor: Redactor) -> list[str]:
    """What is hidden of a violation's value for its name or place."""
    if not violation.has_value:
        return []
    return redactor.argument(violation.tool, violation.argument, violation.value)[1]


def _test(test: TestReport, redactor: Redactor, known: Words) -> TestReport:
    return replace(
        test,
        violations=[_violation(violation, redactor, known) for violation in test.violations],
        stats=redactor.value(test.stats, known=known),
        error=None if test.error is None else redactor.ending(test.error, known=known),
    )


def _violation(violation: Violation, redactor: Redactor, known: Words) -> Violation:
    changes: dict[str, Any] = {}
    own: list[str] = []
    if violation.has_value:
        changes["value"], own = redactor.argument(violation.tool, violation.argument, violation.value, known)
    for name in _SENTENCES:
        text = getattr(violation, name)
        if text is not None:
            changes[name] = redactor.text(str(text), SENTENCE_LIMIT, known, own)
    for name in _NAMES:
        text = getattr(violation, name)
        if text is not None:
            changes[name] = redactor.text(str(text))
    if violation.neighbours is not None:
        changes["neighbours"] = _neighbours(violation.neighbours, redactor)
    return replace(violation, **changes)


def _neighbours(neighbours: Neighbours, redactor: Redactor) -> Neighbours:
    return replace(
        neighbours,
        before=None if neighbours.before is None else redactor.text(neighbours.before),
        after=None if neighbours.after is None else redactor.text(neighbours.after),
    )


def _gate(line: GateLine, redactor: Redactor, known: Words) -> GateLine:
    return replace(
        line,
        id=redactor.text(line.id, known=known) if line.kind in _FOREIGN_IDS else line.id,
        message=redactor.text(line.message, SENTENCE_LIMIT, known),
        actual=redactor.value(line.actual, known=known),
        expected=redactor.value(line.expected, known=known),
    )


def _scenario(scenario: ScenarioReport, redactor: Redactor, known: Words) -> ScenarioReport:
    return replace(
        scenario,
        layers={
            name: replace(layer, checks=[_check(check, redactor, known) for check in layer.checks])
            for name, layer in scenario.layers.items()
        },
        behaviors=_behaviors(scenario.behaviors, redactor, known),
        attempts=[_attempt(attempt, redactor, known) for attempt in scenario.attempts],
        flips=None if scenario.flips is None else [_flip(flip, redactor, known) for flip in scenario.flips],
        secrets=(),
    )


def _behaviors(behaviors: Behaviors, redactor: Redactor, known: Words) -> Behaviors:
    def safe(names: list[str]) -> list[str]:
        return [redactor.text(name, SENTENCE_LIMIT, known) for name in names]

    return Behaviors(
        safe(behaviors.observed),
        safe(behaviors.missing),
        safe(behaviors.violated),
        safe(behaviors.undecided),
        [_check(check, redactor, known) for check in behaviors.checks],
    )


def _check(check: CheckReport, redactor: Redactor, known: Words) -> CheckReport:
    return replace(
        check,
        name=redactor.text(check.name, SENTENCE_LIMIT, known),
        message=redactor.text(check.message, SENTENCE_LIMIT, known),
        violations=tuple(_violation(violation, redactor, known) for violation in check.violations),
    )


def _flip(flip: Flip, redactor: Redactor, known: Words) -> Flip:
    return replace(
        flip,
        passed=redactor.text(flip.passed, known=known),
        failed=redactor.text(flip.failed, known=known),
        message=redactor.text(flip.message, SENTENCE_LIMIT, known),
    )


def _attempt(attempt: Attempt, redactor: Redactor, known: Words) -> Attempt:
    return replace(
        attempt,
        trace_id=redactor.text(attempt.trace_id, known=known),
        message=None if attempt.message is None else redactor.text(attempt.message, SENTENCE_LIMIT, known),
    )
