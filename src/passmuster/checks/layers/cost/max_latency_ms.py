"""The check `max_latency_ms`."""

from __future__ import annotations

from passmuster.checks.layers._layer import Context, LayerCheck, LayerKey
from passmuster.checks.layers.cost._limit import at_most
from passmuster.suite import AMOUNT
from passmuster.traces import total_duration_ms

__all__ = ["KEY"]


def _compile(limit: float, context: Context) -> LayerCheck:
    """The check for this limit."""
    return at_most("max_latency_ms", limit, "ms", total_duration_ms)


KEY = LayerKey(
    AMOUNT,
    "The run takes at most so many milliseconds.",
    _compile,
    order=4,
    example=5000,
)
