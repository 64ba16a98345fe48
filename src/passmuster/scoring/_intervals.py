"""Intervals of rates and percentiles, calculated: how far the suite's scenarios may be from all the agent will meet.

Scenarios are the sample, not runs: runs of one scenario resemble each other, and more of them say less and less.
Imports are kept to `math`, for every run of the gate comes through here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

Interval = tuple[float, float]

Z95 = 1.959963984540054
"""The normal quantile of 97.5 %: what a two-sided interval of 95 % is made with."""

_FAR = 1_000_000
"""More scenarios than this are no advice."""
_PRIOR = 0.1
"""Variance that is assumed besides what is seen, as if from scenarios whose runs all agree: two fifths of a scenario
that is as likely to pass as to fail. It keeps few mixed scenarios from saying that all runs are independent."""


# ── Rates ───────────────────────────────────────────────────────────────────────────────────────────────────


def wilson(successes: float, n: float, z: float = Z95) -> Interval | None:
    """The score interval of a rate (Wilson, 1927); none without a trial. Both numbers may be effective ones."""
    if n <= 0:
        return None
    rate = successes / n
    width = z * z / n
    middle = (rate + width / 2) / (1 + width)
    spread = math.sqrt(max(0.0, rate * (1 - rate)) * width + width * width / 4) / (1 + width)
    # Rounding must not push a bound past the rate, which is 0 or 1 exactly at the ends.
    return max(0.0, min(middle - spread, rate)), min(1.0, max(middle + spread, rate))


def rate_interval(
    runs: Sequence[tuple[int, int]], weights: Sequence[float] | None = None, confidence: float = 0.95
) -> Interval | None:
    """The interval of a rate from `(passed, counted)` for each scenario, the scenarios being the sample.

    The rate is the weighted mean of the scenarios' fractions; one with no counted run, or no weight, is left out.
    It is Wilson's interval (1927) on an effective number of scenarios. Weights leave (Σw)² / Σw² of them (Kish,
    1965). Where scenarios ran once, that is all. Where they ran repeatedly, p (1 - p) / σ² as many: σ² is the
    variance between the scenarios' fractions, and p (1 - p) what it would be if all runs of a scenario agreed (the
    design effect, Kish, 1965). As σ² is estimated, Student's t (1908) stands in for the normal quantile.

    The result is never wider than if every scenario had run once, nor narrower than if all runs were independent.
    None without a scenario, and none of one scenario that ran repeatedly: it tells nothing about others.
    """
    given = [1.0] * len(runs) if weights is None else weights
    counted = [(passed / of, of, w) for (passed, of), w in zip(runs, given, strict=True) if of > 0 and w > 0]
    if not counted:
        return None
    total = math.fsum(w for _, _, w in counted)
    rate = math.fsum(w * fraction for fraction, _, w in counted) / total
    squares = math.fsum(w * w for _, _, w in counted)
    scenarios = total * total / squares
    z = normal_quantile((1 + confidence) / 2)
    if all(of == 1 for _, of, _ in counted):
        return wilson(rate * scenarios, scenarios, z)
    if len(counted) == 1:
        return None
    between = math.fsum(w * (fraction - rate) ** 2 for fraction, _, w in counted) / (total - squares / total)
    gained = (scenarios * rate * (1 - rate) + _PRIOR) / (scenarios * between + _PRIOR)
    independent = total * total / math.fsum(w * w / of for _, of, w in counted)
    t = t_quantile((1 + confidence) / 2, max(1.0, scenarios - 1))
    # Wilson's interval depends on z²/n alone: a larger quantile is the same as fewer scenarios.
    effective = max(scenarios, min(scenarios * gained, independent) * (z / t) ** 2)
    return wilson(rate * effective, effective, z)


def more_to_settle(value: float, bound: float, n: int, confidence: float) -> int | None:
    """About how many more scenarios it takes, if the rate stays, until its interval lies on its side of the bound.

    Wilson's interval (1927) leaves the bound out from n = z² b (1 - b) / (v - b)² on. None where the value is the
    bound, which no number of scenarios would tell apart, and where it takes more than a million.
    """
    if abs(value - bound) <= 1e-9:
        return None
    z = normal_quantile((1 + confidence) / 2)
    needed = z * z * max(0.0, bound * (1 - bound)) / (value - bound) ** 2
    more = max(0, math.ceil(needed) - n)
    return more if more <= _FAR else None


# ── Percentiles ─────────────────────────────────────────────────────────────────────────────────────────────


def percentile(ordered: Sequence[float], q: float) -> float:
    """The value below which a part q of the sorted values lies, linear between neighbours (Hyndman and Fan, 1996,
    type 7)."""
    place = q * (len(ordered) - 1)
    below = math.floor(place)
    low, high = ordered[below], ordered[min(below + 1, len(ordered) - 1)]
    return low if low == high else low + (high - low) * (place - below)


def percentile_interval(ordered: Sequence[float], q: float, confidence: float = 0.95) -> Interval | None:
    """The interval of a percentile between two of the sorted values (Thompson, 1936), whatever they are distributed as.

    How many values lie below the true percentile is binomial; each end is missed with at most half of the rest to
    the confidence. None where the values are too few for that: 95 % of a p95 takes 72 of them.
    """
    n = len(ordered)
    if not 0 < q < 1:
        return None
    missed = (1 - confidence) / 2
    low = _last(n, lambda rank: _beta(1 - q, n - rank + 1, rank) <= missed)
    high = n + 1 - _last(n, lambda back: _beta(q, n + 1 - back, back) <= missed)
    return (ordered[low - 1], ordered[high - 1]) if low >= 1 and high <= n else None


def _last(n: int, holds: Callable[[int], bool]) -> int:
    """The last number of 1 to n for which it holds, which it does up to some number; 0 if for none."""
    low, high = 0, n
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


# ── Quantiles ───────────────────────────────────────────────────────────────────────────────────────────────


def normal_quantile(p: float) -> float:
    """The value that a standard normal variable stays below with chance p.

    Halley's method on `math.erfc`, from a start within 0.0005 (Hastings, 1955); each of its steps triples the digits.
    """
    if not 0 < p < 1:
        raise ValueError(f"a quantile is asked of a chance between 0 and 1, not of {p}")
    if p > 0.5:
        return -normal_quantile(1 - p)  # exact there, and erfc is at its best in the lower tail
    s = math.sqrt(-2 * math.log(p))
    top = 2.515517 + s * (0.802853 + s * 0.010328)
    x = top / (1 + s * (1.432788 + s * (0.189269 + s * 0.001308))) - s
    for _ in range(3):
        error = math.erfc(-x / math.sqrt(2)) / 2 - p
        if error == 0:
            break
        step = math.copysign(math.exp(x * x / 2 + math.log(abs(error) * math.sqrt(2 * math.pi))), error)
        x -= step / (1 + x * step / 2)
    return x


def t_quantile(p: float, df: float) -> float:
    """The value that Student's t (1908) of `df` degrees of freedom, fractions included, stays below with chance p.

    Newton's method on the incomplete beta function; from 10,000 degrees on, Fisher and Cornish's expansion (1960).
    """
    if df <= 0:
        raise ValueError(f"degrees of freedom are more than 0, not {df}")
    return _upper_t(1 - p, df) if p > 0.5 else -_upper_t(p, df)


def _upper_t(tail: float, df: float) -> float:
    """Where the upper tail begins that has this chance, a half at most."""
    if tail == 0.5:
        return 0.0
    z = -normal_quantile(tail)
    if df >= 10_000:
        return _expanded_t(z, df)
    log_scale = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - math.log(df * math.pi) / 2
    t = _expanded_t(z, df) if df >= 5 else z  # z is too low, as the tails of t are heavier
    for _ in range(100):
        density = math.exp(log_scale - (df + 1) / 2 * math.log1p(t * t / df))
        if tail > 0.1:
            # What lies between 0 and t is concave in t: steps from below never pass.
            following = t + (0.5 - tail - _beta(t * t / (df + t * t), 0.5, df / 2) / 2) / density
        else:
            # The logarithm of the tail is concave in that of t: one step may pass, the others come back from above.
            beyond = _beta(df / (df + t * t), df / 2, 0.5) / 2
            following = t * math.exp(math.log(beyond / tail) * beyond / (t * density))
        if abs(following - t) <= 1e-13 * max(1.0, following):
            return following
        t = following
    return t


def _expanded_t(z: float, df: float) -> float:
    square = z * z
    terms = (
        z * (square + 1) / 4,
        z * ((5 * square + 16) * square + 3) / 96,
        z * (((3 * square + 19) * square + 17) * square - 15) / 384,
        z * ((((79 * square + 776) * square + 1482) * square - 1920) * square - 945) / 92160,
    )
    return z + math.fsum(term / df**power for power, term in enumerate(terms, 1))


def _beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function, by its continued fraction (Lentz's method, 1976)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):  # beyond, the fraction converges slowly
        return 1 - _beta(1 - x, b, a)
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    c = 1.0
    d = _away_from_zero(1 - (a + b) * x / (a + 1))
    value = 1 / d
    d = value
    for m in range(1, 100_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _away_from_zero(1 + term * d)
            c = _away_from_zero(1 + term / c)
            value *= c * d
        if abs(c * d - 1) <= 1e-16:
            break
    return math.exp(scale) * value / a


def _away_from_zero(number: float) -> float:
    return number if abs(number) > 1e-300 else 1e-300
