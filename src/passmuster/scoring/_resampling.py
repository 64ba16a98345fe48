"""Intervals and tests without a formula: what would come out if the scenarios, or their signs, were drawn again.

A mean, a ratio and F1 are all one sum over another, and so they share one bootstrap. Every draw comes from a seed
that is fixed or made from the values, and values are sorted first: the same values give the same result in any order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from passmuster.scoring._intervals import percentile, t_quantile

Interval = tuple[float, float]

_RESAMPLES = 2_000
_SEED = 19_790_101
_DRAWN_UP_TO = 150
"""Scenarios up to which resamples are drawn; beyond, their distribution is calculated from its moments."""

_SIGN_VECTORS = 20_000
_ENUMERATED_UP_TO = 16
_DENOMINATORS = 64
"""Fractions of up to so many runs are recognised as such."""
_BIT_STEPS = 4_000_000_000
"""What an exact test may cost, in bits added: about a tenth of a second."""
_TIE = 1e-12


# ── Intervals ───────────────────────────────────────────────────────────────────────────────────────────────


def mean_interval(values: Sequence[float], weights: Sequence[float], confidence: float = 0.95) -> Interval | None:
    """The bootstrap interval of a weighted mean over scenarios, drawn as that of a ratio; none of fewer than two."""
    weighted = zip(values, weights, strict=True)
    return ratio_interval([(weight * value, weight) for value, weight in weighted if weight > 0], confidence)


def ratio_interval(parts: Sequence[tuple[float, float]], confidence: float = 0.95) -> Interval | None:
    """The bootstrap interval of Σa / Σb, from `(a, b)` for each scenario, b being 0 or more.

    Percentile bootstrap (Efron, 1979) of 2,000 resamples of scenarios, its levels widened for small samples
    (Hesterberg, 2015). Beyond 150 scenarios no resamples are drawn: their distribution is calculated from its first
    three moments (Pearson's type III after Wilson and Hilferty, 1931). None of fewer than two, or where Σb is 0.
    """
    n = len(parts)
    ordered = sorted(parts)
    total = math.fsum(b for _, b in ordered)
    if n < 2 or total <= 0:
        return None
    ratio = math.fsum(a for a, _ in ordered) / total
    z = math.sqrt(n / (n - 1)) * t_quantile((1 + confidence) / 2, n - 1)
    if n > _DRAWN_UP_TO:
        low, high = _calculated(ordered, ratio, total / n, -z), _calculated(ordered, ratio, total / n, z)
    else:
        drawn = _drawn(ordered)
        beyond = math.erfc(z / math.sqrt(2)) / 2
        low, high = percentile(drawn, beyond), percentile(drawn, 1 - beyond)
    return min(low, ratio), max(high, ratio)


def _drawn(parts: Sequence[tuple[float, float]]) -> list[float]:
    """The ratios of the resamples, sorted; one whose denominators are all 0 has none."""
    n = len(parts)
    planes = [complex(a, b) for a, b in parts]  # both sums in one addition
    drawn = [planes[place] for place in _places(n)]
    sums = (sum(drawn[start : start + n]) for start in range(0, len(drawn), n))
    return sorted(both.real / both.imag for both in sums if both.imag > 0)


@lru_cache(maxsize=1)
def _places(n: int) -> list[int]:
    """Which of n scenarios each resample holds: the same for every metric over as many of them."""
    from _random import Random  # `random` would load OpenSSL, which costs more than drawing

    draw = Random(_SEED).random
    return [int(draw() * n) for _ in range(n * _RESAMPLES)]


def _calculated(parts: Sequence[tuple[float, float]], ratio: float, mean: float, z: float) -> float:
    """The resamples' quantile at z. A resample's ratio is below r just where its Σ (a - r b) is below 0, and that is
    a sum of independent draws: its variance and skewness are known for every r, and r is found by iteration."""
    n = len(parts)
    left = [((a - ratio * b) / mean, b / mean - 1) for a, b in parts]
    ee, eb, bb = (math.fsum(e**i * b ** (2 - i) for e, b in left) / n for i in (2, 1, 0))
    eee, eeb, ebb, bbb = (math.fsum(e**i * b ** (3 - i) for e, b in left) / n for i in (3, 2, 1, 0))
    lowest, highest = _range(parts)
    away = 0.0
    for _ in range(100):
        variance = ee - 2 * away * eb + away**2 * bb
        if variance <= 0:
            break
        third = eee - 3 * away * eeb + 3 * away**2 * ebb - away**3 * bbb
        skewness = third / (variance * math.sqrt(variance * n))
        following = math.sqrt(variance / n) * _skewed(z, skewness)
        following = min(max(following, lowest - ratio), highest - ratio)
        settled = abs(following - away) <= 1e-12 * abs(following)
        away = following
        if settled:
            break
    return ratio + away


def _range(parts: Sequence[tuple[float, float]]) -> Interval:
    """What a ratio of sums can be: no less than its least part, and no more than its largest."""
    ratios = [a / b if b else math.copysign(math.inf, a) for a, b in parts if a or b]
    return min(ratios), max(ratios)


def _skewed(z: float, skewness: float) -> float:
    """The quantile of a standardised variable of this skewness where a normal one has z."""
    if abs(skewness) < 1e-6:
        return z
    return 2 / skewness * ((1 + skewness * z / 6 - skewness**2 / 36) ** 3 - 1)


# ── Drops ───────────────────────────────────────────────────────────────────────────────────────────────────


def drop_p_value(before: Sequence[float], after: Sequence[float]) -> float:
    """The chance of a drop at least this large from `before` to `after`, scenario by scenario, if nothing had changed.

    One-sided sign-flip permutation test (Fisher, 1935): were nothing changed, each difference might as well have had
    the other sign. Differences of 0 say nothing; none left gives 1. On single runs this is McNemar's exact test (1947).
    Exact where the values are fractions of few runs, or up to 16 differences; else from 20,000 drawn sign vectors,
    the seen one counted among them (Phipson and Smyth, 2010).
    """
    pairs = list(zip(before, after, strict=True))
    units = _in_units(pairs)
    if units is not None:
        return _exact(units)
    differences = sorted(one - other for one, other in pairs if one != other)
    seen = math.fsum(d for d in differences if d > 0) - _TIE / 2 * max(1.0, math.fsum(map(abs, differences)))
    sizes = [abs(d) for d in differences]
    if len(sizes) <= _ENUMERATED_UP_TO:
        sums = [0.0]
        for size in sizes:
            sums += [total + size for total in sums]
        return sum(total >= seen for total in sums) / len(sums)
    return (1 + sum(total >= seen for total in _sign_flips(differences))) / (1 + _SIGN_VECTORS)


def _in_units(pairs: Sequence[tuple[float, float]]) -> list[int] | None:
    """The differences that are not 0 as whole multiples of a common unit; none if there is none, or too small a one."""
    fractions = {value: _fraction(value) for value in {value for pair in pairs for value in pair}}
    known = {value: fraction for value, fraction in fractions.items() if fraction is not None}
    if len(known) < len(fractions):
        return None
    unit = math.lcm(*(bottom for _, bottom in known.values()))
    whole = {value: top * (unit // bottom) for value, (top, bottom) in known.items()}
    differences = [whole[one] - whole[other] for one, other in pairs if whole[one] != whole[other]]
    shared = math.gcd(*differences)
    units = [difference // shared for difference in differences]
    bits = (len(units) + 2) * sum(map(abs, units))
    return units if bits * len(units) <= _BIT_STEPS else None


def _fraction(value: float) -> tuple[int, int] | None:
    """The value as a fraction of a small denominator, if it is one but for the last digit of a double."""
    for bottom in range(1, _DENOMINATORS + 1):
        top = round(value * bottom)
        if math.isclose(top / bottom, value, rel_tol=4e-16, abs_tol=0):
            return top, bottom
    return None


def _exact(units: Sequence[int]) -> float:
    """The part of all sign vectors whose positive differences sum to no less than the seen ones.

    The sums are counted in one large number: the count of sum s stands in its s-th group of n + 2 bits, and another
    difference of size d adds the number to itself, d groups higher. Groups are added up by the rest modulo 2^(n+2) - 1,
    as digits are by casting out nines.
    """
    n, group = len(units), len(units) + 2
    counts = 1
    for size in sorted(map(abs, units)):
        counts += counts << size * group
    seen = sum(unit for unit in units if unit > 0)
    as_large = (counts >> seen * group) % ((1 << group) - 1)
    return max(as_large / (1 << n), math.ulp(0.0))


def _sign_flips(differences: Sequence[float]) -> Sequence[float]:
    """Sums of the sizes with a positive sign, in drawn sign vectors: a byte holds eight signs and indexes their sum."""
    from hashlib import sha256
    from random import Random

    rng = Random(sha256(repr(differences).encode()).digest())
    totals = [0.0] * _SIGN_VECTORS
    for start in range(0, len(differences), 8):
        sums = [0.0]
        for difference in differences[start : start + 8]:
            sums += [total + abs(difference) for total in sums]
        mask = len(sums) - 1
        drawn = rng.randbytes(_SIGN_VECTORS)
        totals = [total + sums[signs & mask] for total, signs in zip(totals, drawn, strict=True)]
    return totals


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted for being several, in the given order: any below α is then wrong with chance α (Holm, 1979)."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted
