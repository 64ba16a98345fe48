"""How far two raters agree beyond chance: a judge and a person, or a judge and itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

from passmuster.scoring._percentiles import percentile

_Pair = tuple[Hashable, Hashable]

_DRAWS = 4_000
_SEED = 20_060_421
_PRIOR = 0.5


def cohens_kappa(pairs: Sequence[_Pair]) -> float | None:
    """Agreement beyond chance, (p_o - p_e) / (1 - p_e) (Cohen, 1960).

    No number without a pair, and none where chance alone would agree always: both used one same label throughout.
    """
    return _kappa(Counter(pairs))


def kappa_interval(
    pairs: Sequence[_Pair], confidence: float = 0.95, effective: float | None = None
) -> tuple[float, float] | None:
    """The interval of kappa, the pairs being a sample; none where kappa has no value.

    The middle part of kappa's posterior: the chances of the table's cells are Dirichlet-distributed around their
    counts plus ½ (Jeffreys, 1946), and 4,000 tables are drawn with a fixed seed. `effective` is the number of
    independent pairs that tell as much, where several pairs belong to one scenario: the counts are scaled to it. The
    order of the pairs does not matter as long as labels that differ print differently.
    """
    cells = Counter(pairs)
    kappa = _kappa(cells)
    if kappa is None:
        return None
    scale = 1.0 if effective is None else min(1.0, effective / len(pairs))
    drawn = _drawn(cells, scale)
    low, high = (percentile(drawn, (1 + side * confidence) / 2) for side in (-1, 1))
    return min(low, kappa), max(high, kappa)


def _kappa(cells: Mapping[_Pair, float]) -> float | None:
    n = sum(cells.values())
    left, right = _margins(cells)
    chance = sum(left[label] * right[label] for label in left)  # in units of n squared, and so exact for counts
    if n * n == chance:
        return None
    agreed = sum(number for (one, other), number in cells.items() if one == other)
    return (agreed * n - chance) / (n * n - chance)


def _margins(cells: Mapping[_Pair, float]) -> tuple[dict[Hashable, float], dict[Hashable, float]]:
    labels = {label for pair in cells for label in pair}
    left: dict[Hashable, float] = dict.fromkeys(labels, 0)
    right: dict[Hashable, float] = dict.fromkeys(labels, 0)
    for (one, other), number in cells.items():
        left[one] += number
        right[other] += number
    return left, right


def _drawn(cells: Mapping[_Pair, int], scale: float) -> list[float]:
    """Kappa of tables drawn from the posterior, sorted."""
    from random import Random

    gamma = Random(_SEED).gammavariate
    labels = sorted({label for pair in cells for label in pair}, key=repr)
    table = [(one, other) for one in labels for other in labels]
    shapes = [cells.get(pair, 0) * scale + _PRIOR for pair in table]
    drawn = (
        _kappa({pair: gamma(shape, 1.0) for pair, shape in zip(table, shapes, strict=True)}) for _ in range(_DRAWS)
    )
    return sorted(kappa for kappa in drawn if kappa is not None)
