"""The one door into every report: secrets hidden, long values cut, before any writer sees them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from msgspec.structs import replace

from passmuster.checks.outcome import Neighbours, Violation
from passmuster.redaction import SENTENCE_LIMIT, Redactor
from passmuster.scoring.report import Attempt, Behaviors, Flip, GateLine, Report, ScenarioReport, TestReport

__all__ = ["redact_report"]

_SENTENCES = ("message", "expected", "actual", "constraint", "suggestion", "waived")
_NAMES = ("tool", "argument", "rule", "pattern", "trace_id", "scenario")
# The ids of these lines may come from a trace; those of the others are the suite's own and tie reports together.
_FOREIGN_IDS = frozenset({"input", "error", "baseline"})
# Layers are shaped by the suite, so all their checks are kept.
_LAYER_ITEMS = 10_000


def redact_report(report: Report, redactor: Redactor) -> Report:
    """The report with everything that came from traces or custom code made safe to show and keep."""
    known: dict[str, None] = {}
    tests = [_test(test, redactor, known) for test in report.tests]
    words = _telling(known)
    return replace(
        report,
        tests=tests,
        gate=[_gate(line, redactor, words) for line in report.gate],
        scenarios=[_scenario(scenario, redactor, words) for scenario in report.scenarios],
        tools={redactor.text(name, known=words): number for name, number in report.tools.items()},
    )


def _telling(known: Collection[str]) -> list[str]:
    """What was hidden as an argument's value and must not come back elsewhere; short words could be anything."""
    return [word for word in known if len(word) > 5]


def _test(test: TestReport, redactor: Redactor, known: dict[str, None]) -> TestReport:
    violations = [_violation(violation, redactor, known) for violation in test.violations]
    words = _telling(known)
    return replace(
        test,
        violations=violations,
        stats=redactor.value(test.stats, known=words),
        error=None if test.error is None else redactor.ending(test.error, known=words),
    )


def _violation(violation: Violation, redactor: Redactor, known: dict[str, None]) -> Violation:
    changes: dict[str, Any] = {}
    secrets: list[str] = []
    if violation.has_value:
        changes["value"], secrets = redactor.argument(violation.tool, violation.argument, violation.value)
        known.update(dict.fromkeys(secrets))
    for name in _SENTENCES:
        text = getattr(violation, name)
        if text is not None:
            changes[name] = redactor.text(str(text), SENTENCE_LIMIT, secrets)
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


def _gate(line: GateLine, redactor: Redactor, known: Collection[str]) -> GateLine:
    return replace(
        line,
        id=redactor.text(line.id, known=known) if line.kind in _FOREIGN_IDS else line.id,
        message=redactor.text(line.message, SENTENCE_LIMIT, known),
        actual=redactor.value(line.actual, known=known),
        expected=redactor.value(line.expected, known=known),
    )


def _scenario(scenario: ScenarioReport, redactor: Redactor, known: Collection[str]) -> ScenarioReport:
    return replace(
        scenario,
        layers=redactor.value(scenario.layers, known=known, items=_LAYER_ITEMS),
        behaviors=_behaviors(scenario.behaviors, redactor, known),
        attempts=[_attempt(attempt, redactor, known) for attempt in scenario.attempts],
        flips=None if scenario.flips is None else [_flip(flip, redactor, known) for flip in scenario.flips],
        reasons=[redactor.text(reason, SENTENCE_LIMIT, known) for reason in scenario.reasons],
    )


def _behaviors(behaviors: Behaviors, redactor: Redactor, known: Collection[str]) -> Behaviors:
    def safe(names: list[str]) -> list[str]:
        return [redactor.text(name, SENTENCE_LIMIT, known) for name in names]

    return Behaviors(
        safe(behaviors.observed), safe(behaviors.missing), safe(behaviors.violated), safe(behaviors.undecided)
    )


def _flip(flip: Flip, redactor: Redactor, known: Collection[str]) -> Flip:
    return replace(
        flip,
        passed=redactor.text(flip.passed, known=known),
        failed=redactor.text(flip.failed, known=known),
        message=redactor.text(flip.message, SENTENCE_LIMIT, known),
    )


def _attempt(attempt: Attempt, redactor: Redactor, known: Collection[str]) -> Attempt:
    return replace(
        attempt,
        trace_id=redactor.text(attempt.trace_id, known=known),
        message=None if attempt.message is None else redactor.text(attempt.message, SENTENCE_LIMIT, known),
    )
