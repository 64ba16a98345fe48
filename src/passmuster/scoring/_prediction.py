"""What a fresh run of the same size and the same agent will reach: prediction intervals.

The scenarios stay as they are, so only their runs vary, then and in the fresh run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from passmuster.scoring._intervals import RateSample
from passmuster.scoring._quantiles import Z95, t_quantile

_PRIOR = 0.1
_EXACT = 5_000
"""Values up to which ranks are exact."""
_MISSED = 0.025


def least_rate(runs: Sequence[tuple[float, float]], weights: Sequence[float] | None = None) -> float | None:
    """The lower end of the 95 % prediction interval of a rate.

    Where |p - x| ≤ z √(2/n · m (1 - m)), m being (p + x) / 2, two rates of n trials each do not differ significantly
    (the joint sampling interval of Krishnamoorthy and Peng, 2011). n is what the runs of the scenarios tell: their
    number at least, and more where the runs of a scenario agree.
    """
    sample = RateSample(runs, weights)
    if not sample.count:
        return None
    n, p = sample.independent, sample.rate
    if sample.within is not None:
        scenarios = sample.scenarios
        n = max(n, scenarios * (scenarios * p * (1 - p) + _PRIOR) / (scenarios * sample.within + _PRIOR))
    elif not sample.equal:
        n = min(n, sample.effective() or n)
    c = 2 * Z95 * Z95 / n
    half = p + c / 4 - c * p / 4
    root = math.sqrt(max(0.0, half * half - (1 + c / 4) * (p * p - c * p / 2 + c * p * p / 4)))
    return max(0.0, min(p, (half - root) / (1 + c / 4)))


def largest_percentile(values: Sequence[float], q: float) -> float | None:
    """The upper end of the 95 % prediction interval of a percentile of as many values; None where they are too few.

    It is the value of a rank that the fresh percentile exceeds in at most 2.5 % of all orders of the old and the new
    values (Fligner and Wolfe, 1976). Runs of the same scenarios vary less than that.
    """
    n, ordered = len(values), sorted(values)
    if not n:
        return None
    if n > _EXACT:
        rank = math.ceil(n * (q + Z95 * math.sqrt(2 * q * (1 - q) / n))) + 1
        return ordered[rank - 1] if rank <= n else None
    fresh = min(n, math.ceil(q * (n - 1)) + 1)
    low, high = 0, n
    if _exceeds(fresh, n, n) > _MISSED:
        return None
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _exceeds(fresh, middle, n) <= _MISSED else (middle, high)
    return ordered[high - 1]


def _exceeds(fresh: int, rank: int, n: int) -> float:
    """The chance that the fresh value of one rank is above the old one of another, of n each."""
    whole = _ways(2 * n, n)
    parts = (
        math.exp(_ways(rank + below - 1, below) + _ways(2 * n - rank - below, n - below) - whole)
        for below in range(fresh)
    )
    return math.fsum(parts)


def _ways(n: int, k: int) -> float:
    """The logarithm of n choose k."""
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def largest_mean(groups: Sequence[Sequence[float]]) -> float | None:
    """The upper end of the 95 % prediction interval of the mean of all runs, by scenario; None of fewer than two runs.

    Mean and fresh mean differ by s √(2/n), and that is symmetric however skewed the figures are. s is that of the runs
    within scenarios where each ran repeatedly.
    """
    values = [value for group in groups for value in group]
    n = len(values)
    if n < 2:
        return None
    mean = math.fsum(values) / n
    if all(len(group) > 1 for group in groups):
        df = n - len(groups)
        off = math.fsum((value - math.fsum(group) / len(group)) ** 2 for group in groups for value in group)
    else:
        df, off = n - 1, math.fsum((value - mean) ** 2 for value in values)
    return mean + t_quantile(1 - _MISSED, df) * math.sqrt(off / df * 2 / n)


def spread_of(interval: tuple[float, float], value: float) -> tuple[float, float]:
    """A prediction interval from a confidence interval: two samples differ by √2 of what one is off."""
    return value - math.sqrt(2) * (value - interval[0]), value + math.sqrt(2) * (interval[1] - value)
