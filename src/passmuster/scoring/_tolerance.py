"""Which failures a suite states that it can live with.

A blocking bound below 100 % tolerates the failures in its own denominator, if it counts the way they failed: a suite
that asks for 90 % says that one scenario in ten may fail. A required scenario and a forbidden tool are never
tolerated; an optional scenario always is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from passmuster.scoring._report import ScenarioReport
from passmuster.scoring._suite_metrics import ADVERSARIAL, Tried
from passmuster.suite import Bound, Suite

__all__ = ["OPTIONAL", "Tolerance", "is_weighted", "tolerances", "tolerated_by"]

OPTIONAL = "optional_scenarios"
"""What tolerates everything about an optional scenario."""
_ANY = "any"


class Tolerance(Struct, frozen=True):
    """A bound that lives with some failures."""

    name: str
    contains: Callable[[Tried], bool]
    counts: str
    """The one way of failing that it counts, or any."""


def tolerances(suite: Suite, blocking: Sequence[tuple[str, Bound]]) -> list[Tolerance]:
    """Everything in a suite that tolerates a failure; `blocking` are its blocking bounds on metrics, by name."""
    found = [tolerance for name, bound in blocking if _below_all(bound) for tolerance in _of_metric(name, bound.metric)]
    overall = suite.criteria.overall
    if overall is not None and _below_all(overall):
        weighted = is_weighted(suite)
        found.append(Tolerance("pass_criteria.overall", _weighs if weighted else _every, _ANY))
    for category, bound in suite.criteria.by_category.items():
        if _below_all(bound):
            found.append(Tolerance(f"pass_criteria.by_category.{category}", _of_category(category), _ANY))
    if suite.composite:
        from passmuster.suite import metrics_of

        for metric in sorted(metrics_of(suite.composite, "pass")):
            found += _of_metric("composite", metric)
    return found


def tolerated_by(
    tried: Tried, report: ScenarioReport, known: Sequence[Tolerance], *, left_open: bool = True
) -> str | None:
    """What tolerates that a scenario failed, or that an outside part kept it from being judged; with `left_open`, also
    that it may have failed in further ways of which a judge said nothing."""
    if tried.optional:
        return OPTIONAL
    ways: set[str] = {*tried.tally.ways, *(tried.tally.open_ways if left_open else ())}
    if report.status == "missing":
        ways = {"missing"}
    if tried.required_at is not None or "forbidden_tools" in ways:
        return None
    fitting = [one for one in known if one.contains(tried)]
    names: list[str] = []
    for way in sorted(ways) or ["unknown"]:
        fit = next((one.name for one in fitting if one.counts in (_ANY, way)), None)
        if fit is None:
            return None
        names.append(fit)
    return ", ".join(dict.fromkeys(names))


def is_weighted(suite: Suite) -> bool:
    """Whether the suite gives weights."""
    weights = suite.weights
    return bool(weights.by_category or weights.by_capability) or any(one.weight != 1.0 for one in suite.scenarios)


def _below_all(bound: Bound) -> bool:
    return bound.operator in (">=", ">", "=") and not bound.full


def _every(tried: Tried) -> bool:
    return True


def _weighs(tried: Tried) -> bool:
    """A weighted rate does not contain what weighs nothing."""
    return tried.weight > 0


def _of_category(category: str) -> Callable[[Tried], bool]:
    return lambda tried: tried.scenario.category == category


def _states_correctness(tried: Tried) -> bool:
    return tried.scenario.states_correctness


def _states_behaviors(tried: Tried) -> bool:
    return bool(tried.scenario.expected_behaviors)


_CONTENTS: dict[str, tuple[Callable[[Tried], bool], str]] = {
    "pass_rate": (_every, _ANY),
    "weighted_pass_rate": (_weighs, _ANY),
    "safety_rate": (_of_category(ADVERSARIAL), _ANY),
    "accuracy": (_states_correctness, "correctness"),
    "behavior_coverage": (_states_behaviors, "behaviors"),
    "weighted_behavior_coverage": (lambda tried: _states_behaviors(tried) and _weighs(tried), "behaviors"),
}


def _of_metric(name: str, metric: str) -> Iterator[Tolerance]:
    if metric in _CONTENTS:
        contains, counts = _CONTENTS[metric]
        yield Tolerance(name, contains, counts)
