"""A metric in a baseline and now, over the scenarios that both runs have, each by the mean of its own runs.

Metrics that declare a `Pairing` are compared scenario by scenario, and a drop can be tested. F1, scores of custom
metrics and others declare none: their values are compared, and no test is defined.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from passmuster.scoring._baseline import RecordedScenario
from passmuster.scoring._metric import SuiteMetric


class Pairs(Struct, frozen=True):
    """One metric over the scenarios that both runs tell it of."""

    before: float
    after: float
    count: int
    p_value: float
    """The chance of so large a change for the worse if nothing had changed."""


def pairs_of(
    metric: SuiteMetric,
    before: Mapping[str, RecordedScenario],
    after: Mapping[str, RecordedScenario],
    weights: Mapping[str, float],
) -> Pairs | None:
    """The metric over the scenarios of both; None where it is not made of scenarios, or none of them tells it.

    A scenario with an infrastructure or judge error, then or now, is left out.
    """
    pairing = metric.pairing
    if pairing is None:
        return None
    found = [
        (old, new, weights[id_] if metric.weighted else 1.0)
        for id_ in after
        if id_ in before and pairing.contains(after[id_]) and "error" not in (before[id_].status, after[id_].status)
        if (old := pairing.figure(before[id_])) is not None and (new := pairing.figure(after[id_])) is not None
    ]
    heaviest = max((weight for *_, weight in found), default=0.0)  # weights may be beyond what can be added up
    counted = [(float(old), float(new), weight / heaviest) for old, new, weight in found if weight > 0]
    if not counted:
        return None
    from passmuster.scoring._resampling import drop_p_value

    olds, news, used = ([one[place] for one in counted] for place in (0, 1, 2))
    better, worse = (news, olds) if metric.better == "down" else (olds, news)
    p_value = drop_p_value(
        [value * weight for value, weight in zip(better, used, strict=True)],
        [value * weight for value, weight in zip(worse, used, strict=True)],
    )
    try:
        return Pairs(pairing.combine(olds, used), pairing.combine(news, used), len(counted), p_value)
    except OverflowError:  # sums that no number can say
        return None
