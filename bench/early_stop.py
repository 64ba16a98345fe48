"""How many runs stopping early saves, and how often it changes the verdict: `python -m bench.early_stop [TRIALS]`.

A suite of 50 scenarios, 5 runs each, whose `pass_rate` has to reach 90 %, is run by agents whose runs pass with a known
chance. The runs are drawn at random until the verdict is certain, or settled to within 1 %. It fails if a figure is
more than three points from the expected one, or if more than 0.2 % of the verdicts differ.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from functools import cache

from msgspec import Struct

from passmuster.scoring import settled_side

RUNS, LIMIT, CHANCE = 250, 26, 0.01
"""With 26 of 250 runs failed the rate is below 90 %."""
EXPECTED = {0.70: (65, 86), 0.85: (30, 40), 0.95: (6, 36), 0.99: (9, 67)}
"""By the chance that a run passes: the percentages of runs saved once certain, and once settled."""
POINTS, DIFFERENT = 3.0, 0.002


class Saving(Struct, frozen=True):
    """What stopping early comes to for agents whose runs pass with this chance."""

    rate: float
    certain: float
    """The share of runs that is saved where the verdict is certain."""
    settled: float
    """The same where it is settled."""
    different: float
    """How often a settled verdict is another than that of all runs."""


def stops(failures: list[bool]) -> tuple[int, int, bool]:
    """After how many runs the verdict is certain, and settled; and whether it is settled as it is with all runs."""
    failed = 0
    settled: tuple[int, bool] | None = None
    for drawn, fails in enumerate(failures, start=1):
        failed += fails
        certain = failed >= LIMIT or failed + RUNS - drawn < LIMIT
        side = _side(drawn, failed) if settled is None else None
        if side is not None:
            settled = (drawn, side == "reached")
        if certain:
            assert settled is not None
            return drawn, settled[0], settled[1] == (failed >= LIMIT)
    raise AssertionError("the last run makes the verdict certain")


@cache
def _side(drawn: int, failed: int) -> str | None:
    return settled_side(drawn, failed, RUNS, LIMIT, CHANCE)


def saving(rate: float, trials: int, seed: int = 1) -> Saving:
    """The mean over so many agents."""
    draw = random.Random(seed)
    found = [stops([draw.random() >= rate for _ in range(RUNS)]) for _ in range(trials)]
    certain, settled = (1 - sum(one[place] for one in found) / (trials * RUNS) for place in (0, 1))
    return Saving(rate, certain, settled, sum(not one[2] for one in found) / trials)


def missed(one: Saving) -> Iterator[str]:
    """What is not as expected."""
    certain, settled = EXPECTED[one.rate]
    for word, value, expected in (("certain", one.certain, certain), ("settled", one.settled, settled)):
        if abs(value * 100 - expected) > POINTS:
            yield f"{word} at {one.rate:.0%}: {value:.1%} saved, expected about {expected} %"
    if one.different > DIFFERENT:
        yield f"at {one.rate:.0%} {one.different:.2%} of the verdicts differ, at most {DIFFERENT:.1%} may"


def main(trials: int = 4000) -> int:
    """Print the figures; 1 where one is missed."""
    print(f"50 scenarios, 5 runs each, pass_rate >= 90%, {trials} agents per rate")
    print("rate   saved: certain  settled at 1%  different verdicts")
    problems: list[str] = []
    for rate in EXPECTED:
        one = saving(rate, trials)
        print(f"{rate:4.0%}  {one.certain:14.1%} {one.settled:14.1%} {one.different:19.2%}")
        problems += missed(one)
    for problem in problems:
        print(f"missed: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
