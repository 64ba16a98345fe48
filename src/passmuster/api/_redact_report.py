"""Redaction of a report: secrets hidden and long values cut, before any writer sees it."""

from __future__ import annotations

from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from passmuster.checks import CheckReport, Violation, redact_violation
from passmuster.redaction import SENTENCE_LIMIT, VALUE_LIMIT, Redactor, Words, telling
from passmuster.scoring import GateLine, GroupReport, Report, ScenarioReport, TestReport

T = TypeVar("T", bound=Struct)

# The ids of these lines may come from a trace; those of the others are the suite's own and tie reports together.
_FOREIGN_IDS = frozenset({"input", "error", "baseline"})


def redact_report(report: Report, redactor: Redactor) -> Report:
    """The report with everything that came from traces or custom code made safe to show and keep."""
    safe = _Redaction(redactor, Words(telling(report_secrets(report, redactor))))
    tools: dict[str, int] = {}
    for name, number in report.tools.items():  # names that are cut alike are one
        name = redactor.text(name, known=safe.known)
        tools[name] = tools.get(name, 0) + number
    return replace(
        safe.fields(report, names=("agent_version",)),
        tests=[safe.test(test) for test in report.tests],
        gate=[safe.gate_line(line) for line in report.gate],
        scenarios=[safe.scenario(scenario) for scenario in report.scenarios],
        groups=[safe.group(group) for group in report.groups],
        tools=tools,
        early_stop=report.early_stop and safe.fields(report.early_stop, sentences=("reason",)),
        uncovered_tools=sorted({redactor.text(name, known=safe.known) for name in report.uncovered_tools}),
    )


def report_secrets(report: Report, redactor: Redactor) -> list[str]:
    """What is hidden as a value somewhere, and must not come back elsewhere."""
    secrets = [word for violation in report.violations() for word in _secrets(violation, redactor)]
    return secrets + [word for scenario in report.scenarios for word in scenario.secrets]


def _secrets(violation: Violation, redactor: Redactor) -> list[str]:
    """What is hidden of a violation's value for its name or place."""
    if not violation.has_value:
        return []
    return redactor.argument(violation.tool, violation.argument, violation.value)[1]


class _Redaction:
    """Redacts the parts of one report, whose secrets are `known`."""

    def __init__(self, redactor: Redactor, known: Words) -> None:
        self.redactor, self.known = redactor, known

    def fields(self, part: T, *, names: tuple[str, ...] = (), sentences: tuple[str, ...] = ()) -> T:
        """A part with these texts redacted, where it has them."""
        limits = dict.fromkeys(names, VALUE_LIMIT) | dict.fromkeys(sentences, SENTENCE_LIMIT)
        safe = {
            name: self.redactor.text(text, limit, self.known)
            for name, limit in limits.items()
            if (text := getattr(part, name)) is not None
        }
        return replace(part, **safe)

    def test(self, test: TestReport) -> TestReport:
        return replace(
            test,
            violations=[self.violation(violation) for violation in test.violations],
            stats=self.redactor.value(test.stats, known=self.known),
            error=None if test.error is None else self.redactor.ending(test.error, known=self.known),
        )

    def violation(self, violation: Violation) -> Violation:
        return redact_violation(violation, self.redactor, self.known)

    def gate_line(self, line: GateLine) -> GateLine:
        return replace(
            self.fields(line, names=("id",) if line.kind in _FOREIGN_IDS else (), sentences=("message",)),
            actual=self.redactor.value(line.actual, known=self.known),
            expected=self.redactor.value(line.expected, known=self.known),
        )

    def group(self, group: GroupReport) -> GroupReport:
        values = group.by.items()
        by = {key: None if one is None else self.redactor.text(one, VALUE_LIMIT, self.known) for key, one in values}
        return replace(group, by=by)

    def scenario(self, scenario: ScenarioReport) -> ScenarioReport:
        behaviors, flips = scenario.behaviors, scenario.flips
        listed = {
            name: [self.redactor.text(one, SENTENCE_LIMIT, self.known) for one in getattr(behaviors, name)]
            for name in ("observed", "missing", "violated", "undecided")
        }
        layers = {
            name: replace(layer, checks=[self.check(check) for check in layer.checks])
            for name, layer in scenario.layers.items()
        }
        attempts = [self.fields(one, names=("trace_id",), sentences=("message",)) for one in scenario.attempts]
        return replace(
            scenario,
            layers=layers,
            behaviors=replace(behaviors, checks=list(map(self.check, behaviors.checks)), **listed),
            attempts=attempts,
            flips=flips and [self.fields(one, names=("passed", "failed"), sentences=("message",)) for one in flips],
            secrets=(),
            worst_run=scenario.worst_run and self.fields(scenario.worst_run, names=("trace_id",)),
        )

    def check(self, check: CheckReport) -> CheckReport:
        safe = self.fields(check, sentences=("name", "message"))
        return replace(safe, violations=tuple(map(self.violation, check.violations)))
