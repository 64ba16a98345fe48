"""How a figure is spread over traces or scenarios."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Sequence

from passmuster._problems import plural
from passmuster.scoring._evidence import Distribution

_BINS = 24
_FEWEST = 5


def distribution(name: str, unit: str, ordered: Sequence[float]) -> Distribution | None:
    """Counts of ordered values in bins of equal width; None of too few values, or of values that are all the same."""
    if len(ordered) < _FEWEST or not ordered[0] < ordered[-1] < float("inf"):
        return None
    least, most = ordered[0], ordered[-1]
    edges = [least + (most - least) * at / _BINS for at in range(_BINS)] + [most]
    places = [0, *(bisect_left(ordered, edge) for edge in edges[1:-1]), len(ordered)]
    middle, high = (ordered[min(len(ordered) - 1, int(len(ordered) * share))] for share in (0.5, 0.9))
    words = f"{plural(len(ordered), 'value')}: half below {middle:.4g} {unit}, nine in ten below {high:.4g} {unit}."
    counts = [after - before for before, after in itertools.pairwise(places)]
    return Distribution(name, unit, [float(f"{edge:.4g}") for edge in edges], counts, words)
