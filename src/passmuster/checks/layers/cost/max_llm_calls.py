"""The check `max_llm_calls`."""

from __future__ import annotations

from passmuster.checks.layers._layer import Context, LayerCheck, LayerKey
from passmuster.checks.layers.cost._limit import at_most
from passmuster.suite import AMOUNT
from passmuster.traces import total_llm_calls

__all__ = ["KEY"]


def _compile(limit: float, context: Context) -> LayerCheck:
    """The check for this limit."""
    return at_most("max_llm_calls", limit, "model calls", total_llm_calls)


KEY = LayerKey(
    AMOUNT,
    "At most so many model calls.",
    _compile,
    order=3,
    example=5,
)
