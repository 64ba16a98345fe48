"""Counts by group of traces, in bounded memory and the same for any split of the traces.

Only the first groups in the order of their values are told apart. Whichever way the traces are split, a group that is
among the first of all is among the first of any part of them, so that its counts are complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

from passmuster.scoring._durations import Durations
from passmuster.scoring._group_keys import shortened, values_of
from passmuster.scoring._scenario_tally import Figure
from passmuster.traces import Totals, totals_of

if TYPE_CHECKING:
    from passmuster.scoring._tally import Evaluation

GROUPS = 1_000
"""Groups that are told apart; the traces of all others are counted together."""
_EXACT = 10_000
"""Durations of a group up to which its percentiles are exact."""


class GroupTest(Struct):
    """One test on the traces of a group."""

    traces: int = 0
    failed: int = 0
    violations: int = 0

    def merge(self, other: GroupTest) -> None:
        self.traces += other.traces
        self.failed += other.failed
        self.violations += other.violations


class GroupTally(Struct):
    """The traces of one group."""

    values: tuple[str | None, ...]
    """Of the keys, in their order."""
    tests: dict[int, GroupTest] = field(default_factory=dict)
    """By the test's place in the suite."""
    traces: int = 0
    failed: int = 0
    """Traces on which a test or the scenario failed."""
    runs: int = 0
    """Runs of scenarios that were decided."""
    passed: int = 0
    durations: Durations = field(default_factory=lambda: Durations(_EXACT))
    cost: Figure = field(default_factory=Figure)
    tokens: Figure = field(default_factory=Figure)

    def add(self, evaluation: Evaluation, spent: Totals) -> None:
        self.traces += 1
        failed = False
        for result in evaluation.results:
            outcome = result.outcome
            test = self.tests.get(result.test)
            if test is None:
                test = self.tests[result.test] = GroupTest()
            test.traces += 1
            test.violations += len(outcome.violations)
            if outcome.status in ("fail", "error"):
                test.failed += 1
                failed = True
        if evaluation.scenario is not None:
            passed = _passed(evaluation)
            self.runs += passed is not None
            self.passed += passed is True
            failed = failed or passed is False
        self.failed += failed
        if spent.duration_ms is not None:
            self.durations.add(spent.duration_ms)
        self.cost.add(spent.cost_usd)
        self.tokens.add(spent.tokens)

    def merge(self, other: GroupTally) -> None:
        for place, test in other.tests.items():
            if place in self.tests:
                self.tests[place].merge(test)
            else:
                self.tests[place] = test
        self.traces += other.traces
        self.failed += other.failed
        self.runs += other.runs
        self.passed += other.passed
        self.durations.merge(other.durations)
        self.cost.merge(other.cost)
        self.tokens.merge(other.tokens)


def _passed(evaluation: Evaluation) -> bool | None:
    """Whether a run of a scenario passed; None where nothing in it was decided."""
    if evaluation.trace.error is not None:
        return False
    if evaluation.seen is None:
        return None
    return None if evaluation.seen.status == "skip" else evaluation.seen.status in ("pass", "warn")


class Groups(Struct):
    """The traces by the values of one key or several."""

    keys: tuple[str, ...]
    known: list[int]
    """For each key, how many traces have it."""
    groups: dict[str, GroupTally] = field(default_factory=dict)
    """By their values as text, which is also their order."""
    other: GroupTally | None = None
    """The groups that are not told apart."""

    def add(self, evaluation: Evaluation, spent: Totals | None = None) -> None:
        """Count one trace."""
        values = tuple([shortened(value(evaluation)) for value in values_of(self.keys)])
        for place, value in enumerate(values):
            self.known[place] += value is not None
        name = ascii(values)
        group = self.groups.get(name)
        if group is None:
            group = self.groups[name] = GroupTally(values)
        group.add(evaluation, spent or totals_of(evaluation.trace))
        if len(self.groups) > GROUPS:
            self._fold()

    def merge(self, other: Groups) -> None:
        """Take in the groups of another part of the traces."""
        self.known = [a + b for a, b in zip(self.known, other.known, strict=True)]
        for name, group in other.groups.items():
            if name in self.groups:
                self.groups[name].merge(group)
            else:
                self.groups[name] = group
        if other.other is not None:
            self._take(other.other)
        self._fold()

    def _fold(self) -> None:
        for name in sorted(self.groups)[GROUPS:]:
            self._take(self.groups.pop(name))

    def _take(self, group: GroupTally) -> None:
        if self.other is None:
            self.other = GroupTally(())
        self.other.merge(group)


def groups_by(keys: tuple[str, ...]) -> Groups | None:
    """An empty tally of groups by these keys; None without keys."""
    return Groups(keys, [0] * len(keys)) if keys else None
