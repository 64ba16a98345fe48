"""Whether the statistics keep their word, on agents whose true rates are known: `python -m bench.simulation [--quick]`.

Scenarios are drawn with a chance of their own to pass: beta-distributed around the agent's rate, the more apart the
larger the correlation of one scenario's runs. At a correlation of 1 the agent always does the same. Measured are how
often the 95 % interval of a rate holds the true one, how often a baseline gate raises a false alarm on an agent that
did not change, and how often it notices a drop. All is drawn from a fixed seed.
"""

from __future__ import annotations

import argparse
import functools
import math
import sys
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from passmuster.scoring._drops import holm, rate_drop_p_value
from passmuster.scoring._intervals import rate_interval

__all__ = ["Sizes", "alarms", "coverage", "power"]

Counts = NDArray[np.int64]
Chances = NDArray[np.float64]

SEED = 1927
RATES = tuple(round(0.05 * step, 2) for step in range(1, 20))
REPEATS = (3, 5, 10)
CORRELATIONS = (0.1, 0.3, 0.5, 0.8, 1.0)
COVERED = (0.93, 0.985)
LEVEL = 0.05
BEFORE = 0.9
"""The rate from which an agent drops."""
APART = 0.3
"""How far the scenarios of the baseline gate's agents differ."""


class Sizes(Struct, frozen=True):
    """Scenarios of a suite, and how many suites of that size are drawn: for each true rate, and for the gate."""

    scenarios: int
    suites: int
    gates: int


FULL = (
    Sizes(10, 1_500, 4_000),
    Sizes(30, 1_000, 4_000),
    Sizes(100, 500, 4_000),
    Sizes(300, 300, 3_000),
    Sizes(1_000, 150, 0),
)
QUICK = (Sizes(10, 150, 500), Sizes(30, 100, 500), Sizes(100, 50, 200))


class Cell(Struct, frozen=True):
    """How often the interval held the true rate, in suites of one kind."""

    scenarios: int
    repeats: int
    correlation: float
    mean: float
    worst: float
    worst_at: float

    @property
    def held(self) -> bool:
        return COVERED[0] <= self.mean <= COVERED[1]


class Alarms(Struct, frozen=True):
    """How often a baseline gate raised an alarm, in suites of one kind."""

    scenarios: int
    repeats: int
    what: str
    rate: float
    gates: int

    @property
    def held(self) -> bool:
        """Whether there are no more false alarms than said, give or take two standard errors of this simulation."""
        return self.rate <= LEVEL + 2 * math.sqrt(LEVEL * (1 - LEVEL) / self.gates)


# ── Drawing ─────────────────────────────────────────────────────────────────────────────────────────────────


def chances(rng: np.random.Generator, rate: float, correlation: float, shape: tuple[int, int]) -> Chances:
    """Each scenario's own chance to pass."""
    if correlation == 1:
        return (rng.random(shape) < rate).astype(np.float64)
    apart = (1 - correlation) / correlation
    return rng.beta(rate * apart, (1 - rate) * apart, shape)


@functools.cache
def interval(passed: tuple[int, ...], repeats: int) -> tuple[float, float]:
    """The interval of a suite, its scenarios in any order: small suites come out alike again and again."""
    found = rate_interval([(number, repeats) for number in passed])
    assert found is not None
    return found


@functools.cache
def p_value(pairs: tuple[tuple[int, int], ...], repeats: int) -> float:
    """The p-value of a drop, of what each scenario passed before and after."""
    return rate_drop_p_value([((before, repeats), (after, repeats), 1.0) for before, after in pairs])


def dropped(before: Counts, after: Counts, repeats: int) -> float:
    pairs = zip(before.tolist(), after.tolist(), strict=True)
    return p_value(tuple(sorted(pairs)), repeats)


# ── Measuring ───────────────────────────────────────────────────────────────────────────────────────────────


def coverage(sizes: Iterable[Sizes], rates: Iterable[float] = RATES) -> Iterator[Cell]:
    """How often the 95 % interval holds the true rate, by scenarios, repeats and correlation."""
    for size in sizes:
        for repeats, correlation in ((1, 1.0), *((r, c) for r in REPEATS for c in CORRELATIONS)):
            rng = np.random.default_rng([SEED, size.scenarios, repeats, round(correlation * 100)])
            held = {rate: _covered(rng, rate, size, repeats, correlation) for rate in rates}
            worst_at = min(held, key=held.__getitem__)
            mean = sum(held.values()) / len(held)
            yield Cell(size.scenarios, repeats, correlation, mean, held[worst_at], worst_at)
            interval.cache_clear()


def _covered(rng: np.random.Generator, rate: float, size: Sizes, repeats: int, correlation: float) -> float:
    passed = rng.binomial(repeats, chances(rng, rate, correlation, (size.suites, size.scenarios)))
    found = (interval(tuple(suite), repeats) for suite in np.sort(passed, axis=1).tolist())
    return sum(low <= rate <= high for low, high in found) / size.suites


def alarms(sizes: Iterable[Sizes], rates: Sequence[float] = (0.5, 0.8, 0.95)) -> Iterator[Alarms]:
    """How often an agent that did not change is said to have dropped: on the whole suite, and with its two halves as
    categories, the three p-values adjusted after Holm."""
    for size in sizes:
        for repeats in (1, 3, 5):
            rng = np.random.default_rng([SEED, size.scenarios, repeats])
            half = size.scenarios // 2
            whole = any_of_three = 0
            for before, after in (pair for rate in rates for pair in _twice(rng, rate, 0.0, size, repeats)):
                parts = ((before, after), (before[:half], after[:half]), (before[half:], after[half:]))
                found = [dropped(one, other, repeats) for one, other in parts]
                whole += holm(found[:1])[0] < LEVEL
                any_of_three += min(holm(found)) < LEVEL
            number = size.gates * len(rates)
            yield Alarms(size.scenarios, repeats, "pass rate", whole / number, number)
            yield Alarms(size.scenarios, repeats, "pass rate, two categories", any_of_three / number, number)
            p_value.cache_clear()


def power(sizes: Iterable[Sizes], drops: Iterable[float] = (0.05, 0.1, 0.2)) -> Iterator[Alarms]:
    """How often a drop from 90 % is noticed on the whole suite."""
    for size in sizes:
        for repeats in (1, 3, 5):
            for drop in drops:
                rng = np.random.default_rng([SEED, size.scenarios, repeats, round(drop * 100)])
                pairs = _twice(rng, BEFORE, drop, size, repeats)
                noticed = sum(dropped(before, after, repeats) < LEVEL for before, after in pairs)
                yield Alarms(size.scenarios, repeats, f"{drop * 100:.0f} points", noticed / size.gates, size.gates)
            p_value.cache_clear()


def _twice(
    rng: np.random.Generator, rate: float, drop: float, size: Sizes, repeats: int
) -> Iterator[tuple[Counts, Counts]]:
    """Two evaluations of the same scenarios, the second by an agent whose every chance is lower in proportion."""
    own = chances(rng, rate, APART, (size.gates, size.scenarios))
    yield from zip(rng.binomial(repeats, own), rng.binomial(repeats, own * (1 - drop / rate)), strict=True)


# ── Telling ─────────────────────────────────────────────────────────────────────────────────────────────────


def main() -> None:
    """Print three tables; exit with 1 if an interval or the gate does not keep its word."""
    parser = argparse.ArgumentParser(prog="bench.simulation", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller and fewer suites: a look, not a measurement")
    sizes = QUICK if parser.parse_args().quick else FULL
    gated = [size for size in sizes if size.gates]

    print("Coverage of the 95 % interval, mean over true rates of 5 to 95 %\n")
    print("| scenarios | runs each | correlation | mean | lowest | at | held |\n|---|---|---|---|---|---|---|")
    cells = []
    for cell in coverage(sizes):
        cells.append(cell)
        correlation = "–" if cell.repeats == 1 else f"{cell.correlation:g}"
        print(
            f"| {cell.scenarios} | {cell.repeats} | {correlation} | {cell.mean:.1%} | {cell.worst:.1%} "
            f"| {cell.worst_at:.0%} | {'yes' if cell.held else 'NO'} |",
            flush=True,
        )
    print("\nFalse alarms on an agent that did not change\n")
    print("| scenarios | runs each | compared | alarms | held |\n|---|---|---|---|---|")
    raised = []
    for line in alarms(gated):
        raised.append(line)
        held = "yes" if line.held else "NO"
        print(f"| {line.scenarios} | {line.repeats} | {line.what} | {line.rate:.2%} | {held} |", flush=True)
    print(f"\nHow often a drop from {BEFORE:.0%} is noticed\n")
    print("| scenarios | runs each | drop | noticed |\n|---|---|---|---|")
    for line in power(gated):
        print(f"| {line.scenarios} | {line.repeats} | {line.what} | {line.rate:.1%} |", flush=True)
    sys.exit(0 if all(cell.held for cell in cells) and all(line.held for line in raised) else 1)


if __name__ == "__main__":
    main()
