"""What an agent did before, per scenario: the reference of path and cost checks where the suite gives none."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from passmuster.traces import totals
from passmuster.traces.model import Trace

__all__ = ["Golden", "golden_of"]


class Golden(Struct, frozen=True):
    """The recorded runs of one scenario: their tool sequences, and their median cost where all are known."""

    sequences: tuple[tuple[str, ...], ...]
    cost_usd: float | None = None


def golden_of(traces: Iterable[Trace]) -> Golden:
    """What these runs of one scenario show."""
    from statistics import median  # late, for it brings much along

    runs = list(traces)
    costs = [totals.cost_usd(trace) for trace in runs]
    known = [cost for cost in costs if cost is not None]
    sequences = {tuple(call.tool for call in trace.tool_calls): None for trace in runs}
    return Golden(tuple(sequences), median(known) if known and len(known) == len(costs) else None)
