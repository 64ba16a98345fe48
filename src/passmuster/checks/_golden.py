"""What an agent did before, per scenario: the reference of path and cost checks where the suite gives none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

from passmuster.traces import Trace, total_cost_usd


class Golden(Struct, frozen=True):
    """The recorded runs of one scenario: their tool sequences, and their median cost where all are known."""

    sequences: tuple[tuple[str, ...], ...]
    cost_usd: float | None = None


class RunShown(NamedTuple):
    """What one recorded run shows."""

    sequence: tuple[str, ...] | None
    """None where the run does not record its calls."""
    cost_usd: float | None


def shown_by(trace: Trace) -> RunShown:
    """The part of a recorded run that later ones are compared with."""
    sequence = None if trace.calls_unknown else tuple(call.tool for call in trace.tool_calls)
    return RunShown(sequence, total_cost_usd(trace))


def golden_of(runs: Sequence[RunShown]) -> Golden:
    """What these runs of one scenario show together."""
    from statistics import median  # late: it imports much

    known = [run.cost_usd for run in runs if run.cost_usd is not None]
    sequences = tuple(dict.fromkeys(run.sequence for run in runs if run.sequence is not None))
    return Golden(sequences, median(known) if known and len(known) == len(runs) else None)
