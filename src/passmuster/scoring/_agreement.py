"""How far two raters agree beyond chance: a judge and a person, or a judge and itself."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

from passmuster.scoring._intervals import normal_quantile, percentile

_Pair = tuple[Hashable, Hashable]

_RESAMPLES = 2_000
_SEED = 20_060_421
_DRAWN_UP_TO = 200
"""Pairs up to which the interval is drawn; beyond it is calculated."""


def cohens_kappa(pairs: Sequence[_Pair]) -> float | None:
    """Agreement beyond chance, (p_o - p_e) / (1 - p_e) (Cohen, 1960).

    No number without a pair, and none where chance alone would agree always: both used one same label throughout.
    """
    return _kappa(Counter(pairs))


def kappa_interval(pairs: Sequence[_Pair], confidence: float = 0.95) -> tuple[float, float] | None:
    """The interval of kappa, the pairs being a sample; none where kappa has no value or there is one pair.

    Up to 200 pairs: percentile bootstrap (Efron, 1979) of 2,000 resamples from a fixed seed; resamples without a
    kappa are left out. Beyond: the large-sample standard error (Fleiss, Cohen and Everitt, 1969). The order of the
    pairs does not matter as long as labels that differ print differently.
    """
    cells = Counter(pairs)
    kappa = _kappa(cells)
    if kappa is None or len(pairs) < 2:
        return None
    if len(pairs) > _DRAWN_UP_TO:
        margin = normal_quantile((1 + confidence) / 2) * _standard_error(cells, kappa)
        return max(-1.0, kappa - margin), min(1.0, kappa + margin)
    drawn = _drawn(cells)
    low, high = (percentile(drawn, (1 + side * confidence) / 2) for side in (-1, 1))
    return min(low, kappa), max(high, kappa)


def _kappa(cells: Mapping[_Pair, int]) -> float | None:
    n = sum(cells.values())
    left, right = _margins(cells)
    chance = sum(left[label] * right[label] for label in left)  # in units of n squared, and so exact
    if n * n == chance:
        return None
    agreed = sum(number for (one, other), number in cells.items() if one == other)
    return (agreed * n - chance) / (n * n - chance)


def _margins(cells: Mapping[_Pair, int]) -> tuple[Counter[Hashable], Counter[Hashable]]:
    left: Counter[Hashable] = Counter()
    right: Counter[Hashable] = Counter()
    for (one, other), number in cells.items():
        left[one] += number
        right[other] += number
    return left, right


def _drawn(cells: Mapping[_Pair, int]) -> list[float]:
    from random import Random

    rng = Random(_SEED)
    ordered = sorted(cells.items(), key=lambda cell: repr(cell[0]))
    population = [pair for pair, number in ordered for _ in range(number)]
    resamples = (_kappa(Counter(rng.choices(population, k=len(population)))) for _ in range(_RESAMPLES))
    return sorted(kappa for kappa in resamples if kappa is not None)


def _standard_error(cells: Mapping[_Pair, int], kappa: float) -> float:
    n = sum(cells.values())
    left, right = _margins(cells)
    chance = sum(left[label] * right[label] for label in left) / n**2
    squares = []
    for (one, other), number in cells.items():
        by_chance = (left[other] + right[one]) / n
        agrees = 1.0 if one == other else 0.0
        squares.append(number / n * (agrees - by_chance * (1 - kappa)) ** 2)
    variance = math.fsum([*squares, -((kappa - chance * (1 - kappa)) ** 2)]) / (n * (1 - chance) ** 2)
    return math.sqrt(max(0.0, variance))
