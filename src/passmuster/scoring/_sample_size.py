"""How many more scenarios, or repeats, would settle with 80 % chance what an interval leaves open.

What was seen stays, and what is added is as what was seen: the same rate, the same variance between scenarios and
within them, the same weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from msgspec import Struct

from passmuster.scoring._intervals import RateSample
from passmuster.scoring._means import FEWEST, residual_error
from passmuster.scoring._quantiles import beta_below, normal_quantile, t_quantile

CHANCE = 0.8
_FAR = 1_000_000
"""More scenarios than this are no advice."""
_MOST_REPEATS = 200
_EXACT = 2_000
"""Up to so many more scenarios the chance is calculated exactly."""


class Needed(Struct, frozen=True):
    """What would settle it; None where no number would."""

    scenarios: int | None
    repeats: int | None = None
    """More runs of each scenario, where it is known how they vary."""


def more_to_settle(
    runs: Sequence[tuple[float, float]],
    bound: float,
    weights: Sequence[float] | None = None,
    confidence: float = 0.95,
    *,
    of: float = 1.0,
    margin: float = 0.0,
) -> Needed:
    """What it takes until the interval of a rate lies on its side of the bound, with 80 % chance.

    `runs` and `weights` are those of `rate_interval`. Wilson's interval leaves a bound b out if |p - b| ≥ z √(b (1 - b)
    / n*), n* being the effective number of scenarios. With m more scenarios beside n, p varies by √(m u) / (n + m), u
    being the variance of a scenario's part. `of` is the part of all scenarios that the rate is over, and `margin` a
    number of scenarios that is needed besides.
    """
    sample = RateSample(runs, weights)
    if not sample.count or not 0 < bound < 1 or abs(sample.rate - bound) <= 1e-9:
        return Needed(None)
    z = normal_quantile((1 + confidence) / 2)
    away = abs(sample.rate - bound)
    part = sample.between * sample.count / sample.scenarios

    def settled(more: int) -> bool:
        count = sample.count + more
        effective = sample.effective_of(count, confidence)
        varies = normal_quantile(CHANCE) * math.sqrt(more * part) / count
        return away >= z * math.sqrt(bound * (1 - bound) / effective) + margin / effective + varies

    more = _first(settled)
    if more is not None and sample.single and sample.equal and not margin:
        more = _exact(sample, bound, z, more)
    repeats = _repeats(sample, bound, z, away, confidence)
    return Needed(None if more is None else math.ceil(more / of), repeats)


def _first(settled: Callable[[int], bool]) -> int | None:
    """The first number for which it holds, if it does for all larger ones."""
    high = 1
    while not settled(high):
        high *= 2
        if high > 2 * _FAR:
            return None
    low = high // 2
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if settled(middle) else (middle, high)
    return high if high <= _FAR else None


def _exact(sample: RateSample, bound: float, z: float, about: int) -> int:
    """The same for single runs that pass or fail, whose number is binomial: the first from near there on."""
    rate, count = sample.rate, sample.count
    if about > _EXACT or abs(rate * count - round(rate * count)) > 1e-9 or rate in (0.0, 1.0):
        return about
    above = rate > bound
    seen = round(rate * count) if above else count - round(rate * count)
    for more in range(max(1, about * 2 // 3), about + 50):
        n = count + more
        limit = bound if above else 1 - bound
        wanted = math.ceil(n * limit + z * math.sqrt(n * limit * (1 - limit)) - 1e-9) - seen
        chance = rate if above else 1 - rate
        if wanted <= 0 or (wanted <= more and beta_below(chance, wanted, more - wanted + 1) >= CHANCE):
            return more
    return about


def _repeats(sample: RateSample, bound: float, z: float, away: float, confidence: float) -> int | None:
    """How many more runs of each scenario; None where runs do not vary or it is not known whether they do."""
    if sample.within is None or not sample.within or sample.count < 2:
        return None
    runs = max(2, round(sample.independent / sample.scenarios))
    scenarios = max(0.0, sample.between - sample.within)
    for more in range(1, _MOST_REPEATS + 1):
        factor = (runs + more) / runs
        between = scenarios + sample.within / factor
        effective = sample.effective_of(sample.count, confidence, factor, between)
        varies = normal_quantile(CHANCE) * math.sqrt(sample.within * (factor - 1) / sample.scenarios) / factor
        if away >= z * math.sqrt(bound * (1 - bound) / effective) + varies:
            return more
    return None


def more_to_settle_mean(parts: Sequence[tuple[float, float]], bound: float, confidence: float = 0.95) -> Needed:
    """The same for the mean of `(a, b)`: its interval is about t s / √n to either side, with n of ten at least."""
    found = residual_error(parts)
    if found is None:
        return Needed(None)
    ratio, deviation, n = found
    away = abs(ratio - bound)
    if away <= 1e-12 * abs(bound):
        return Needed(None)
    upper = (1 + confidence) / 2

    def settled(more: int) -> bool:
        count = n + more
        half = t_quantile(upper, count - 1) * deviation / math.sqrt(count)
        return count >= FEWEST and away >= half + normal_quantile(CHANCE) * deviation * math.sqrt(more) / count

    return Needed(_first(settled))
