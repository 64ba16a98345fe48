"""Blocking bounds on rates that are a plain share of the planned runs, so that a random part of these tells of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from passmuster.scoring._metric import SuiteMetric
from passmuster.scoring._metrics import headline_metric, metric_named
from passmuster.scoring._scenario_runs import ScenarioRuns, scenario_runs
from passmuster.scoring._settings import Settings
from passmuster.scoring._suite_gate import blocking_bounds, stages_of
from passmuster.scoring._tally import Tally
from passmuster.suite import Bound, Suite


class RateLine(Struct, frozen=True):
    """A line of the gate that fails if at least `limit` of all runs of its scenarios fail."""

    kind: str
    id: str
    expected: str
    scenarios: frozenset[str]
    runs: int
    limit: int
    correctness: bool
    """Whether a run counts as failed for its correctness alone."""


def rate_lines(suite: Suite, tally: Tally, settings: Settings, planned: Mapping[str, int]) -> list[RateLine]:
    """The lines of a suite that are decided by a share of the planned runs.

    Weights and different numbers of repeats make a rate something else than a share of runs; such lines are left out.
    """
    if settings.partial or not suite.states_bounds:
        return []
    chosen = scenario_runs(suite, [scenario for scenario in suite.scenarios if scenario.selected], tally)
    found = (_rate_line(*one, chosen, planned) for one in _bounds(suite, tally, settings))
    return [line for line in found if line is not None]


def _bounds(
    suite: Suite, tally: Tally, settings: Settings
) -> Iterator[tuple[str, str, Bound, SuiteMetric, str | None]]:
    """Kind, id, bound and metric of each, and the category that it is over."""
    for _, bound in blocking_bounds(suite, stages_of(suite, settings, tally)):
        yield "threshold", bound.metric, bound, metric_named(bound.metric), None
    if suite.criteria.overall is not None:
        yield "criteria", "overall", suite.criteria.overall, headline_metric(suite), None
    for category, bound in suite.criteria.by_category.items():
        yield "criteria", f"by_category.{category}", bound, metric_named("pass_rate"), category


def _rate_line(
    kind: str,
    id_: str,
    bound: Bound,
    metric: SuiteMetric,
    category: str | None,
    chosen: Sequence[ScenarioRuns],
    planned: Mapping[str, int],
) -> RateLine | None:
    counted = metric.tolerates
    if counted is None or counted.way not in ("any", "correctness") or not metric.monotone:
        return None
    within = [one for one in chosen if counted.contains(one) and category in (None, one.scenario.category)]
    sizes = {(planned.get(one.scenario.id, 0), one.weight if metric.weighted else 1.0) for one in within}
    if len(sizes) != 1 or bound.confidence is not None or bound.operator not in (">=", ">"):
        return None
    runs = sum(planned[one.scenario.id] for one in within)
    limit = _first_failure(bound.holds, runs)
    ids = frozenset(one.scenario.id for one in within)
    return RateLine(kind, id_, bound.text, ids, runs, limit, counted.way == "correctness") if limit else None


def _first_failure(holds: Callable[[float], bool], runs: int) -> int:
    """How many failed runs it takes to break a bound on the share that passed."""
    return next((failed for failed in range(runs + 1) if not holds((runs - failed) / runs)), runs + 1)
