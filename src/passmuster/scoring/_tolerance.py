"""Which failures of scenarios a suite tolerates.

A blocking bound below 100 % tolerates the failures in its own denominator, if it counts the way they failed: a suite
that asks for 90 % says that one scenario in ten may fail. A required scenario and a forbidden tool are never
tolerated; an optional scenario always is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from passmuster.scoring._metric import SuiteMetric, Tolerates
from passmuster.scoring._metrics import headline_metric, metric_named
from passmuster.scoring._report import ScenarioReport
from passmuster.scoring._scenario_runs import ScenarioRuns
from passmuster.suite import Bound, Suite

OPTIONAL = "optional_scenarios"
"""What tolerates everything about an optional scenario."""


class Tolerance(Struct, frozen=True):
    """A bound that tolerates some failures."""

    name: str
    tolerates: Tolerates


def tolerances(suite: Suite, blocking: Sequence[tuple[str, Bound]]) -> list[Tolerance]:
    """Everything in a suite that tolerates a failure; `blocking` are its blocking bounds on metrics, by name."""
    found = [one for name, bound in blocking if _below_all(bound) for one in _of(name, metric_named(bound.metric))]
    overall = suite.criteria.overall
    if overall is not None and _below_all(overall):
        found += _of("pass_criteria.overall", headline_metric(suite))
    for category, bound in suite.criteria.by_category.items():
        if _below_all(bound):
            found.append(Tolerance(f"pass_criteria.by_category.{category}", Tolerates(_of_category(category))))
    return found + _of_composite(suite) if suite.composite else found


def _of_composite(suite: Suite) -> list[Tolerance]:
    """The rates that the formulas ask for; one that may be as low as it likes is no tolerance of failures."""
    from passmuster.scoring._formula_values import metrics_of
    from passmuster.scoring._tautology import asks_for_more

    found = sorted(metrics_of(suite.composite, "pass"))
    rates = [name for name in found if metric_named(name).rate]
    return [
        one
        for name in found
        for one in _of("composite", metric_named(name))
        if asks_for_more(suite.composite, name, rates)
    ]


def tolerated_by(
    runs: ScenarioRuns, report: ScenarioReport, known: Sequence[Tolerance], *, left_open: bool = True
) -> str | None:
    """What tolerates that a scenario failed or could not be evaluated. With `left_open`, also the further ways in
    which it may have failed, where a judge gave no verdict."""
    if runs.optional:
        return OPTIONAL
    ways: set[str] = {*runs.tally.ways, *(runs.tally.open_ways if left_open else ())}
    if report.status == "missing":
        ways = {"missing"}
    if runs.required_at is not None or "forbidden_tools" in ways:
        return None
    fitting = [one for one in known if one.tolerates.contains(runs)]
    names: list[str] = []
    for way in sorted(ways) or ["unknown"]:
        fit = next((one.name for one in fitting if one.tolerates.way in ("any", way)), None)
        if fit is None:
            return None
        names.append(fit)
    return ", ".join(dict.fromkeys(names))


def _below_all(bound: Bound) -> bool:
    return bound.operator in (">=", ">", "=") and not bound.full


def _of_category(category: str) -> Callable[[ScenarioRuns], bool]:
    return lambda one: one.scenario.category == category


def _of(name: str, metric: SuiteMetric) -> list[Tolerance]:
    return [Tolerance(name, metric.tolerates)] if metric.tolerates else []
