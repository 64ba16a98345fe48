"""Percentiles of the runs' durations and their intervals, the scenarios being the sample."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from passmuster.scoring._quantiles import beta_below, normal_quantile, t_quantile

Interval = tuple[float, float]

_PRIOR = 0.1
"""As for rates: variance that is assumed besides what is seen."""


def percentile(ordered: Sequence[float], q: float) -> float:
    """The value below which a part q of the sorted values lies, linear between neighbours (Hyndman and Fan, 1996,
    type 7)."""
    place = q * (len(ordered) - 1)
    below = math.floor(place)
    low, high = ordered[below], ordered[min(below + 1, len(ordered) - 1)]
    return low if low == high else low + (high - low) * (place - below)


def weighted_percentile(ordered: Sequence[tuple[float, float]], q: float) -> float:
    """The same of sorted `(value, weight)`: each value stands at the share of the others' weight that lies below it."""
    total = math.fsum(weight for _, weight in ordered)
    below, last_place, last = 0.0, 0.0, ordered[0][0]
    for value, weight in ordered:
        place = below / (total - weight) if total > weight else 0.0
        if place >= q:
            return last if value == last else last + (value - last) * ((q - last_place) / (place - last_place or 1.0))
        below, last_place, last = below + weight, place, value
    return last


def effective_values(groups: Sequence[Sequence[float]], limit: float, q: float) -> tuple[float, int]:
    """How many independent values tell as much about the part that lies below the limit, and the number of scenarios.

    `groups` are the values of each scenario. With m of them and k below the limit, the variance of the part below is
    V = Σ (k - q m)² / (Σ m)² · n / (n - 1) (Woodruff, 1952), and q (1 - q) / V independent values have the same. It is
    no more than there are values, and no less than scenarios of equal size would be.
    """
    sizes = [len(group) for group in groups if group]
    total, n = sum(sizes), len(sizes)
    squares = sum(size * size for size in sizes)
    if squares == total or n < 2:  # each its own scenario
        return float(total), n
    off = math.fsum((sum(value <= limit for value in group) - q * len(group)) ** 2 for group in groups if group)
    scenarios = total * total / squares
    between = off / squares * n / (n - 1)
    gained = (scenarios * q * (1 - q) + _PRIOR) / (scenarios * between + _PRIOR)
    return max(scenarios, min(scenarios * gained, float(total))), n


def percentile_interval(
    ordered: Sequence[float], q: float, confidence: float = 0.95, effective: float | None = None, df: float = math.inf
) -> Interval | None:
    """The interval of a percentile between two of the sorted values, whatever they are distributed as.

    How many of n independent values lie below the true percentile is binomial; each end is missed with at most half of
    the rest to the confidence (Thompson, 1936). Where values are not independent, the ranks are those of the
    effective number of values, stretched to all of them (Woodruff, 1952), with Student's t for the normal quantile.
    None where the values are too few for that: 95 % of a p95 takes 72 of them.
    """
    n = len(ordered)
    if not 0 < q < 1:
        return None
    missed = (1 - confidence) / 2
    if effective is None or effective >= n:
        low = _last(n, lambda rank: beta_below(1 - q, n - rank + 1, rank) <= missed)
        high = n + 1 - _last(n, lambda back: beta_below(q, n + 1 - back, back) <= missed)
        return (ordered[low - 1], ordered[high - 1]) if low >= 1 and high <= n else None
    if df < math.inf:
        effective *= (normal_quantile(1 - missed) / t_quantile(1 - missed, max(1.0, df))) ** 2
    from_below = _share(effective, lambda rank: beta_below(1 - q, effective - rank + 1, rank) <= missed)
    from_above = _share(effective, lambda rank: beta_below(q, effective - rank + 1, rank) <= missed)
    if from_below is None or from_above is None:
        return None
    low = min(n, max(1, math.floor(from_below * n)))
    high = max(1, min(n, n + 1 - math.floor(from_above * n)))
    return ordered[low - 1], ordered[high - 1]


def _last(n: int, holds: Callable[[int], bool]) -> int:
    """The last number of 1 to n for which it holds, which it does up to some number; 0 if for none."""
    low, high = 0, n
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


def _share(n: float, holds: Callable[[float], bool]) -> float | None:
    """The largest rank, as a share of n, for which it holds; None where it does not for the first value."""
    if not holds(1.0):
        return None
    low, high = 1.0, n
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low / n
