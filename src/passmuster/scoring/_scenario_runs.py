"""One scenario with its runs, its weight, and whether the suite requires it."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

from msgspec import Struct

from passmuster.checks import Status
from passmuster.scoring._scenario_tally import ScenarioTally
from passmuster.scoring._tally import Tally
from passmuster.suite import Scenario, Suite

RunCounts = tuple[int, int, int]
"""How many runs passed, how many infrastructure or a judge broke, and how many count."""


class ScenarioRuns(Struct, frozen=True):
    """One scenario, its runs and its weight."""

    scenario: Scenario
    tally: ScenarioTally
    weight: float
    optional: bool = False
    required_at: int | None = None
    """The line that requires it."""

    @property
    def missing(self) -> bool:
        """Whether it never ran, though it should have."""
        return not self.tally.runs and not self.tally.not_run

    @property
    def not_run(self) -> bool:
        """Whether it never ran, because the verdict was known without it."""
        return not self.tally.runs and self.tally.not_run > 0

    def runs(self) -> RunCounts:
        """The runs that passed, broke and count. A scenario that is missing failed once."""
        return self._counted(self.tally.statuses)

    def correct_runs(self) -> RunCounts:
        """The same for correctness."""
        return self._counted(self.tally.correct)

    def _counted(self, statuses: dict[Status, int]) -> RunCounts:
        return (0, 0, 1) if self.missing else _counted(statuses)


def _counted(statuses: dict[Status, int]) -> RunCounts:
    passed = statuses.get("pass", 0) + statuses.get("warn", 0)
    broken = statuses.get("error", 0)
    return passed, broken, passed + broken + statuses.get("fail", 0)


def weight_of(scenario: Scenario, suite: Suite) -> float:
    """How much a scenario counts in weighted rates."""
    weights = suite.weights
    category = weights.by_category.get(scenario.category or "", 1.0)
    capability = weights.by_capability.get(scenario.capability or "", 1.0)
    factors = (category, capability, scenario.weight)
    return min(math.prod(factors), sys.float_info.max) if all(factors) else 0.0


def is_weighted(suite: Suite) -> bool:
    """Whether the suite gives scenarios weights."""
    weights = suite.weights
    return bool(weights.by_category or weights.by_capability) or any(one.weight != 1.0 for one in suite.scenarios)


def scenario_runs(suite: Suite, scenarios: Sequence[Scenario], tally: Tally) -> list[ScenarioRuns]:
    """Each of the scenarios with its runs."""
    optional = {listed.id for listed in suite.optional}
    required = {listed.id: listed.line for listed in suite.required}
    return [
        ScenarioRuns(one, tally.scenarios[one.id], weight_of(one, suite), one.id in optional, required.get(one.id))
        for one in scenarios
    ]
