"""The level of a violation: by the test's severity, its own level, and waivers."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from passmuster.checks import LEVELS, Level, Outcome, Status, Violation
from passmuster.suite import Suite, Test, glob_matcher

_RANK: dict[Level, int] = {level: rank for rank, level in enumerate(LEVELS)}
_STATUS: dict[Level, Status] = {"block": "fail", "warn": "warn", "log": "pass"}
_CEILING: dict[Status, Level] = {"fail": "block", "warn": "warn", "pass": "log"}


class _Waiving(Struct, frozen=True):
    index: int
    label: str
    tool: Callable[[str], bool] | None
    scenario: Callable[[str], bool] | None

    def covers(self, violation: Violation) -> bool:
        return (self.tool is None or (violation.tool is not None and self.tool(violation.tool))) and (
            self.scenario is None or (violation.scenario is not None and self.scenario(violation.scenario))
        )


class SeverityPolicy:
    """Applies a test's severity and waivers to its outcomes."""

    def __init__(self, test: Test, suite: Suite, today: datetime.date) -> None:
        self.severity: Level = test.severity
        self.waivers = [
            _Waiving(
                index,
                f"{waiver.reason} (until {waiver.expires.isoformat()})",
                glob_matcher(waiver.tool) if waiver.tool is not None else None,
                glob_matcher(waiver.scenario) if waiver.scenario is not None else None,
            )
            for index, waiver in enumerate(suite.waivers)
            if waiver.test == test.id and waiver.expires >= today
        ]

    def apply(self, outcome: Outcome, scenario: str | None) -> tuple[Outcome, tuple[int, ...]]:
        """The outcome as it counts, and the waivers that were used."""
        if outcome.status in ("error", "skip"):
            return outcome, ()
        ceiling = _lower(self.severity, _CEILING[outcome.status])
        if not outcome.violations:
            return replace(outcome, status=_STATUS[ceiling]) if outcome.status != "pass" else outcome, ()
        used: list[int] = []
        weighed: list[Violation] = []
        for violation in outcome.violations:
            counted = replace(violation, scenario=scenario, level=_lower(violation.level, ceiling))
            waiver = next((waiver for waiver in self.waivers if waiver.covers(counted)), None)
            if waiver is not None:
                used.append(waiver.index)
                counted = replace(counted, level=_lower(counted.level, "warn"), waived=waiver.label)
            weighed.append(counted)
        highest = _highest(weighed)
        if _RANK[_highest(outcome.violations)] < _RANK[_CEILING[outcome.status]]:
            highest = max(highest, ceiling, key=_RANK.__getitem__)  # graver by its own word than its violations are
        return replace(outcome, status=_STATUS[highest], violations=tuple(weighed)), tuple(used)


def _highest(violations: Iterable[Violation]) -> Level:
    return max((violation.level for violation in violations), key=_RANK.__getitem__)


def _lower(a: Level, b: Level) -> Level:
    return a if _RANK[a] <= _RANK[b] else b
