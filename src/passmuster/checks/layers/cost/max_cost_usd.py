"""The check `max_cost_usd`."""

from __future__ import annotations

from passmuster.checks.layers._layer import Context, LayerCheck, LayerKey
from passmuster.checks.layers.cost._limit import at_most
from passmuster.suite import AMOUNT
from passmuster.traces import total_cost_usd

__all__ = ["KEY"]


def _compile(limit: float, context: Context) -> LayerCheck:
    """The check for this limit."""
    return at_most("max_cost_usd", limit, "USD", total_cost_usd)


KEY = LayerKey(
    AMOUNT,
    "The run costs at most so many dollars.",
    _compile,
    order=5,
    example=0.05,
)
