"""`max_latency_ms`: the run takes at most so many milliseconds."""

from __future__ import annotations

from passmuster.checks.layers._layer import Context, LayerCheck
from passmuster.checks.layers.cost._limit import at_most
from passmuster.traces import total_duration_ms

__all__ = ["ORDER", "compile"]

ORDER = 4


def compile(limit: float, context: Context) -> LayerCheck:
    """The check for this limit."""
    return at_most("max_latency_ms", limit, "ms", total_duration_ms)
