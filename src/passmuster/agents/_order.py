"""The order in which runs take place."""

from __future__ import annotations

import random
from collections.abc import Iterable

from passmuster.agents._run import PlannedRun


def random_order(runs: Iterable[PlannedRun], seed: int) -> list[PlannedRun]:
    """The runs in a random order that the seed decides, so that those which took place tell of all of them."""
    ordered = sorted(runs, key=lambda one: (one.scenario, one.run))
    random.Random(seed).shuffle(ordered)
    return ordered
