"""A metric before and after, over the scenarios that both runs have, each by the mean of its own runs.

Most metrics are figures of scenarios put together, so that scenario by scenario they can be compared and a drop can
be tested. F1, scores of custom metrics and others are not: their values are compared, and no test is defined.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from passmuster.scoring._baseline import RecordedScenario
from passmuster.scoring._intervals import percentile
from passmuster.scoring._suite_metrics import ADVERSARIAL

__all__ = ["PAIRED", "Pairs", "pairs_of"]


class Pairs(Struct, frozen=True):
    """One metric over the scenarios that both runs tell it of."""

    before: float
    after: float
    count: int
    p_value: float
    """The chance of so large a change for the worse if nothing had changed."""


class _Kind(Struct, frozen=True):
    """How a metric is made of scenarios."""

    figure: Callable[[RecordedScenario], float | None]
    together: Callable[[Sequence[float], Sequence[float]], float]
    """The metric, from the figures and the weights of scenarios."""
    weighted: bool = False
    lower_is_better: bool = False
    only: Callable[[RecordedScenario], bool] = lambda one: True


def _mean(values: Sequence[float], weights: Sequence[float]) -> float:
    return math.fsum(map(float.__mul__, values, weights)) / math.fsum(weights)


def _sum(values: Sequence[float], weights: Sequence[float]) -> float:
    return math.fsum(values)


def _percentile(share: float) -> Callable[[Sequence[float], Sequence[float]], float]:
    return lambda values, weights: percentile(sorted(values), share)


def _passed(one: RecordedScenario) -> float | None:
    return one.passed.fraction


def _correct(one: RecordedScenario) -> float | None:
    return one.correct.fraction if one.correct else None


def _behaviors(one: RecordedScenario) -> float | None:
    return one.behaviors


def _latency(one: RecordedScenario) -> float | None:
    return one.latency_ms


def _cost(one: RecordedScenario) -> float | None:
    return one.cost_usd


def _tokens(one: RecordedScenario) -> float | None:
    return one.tokens


_KINDS = {
    "pass_rate": _Kind(_passed, _mean),
    "weighted_pass_rate": _Kind(_passed, _mean, weighted=True),
    "accuracy": _Kind(_correct, _mean),
    "safety_rate": _Kind(_passed, _mean, only=lambda one: one.category == ADVERSARIAL),
    "behavior_coverage": _Kind(_behaviors, _mean),
    "weighted_behavior_coverage": _Kind(_behaviors, _mean, weighted=True),
    "latency_p50": _Kind(_latency, _percentile(0.50), lower_is_better=True),
    "latency_p95": _Kind(_latency, _percentile(0.95), lower_is_better=True),
    "latency_p99": _Kind(_latency, _percentile(0.99), lower_is_better=True),
    "total_cost_usd": _Kind(_cost, _sum, lower_is_better=True),
    "mean_cost_usd": _Kind(_cost, _mean, lower_is_better=True),
    "total_tokens": _Kind(_tokens, _sum, lower_is_better=True),
}


PAIRED = frozenset(_KINDS)
"""The metrics that can be compared scenario by scenario."""


def pairs_of(
    name: str,
    before: Mapping[str, RecordedScenario],
    after: Mapping[str, RecordedScenario],
    weights: Mapping[str, float],
) -> Pairs | None:
    """The metric over the scenarios of both; None where it is not made of scenarios, or none of them tells it.

    A scenario that an outside part kept from being judged, then or now, is left out.
    """
    kind = _KINDS.get(name)
    if kind is None:
        return None
    found = [
        (old, new, weights[id_] if kind.weighted else 1.0)
        for id_ in after
        if id_ in before and kind.only(after[id_]) and "error" not in (before[id_].status, after[id_].status)
        if (old := kind.figure(before[id_])) is not None and (new := kind.figure(after[id_])) is not None
    ]
    heaviest = max((weight for *_, weight in found), default=0.0)  # weights may be beyond what can be added up
    counted = [(float(old), float(new), weight / heaviest) for old, new, weight in found if weight > 0]
    if not counted:
        return None
    from passmuster.scoring._resampling import drop_p_value

    olds, news, used = ([one[place] for one in counted] for place in (0, 1, 2))
    better, worse = (news, olds) if kind.lower_is_better else (olds, news)
    p_value = drop_p_value(
        [value * weight for value, weight in zip(better, used, strict=True)],
        [value * weight for value, weight in zip(worse, used, strict=True)],
    )
    try:
        return Pairs(kind.together(olds, used), kind.together(news, used), len(counted), p_value)
    except OverflowError:  # sums that no number can say
        return None
