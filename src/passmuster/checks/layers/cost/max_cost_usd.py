"""`max_cost_usd`: the run costs at most so many dollars."""

from __future__ import annotations

from passmuster.checks.layers._layer import Context, LayerCheck
from passmuster.checks.layers.cost._limit import at_most
from passmuster.traces import total_cost_usd

__all__ = ["ORDER", "compile"]

ORDER = 5


def compile(limit: float, context: Context) -> LayerCheck:
    """The check for this limit."""
    return at_most("max_cost_usd", limit, "USD", total_cost_usd)
