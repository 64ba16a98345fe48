"""Has it dropped? Tests of a run against an earlier one, by permutation.

If nothing changed, the runs of a scenario might as well have come in the other order: which of them were then and which
are now is exchanged at random within each scenario (a stratified permutation test; Fisher, 1935). That takes the
scenarios as they are, and so it sees a scenario that broke. By whole scenarios, only the two sides of each are
exchanged, which holds where all runs of one day differ together from those of another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from passmuster.scoring._percentiles import percentile, weighted_percentile
from passmuster.scoring._permutations import Chances, seeded, tail

Method = Literal["runs", "scenarios"]

Counted = tuple[int, int]
"""How many runs passed, of how many."""
RatePair = tuple[Counted, Counted, float]
"""A scenario before and after, and its weight."""
FigurePair = tuple[Sequence[float], Sequence[float], float]
"""The figures of a scenario's runs before and after, and its weight."""

_ENUMERATED = 600
"""Ways to choose runs up to which all of them are listed."""
_CHOSEN = 256
"""Beyond, so many are drawn for each scenario."""
_EFFORT = 1_200_000
"""Values sorted, at most, to draw percentiles."""


def rate_drop_p_value(pairs: Sequence[RatePair], max_drop: float = 0.0, method: Method = "runs") -> float:
    """The chance of a drop of a rate at least this large if it were no more than `max_drop`.

    Within a scenario, the number of passed runs among those of now is hypergeometric: on single runs this is
    McNemar's exact test (1947). Numbers of runs may differ. For a drop allowed, the side that is further from ½ is
    brought near the other: before, each passed run fails with the chance that lowers the rate by `max_drop` (or after,
    each failed one passes with the one that raises it), and the distribution is that of the runs so thinned.
    """
    counted = [(before, after, weight) for before, after, weight in pairs if weight > 0 and before[1] and after[1]]
    if not counted:
        return 1.0
    heaviest = max(weight for *_, weight in counted)
    scaled = [(before, after, weight / heaviest) for before, after, weight in counted]
    then = math.fsum(w * before[0] / before[1] for before, _, w in scaled)
    now = math.fsum(w * after[0] / after[1] for _, after, w in scaled)
    whole = math.fsum(w for *_, w in scaled)
    allowed = max_drop * whole
    seen = then - now - allowed
    if seen <= 0 and max_drop:
        return 1.0  # no larger than allowed
    fails, passes = 0.0, 0.0
    if max_drop and then + now >= whole:
        fails = min(1.0, allowed / then)
    elif max_drop:
        passes = min(1.0, allowed / (whole - now))
    if method == "scenarios":
        exchange = _swapped
    else:
        exchange = _exchanged
    chances = []
    for before, after, weight in scaled:
        values = exchange(before, after, fails, passes)
        chances.append(values if weight == 1 else tuple((value * weight, chance) for value, chance in values))
    return tail(chances, seen)


@lru_cache(maxsize=4096)
def _exchanged(before: Counted, after: Counted, fails: float, passes: float) -> Chances:
    """The drop of one scenario if its runs were then and now by chance."""
    (k_then, n_then), (k_now, n_now) = before, after
    chances: dict[float, float] = {}
    thinned = range(k_then + 1) if fails else (k_then,)
    raised = range(n_now - k_now + 1) if passes else (0,)
    for kept in thinned:
        for more in raised:
            chance = _binomial(k_then, kept, 1 - fails) * _binomial(n_now - k_now, more, passes)
            for value, part in _hypergeometric(kept + k_now + more, n_then, n_now):
                chances[value] = chances.get(value, 0.0) + chance * part
    return tuple(sorted((value, chance) for value, chance in chances.items() if chance > 0))


@lru_cache(maxsize=4096)
def _swapped(before: Counted, after: Counted, fails: float, passes: float) -> Chances:
    """The drop of one scenario if its two sides were then and now by chance.

    Were one side of more runs than the other, a drop and a rise of one size would not be as likely: as many of its
    runs are chosen as the other has.
    """
    runs = min(before[1], after[1])
    chances: dict[float, float] = {}
    for then, one in _chosen(before, runs):
        for now, other in _chosen(after, runs):
            size = abs(then / runs * (1 - fails) - (now / runs + (1 - now / runs) * passes))
            for value in (-size, size):
                chances[value] = chances.get(value, 0.0) + one * other / 2
    return tuple(sorted(chances.items()))


def _chosen(side: Counted, runs: int) -> list[tuple[int, float]]:
    """How many of so many runs passed, each with its chance."""
    passed, counted = side
    ways = math.comb(counted, runs)
    return [
        (k, math.comb(passed, k) * math.comb(counted - passed, runs - k) / ways)
        for k in range(max(0, runs - counted + passed), min(passed, runs) + 1)
    ]


@lru_cache(maxsize=4096)
def _hypergeometric(passed: int, n_then: int, n_now: int) -> Chances:
    ways = math.comb(n_then + n_now, n_now)
    return tuple(
        (
            (passed - now) / n_then - now / n_now,
            math.comb(passed, now) * math.comb(n_then + n_now - passed, n_now - now) / ways,
        )
        for now in range(max(0, passed - n_then), min(passed, n_now) + 1)
    )


def _binomial(n: int, k: int, chance: float) -> float:
    if chance in (0.0, 1.0):
        return float(k == (n if chance else 0))
    return math.comb(n, k) * chance**k * (1 - chance) ** (n - k)


def _flipped(pairs: Sequence[tuple[float, float, float]]) -> float:
    """The same by whole scenarios: each difference might as well have had the other sign (Fisher, 1935)."""
    differences = [(before - after) * weight for before, after, weight in pairs]
    return tail([((-abs(d), 0.5), (abs(d), 0.5)) for d in differences if d], math.fsum(differences))


# ── Figures of runs ─────────────────────────────────────────────────────────────────────────────────────────


def mean_rise_p_value(pairs: Sequence[FigurePair], max_rise: float = 0.0, method: Method = "runs") -> float:
    """The chance of a rise of a mean over scenarios at least this large if it were no more than `max_rise` of it.

    For a rise allowed, the figures of before are taken as that much larger.
    """
    counted = [([x * (1 + max_rise) for x in then], list(now), w) for then, now, w in pairs if w > 0 and then and now]
    size = max((abs(x) * w for then, now, w in counted for x in (*then, *now)), default=0.0)
    if not size:
        return 1.0
    means = [(_mean(now) * w / size, _mean(then) * w / size, 1.0) for then, now, w in counted]
    seen = math.fsum(now - then for now, then, _ in means)
    if method == "scenarios":
        return _flipped(means)
    chances = [_rises([x * (w / size) for x in then], [x * (w / size) for x in now]) for then, now, w in counted]
    return tail(chances, seen)


def _rises(then: list[float], now: list[float]) -> Chances:
    """The rise of one scenario's mean if its runs were then and now by chance."""
    from itertools import combinations

    both, n, m = [*then, *now], len(then), len(now)
    whole = math.fsum(both)
    if min(both) == max(both):
        return ((0.0, 1.0),)
    if math.comb(n + m, m) <= _ENUMERATED:
        sums = [math.fsum(chosen) for chosen in combinations(both, m)]
    else:
        rng = seeded(sorted(both))
        sums = [math.fsum(rng.sample(both, m)) for _ in range(_CHOSEN)]
        off = whole * m / (n + m) - math.fsum(sums) / len(sums)  # drawn ones are off their mean by chance
        sums = [one + off for one in sums]
    chance = 1 / len(sums)
    return tuple(sorted((one / m - (whole - one) / n, chance) for one in sums))


def percentile_rise_p_value(
    pairs: Sequence[FigurePair], q: float, max_rise: float = 0.0, method: Method = "runs"
) -> float:
    """The same for a percentile of all runs, which is no sum: runs are exchanged 500 to 2,000 times.

    What is compared is the mean of five percentiles around it, 1.5 standard errors to either side: a single one may
    stand at the edge of a gap, and jump by chance (an idea of Harrell and Davis, 1982). The weight of a scenario is
    spread over its runs, so that different numbers of runs then and now change nothing.
    """
    counted = [([x * (1 + max_rise) for x in then], list(now), w) for then, now, w in pairs if w > 0 and then and now]
    if not counted:
        return 1.0
    counted.sort()
    if percentile_of([(now, w) for _, now, w in counted], q) <= percentile_of([(then, w) for then, _, w in counted], q):
        return 1.0
    number = min(sum(len(then) for then, _, _ in counted), sum(len(now) for _, now, _ in counted))
    error = math.sqrt(q * (1 - q) / number)
    around = [min(1.0, max(0.0, q + step * error)) for step in (-1.5, -0.75, 0.0, 0.75, 1.5)]
    seen = _rise(counted, around)
    rng = seeded((counted, q))
    draws = max(500, min(2_000, _EFFORT // sum(len(then) + len(now) for then, now, _ in counted)))
    larger = 0
    for _ in range(draws):
        exchanged = []
        for then, now, weight in counted:
            if method == "scenarios":
                exchanged.append((then, now, weight) if rng.random() < 0.5 else (now, then, weight))
                continue
            both = [*then, *now]
            rng.shuffle(both)
            exchanged.append((both[: len(then)], both[len(then) :], weight))
        larger += _rise(exchanged, around) >= seen * (1 - 1e-12)
    return (1 + larger) / (1 + draws)


def _rise(pairs: Sequence[tuple[list[float], list[float], float]], around: Sequence[float]) -> float:
    """The mean rise of several percentiles."""
    return math.fsum(_percentiles([(now, w) for _, now, w in pairs], around)) / len(around) - math.fsum(
        _percentiles([(then, w) for then, _, w in pairs], around)
    ) / len(around)


def _percentiles(groups: Sequence[tuple[list[float], float]], around: Sequence[float]) -> list[float]:
    weights = {weight / len(values) for values, weight in groups}
    if len(weights) == 1:
        ordered = sorted(x for values, _ in groups for x in values)
        return [percentile(ordered, q) for q in around]
    weighted = sorted((x, weight / len(values)) for values, weight in groups for x in values)
    return [weighted_percentile(weighted, q) for q in around]


def percentile_of(groups: Sequence[tuple[Sequence[float], float]], q: float) -> float:
    """The percentile of the runs of scenarios, the weight of each scenario spread over its runs."""
    return _percentiles([(list(values), weight) for values, weight in groups], [q])[0]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


# ── Several tests ───────────────────────────────────────────────────────────────────────────────────────────


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted for being several, in the given order: any below α is then wrong with chance α (Holm, 1979)."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted
