"""One metric over the scenarios that two runs have in common, and whether it got worse."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from passmuster.scoring._baseline import RecordedScenario, Share
from passmuster.scoring._drops import (
    Method,
    mean_rise_p_value,
    percentile_of,
    percentile_rise_p_value,
    rate_drop_p_value,
)
from passmuster.scoring._metric import Pairing, SuiteMetric

Figures = Sequence[float]


class Pairs(Struct, frozen=True):
    """One metric over the scenarios that both runs tell it of."""

    before: float
    after: float
    count: int
    p_value: float
    """The chance of so large a change for the worse if it were no larger than `max_drop`."""


def pairs_of(
    metric: SuiteMetric,
    before: Mapping[str, RecordedScenario],
    after: Mapping[str, RecordedScenario],
    weights: Mapping[str, float],
    max_drop: float = 0.0,
    method: Method = "runs",
) -> Pairs | None:
    """The metric over the scenarios of both; None where it is not made of scenarios, or none of them tells it.

    A scenario with an infrastructure or judge error, then or now, is left out.
    """
    pairing = metric.pairing
    if pairing is None:
        return None
    found = [
        (before[id_], after[id_], weights[id_] if metric.weighted else 1.0)
        for id_ in after
        if id_ in before and pairing.contains(after[id_]) and "error" not in (before[id_].status, after[id_].status)
    ]
    heaviest = max((weight for *_, weight in found), default=0.0)  # weights may be beyond what can be added up
    counted = [(then, now, weight / heaviest) for then, now, weight in found if weight > 0]
    try:
        if pairing.share is not None:
            return _rates(pairing.share, counted, max_drop, method)
        return _figures(metric, pairing, counted, max_drop, method)
    except OverflowError:  # sums that no number can say
        return None


def _rates(
    share: Callable[[RecordedScenario], Share | None],
    found: Sequence[tuple[RecordedScenario, RecordedScenario, float]],
    max_drop: float,
    method: Method,
) -> Pairs | None:
    shares = [(share(then), share(now), weight) for then, now, weight in found]
    pairs = [
        ((old.passed, old.counted - old.broken), (new.passed, new.counted - new.broken), weight)
        for old, new, weight in shares
        if old and new and old.counted > old.broken and new.counted > new.broken
    ]
    if not pairs:
        return None
    whole = math.fsum(weight for *_, weight in pairs)
    before = math.fsum(weight * (old[0] / old[1]) for old, _, weight in pairs) / whole
    after = math.fsum(weight * (new[0] / new[1]) for _, new, weight in pairs) / whole
    return Pairs(before, after, len(pairs), rate_drop_p_value(pairs, max_drop, method))


def _figures(
    metric: SuiteMetric,
    pairing: Pairing,
    found: Sequence[tuple[RecordedScenario, RecordedScenario, float]],
    max_drop: float,
    method: Method,
) -> Pairs | None:
    """Figures of runs. Where runs are counted, a scenario weighs as much as it has runs now: the value of now is then
    that of the metric, and that of then is what it would have been with as many runs."""
    told = [(pairing.figures(then), pairing.figures(now), weight) for then, now, weight in found]
    pairs = [(old, new, float(len(new)) if pairing.by_runs else weight) for old, new, weight in told if old and new]
    if not pairs:
        return None
    then, now = [(old, w) for old, _, w in pairs], [(new, w) for _, new, w in pairs]
    if pairing.percentile is not None:
        q = pairing.percentile
        p_value = percentile_rise_p_value(pairs, q, max_drop, method)
        return Pairs(percentile_of(then, q), percentile_of(now, q), len(pairs), p_value)
    whole = 1.0 if pairing.total else math.fsum(w for *_, w in pairs)
    before, after = (math.fsum(_mean(x) * w for x, w in side) / whole for side in (then, now))
    if metric.better == "down":
        return Pairs(before, after, len(pairs), mean_rise_p_value(pairs, max_drop, method))
    if max_drop and before - after <= max_drop:
        return Pairs(before, after, len(pairs), 1.0)
    allowed = 1 - max_drop / before if before else 1.0
    turned = [(new, [x * allowed for x in old], w) for old, new, w in pairs]
    return Pairs(before, after, len(pairs), mean_rise_p_value(turned, 0.0, method))


def _mean(values: Figures) -> float:
    return math.fsum(values) / len(values)
