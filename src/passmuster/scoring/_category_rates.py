"""The pass rate of each category, for reports that show them side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from passmuster.scoring._intervals import rate_interval
from passmuster.scoring._report import ScenarioReport


class CategoryRate(Struct, frozen=True):
    """The mean over a category's scenarios of the fraction of runs that passed."""

    category: str
    """Empty for scenarios without one."""
    value: float | None
    n: int
    ci95: tuple[float, float] | None


def category_rates(scenarios: Sequence[ScenarioReport]) -> list[CategoryRate]:
    """The pass rates by category, in the order of the suite. A scenario whose every run was skipped is left out."""
    runs: dict[str, list[tuple[int, int]]] = {}
    for scenario in scenarios:
        counted = runs.setdefault(scenario.category or "", [])
        if scenario.status == "missing":
            counted.append((0, 1))
        elif scenario.pass_rate is not None:
            # Of many runs only the first are listed, and these may all have been skipped.
            decided = sum(attempt.status != "skip" for attempt in scenario.attempts) or scenario.runs
            counted.append((round(scenario.pass_rate * decided), decided))
    return [_rate(category, counted) for category, counted in runs.items()]


def _rate(category: str, counted: list[tuple[int, int]]) -> CategoryRate:
    if not counted:
        return CategoryRate(category, None, 0, None)
    value = math.fsum(passed / of for passed, of in counted) / len(counted)
    return CategoryRate(category, value, len(counted), rate_interval(counted))
