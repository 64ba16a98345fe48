"""Intervals of means of skewed figures: what runs cost, and quality per token."""

from __future__ import annotations

import math
from collections.abc import Sequence

from passmuster.scoring._quantiles import t_quantile

Interval = tuple[float, float]

FEWEST = 10
"""Scenarios below which the skewness is a guess, and so there is no interval."""
_STEEPEST = 3.0
"""The most that the skewness of a mean is corrected for, as γ/√n: beyond, the sample tells nothing of the tail."""
_SMALL = 6.0
"""Small samples show too little of a skewness, as their largest values are missing: by simulation, 1 + 6/n of it."""


def mean_interval(parts: Sequence[tuple[float, float]], confidence: float = 0.95) -> Interval | None:
    """The interval of Σa / Σb from `(a, b)` for each scenario, such as its cost and its number of runs.

    The ratio is linearised: a scenario's residual is a - R b (Cochran, 1977, §6.3). Student's t is corrected for the
    skewness γ of the residuals by Hall's cubic transformation (1992): the ends are R - s/√n · g⁻¹(±t), where
    g⁻¹(x) = 3/k · (∛(1 + k (x - k/6)) - 1) and k = γ/√n. None of fewer than ten scenarios.
    """
    found = _residuals(parts)
    if found is None or len(found[1]) < FEWEST:
        return None
    ratio, residuals = found
    n = len(residuals)
    deviation = math.sqrt(math.fsum(e * e for e in residuals) / (n - 1))
    if not deviation:
        return ratio, ratio
    error = deviation / math.sqrt(n)
    skewness = math.fsum((e / deviation) ** 3 for e in residuals) * n / ((n - 1) * (n - 2))
    k = max(-_STEEPEST, min(_STEEPEST, skewness / math.sqrt(n) * (1 + _SMALL / n)))
    t = t_quantile((1 + confidence) / 2, n - 1)
    low, high = ratio - error * _unskewed(t, k), ratio - error * _unskewed(-t, k)
    return min(low, ratio), max(high, ratio)


def residual_error(parts: Sequence[tuple[float, float]]) -> tuple[float, float, int] | None:
    """The ratio, the standard deviation of a scenario's residual, and the number of scenarios; None of fewer than 2."""
    found = _residuals(parts)
    if found is None or len(found[1]) < 2:
        return None
    ratio, residuals = found
    return ratio, math.sqrt(math.fsum(e * e for e in residuals) / (len(residuals) - 1)), len(residuals)


def _residuals(parts: Sequence[tuple[float, float]]) -> tuple[float, list[float]] | None:
    counted = [(a, b) for a, b in parts if b > 0]
    n, total = len(counted), math.fsum(b for _, b in counted)
    if not n or total <= 0:
        return None
    ratio = math.fsum(a for a, _ in counted) / total
    return ratio, [(a - ratio * b) / (total / n) for a, b in counted]


def _unskewed(x: float, k: float) -> float:
    """Hall's g⁻¹, the studentised mean of this skewness where a symmetric one has x."""
    if abs(k) < 1e-6:
        return x
    return 3 / k * (math.cbrt(1 + k * (x - k / 6)) - 1)
