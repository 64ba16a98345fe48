"""The distribution of a sum over scenarios under permutation: exact where that is cheap, else drawn.

Each scenario adds one of several values, each with a chance. Values are sorted first and draws are seeded by the
values, so that the same values give the same result in any order.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

Chances = tuple[tuple[float, float], ...]
"""The values that a scenario may add, each with its chance; sorted."""

DRAWS = 20_000
_STEPS = 6_000_000
"""What an exact distribution may cost, in numbers added: about a third of a second."""
_LISTED = 1 << 16
"""Sums up to which all of them are listed."""
_DENOMINATOR = 25_200
"""Values that are multiples of 1 / this, or of a divisor of it, lie on a lattice."""
_TIE = 1e-9


def tail(scenarios: Sequence[Chances], seen: float) -> float:
    """The chance that the sum is as large as seen, or larger."""
    varying = sorted(one for one in scenarios if len(one) > 1)
    fixed = math.fsum(one[0][0] for one in scenarios if len(one) == 1)
    scale = math.fsum(max(abs(value) for value, _ in one) for one in varying) or 1.0
    least = seen - fixed - _TIE * scale
    if not varying:
        return 1.0 if least <= 0 else 0.0
    lattice = _lattice(varying)
    if lattice is not None:
        return _exact(*lattice, least)
    if math.prod(len(one) for one in varying) <= _LISTED:
        return _listed(varying, least)
    return _drawn(varying, least)


# ── Exact ───────────────────────────────────────────────────────────────────────────────────────────────────


def _lattice(scenarios: Sequence[Chances]) -> tuple[list[list[float]], float, float] | None:
    """The chances by whole steps above the least sum, that sum, and the step; None where it would cost too much."""
    whole: list[dict[int, float]] = []
    for one in scenarios:
        placed = {round(value * _DENOMINATOR): chance for value, chance in one}
        exact = all(abs(value * _DENOMINATOR - round(value * _DENOMINATOR)) < 1e-6 for value, _ in one)
        if not exact or len(placed) < len(one):
            return None
        whole.append(placed)
    step = math.gcd(*(place - min(one) for one in whole for place in one))
    sizes = [(max(one) - min(one)) // step for one in whole]
    if sum(sizes) * (math.log2(len(sizes)) + 2) * max(sizes) > _STEPS and sum(sizes) ** 2 > _STEPS:
        return None
    spread = []
    for placed, size in zip(whole, sizes, strict=True):
        chances = [0.0] * (size + 1)
        for place, chance in placed.items():
            chances[(place - min(placed)) // step] += chance
        spread.append(chances)
    return spread, sum(min(one) for one in whole) / _DENOMINATOR, step / _DENOMINATOR


def _exact(spread: Sequence[list[float]], lowest: float, step: float, least: float) -> float:
    whole = _summed([list(one) for one in spread])
    first = max(0, math.ceil((least - lowest) / step))
    return min(1.0, max(math.fsum(whole[first:]), math.ulp(0.0)))


def _listed(scenarios: Sequence[Chances], least: float) -> float:
    sums = [(0.0, 1.0)]
    for one in scenarios:
        sums = [(total + value, chance * part) for total, chance in sums for value, part in one]
    return min(1.0, math.fsum(chance for total, chance in sums if total >= least))


def _summed(spread: list[list[float]]) -> list[float]:
    """The chances of the sum: scenarios that are alike are added by squaring, and short lists before long ones."""
    powers = [_power(list(one), times) for one, times in Counter(map(tuple, spread)).items()]
    powers.sort(key=len)
    while len(powers) > 1:
        first, second, *rest = powers
        powers = sorted([*rest, _added(first, second)], key=len)
    return powers[0]


def _power(chances: list[float], times: int) -> list[float]:
    found: list[float] | None = None
    while times:
        if times & 1:
            found = chances if found is None else _added(found, chances)
        times >>= 1
        if times:
            chances = _added(chances, chances)
    assert found is not None
    return found


def _added(one: list[float], other: list[float]) -> list[float]:
    """The chances of the sum of two."""
    short, long = sorted((one, other), key=len)
    sums = [0.0] * (len(short) + len(long) - 1)
    width = len(long)
    for start, chance in enumerate(short):
        if chance:
            end = start + width
            sums[start:end] = [so_far + chance * more for so_far, more in zip(sums[start:end], long, strict=True)]
    return sums


# ── Drawn ───────────────────────────────────────────────────────────────────────────────────────────────────


def _drawn(scenarios: Sequence[Chances], least: float) -> float:
    """From drawn sums, the seen one counted among them (Phipson and Smyth, 2010).

    Two random bytes choose a value, by a table of 65,536 that holds each as often as its chance says.
    """
    from array import array

    rng = seeded(scenarios)
    totals = [0.0] * DRAWS
    signs = [one[1][0] for one in scenarios if len(one) == 2 and one[0] == (-one[1][0], 0.5)]
    for start in range(0, len(signs), 8):  # a byte holds eight signs, and indexes their sum
        sums = [0.0]
        for size in signs[start : start + 8]:
            sums = [*(total - size for total in sums), *(total + size for total in sums)]
        mask = len(sums) - 1
        totals = [total + sums[bits & mask] for total, bits in zip(totals, rng.randbytes(DRAWS), strict=True)]
    others = [one for one in scenarios if len(one) != 2 or one[0] != (-one[1][0], 0.5)]
    for one, times in Counter(others).items():
        table = _table(one)
        for _ in range(times):
            drawn = array("H", rng.randbytes(2 * DRAWS))
            totals = [total + table[choice] for total, choice in zip(totals, drawn, strict=True)]
    return (1 + sum(total >= least for total in totals)) / (1 + DRAWS)


def _table(chances: Chances) -> list[float]:
    size = 1 << 16
    table: list[float] = []
    reached = 0.0
    for value, chance in chances:
        reached += chance
        table += [value] * (round(reached * size) - len(table))
    return table + [chances[-1][0]] * (size - len(table))


def seeded(values: object) -> Random:
    """A generator seeded by the values."""
    from hashlib import sha256
    from random import Random

    return Random(sha256(repr(values).encode()).digest())
