"""`max_llm_calls`: there are at most so many model calls."""

from __future__ import annotations

from passmuster.checks.layers._layer import Context, LayerCheck
from passmuster.checks.layers.cost._limit import at_most
from passmuster.traces import total_llm_calls

__all__ = ["ORDER", "compile"]

ORDER = 3


def compile(limit: float, context: Context) -> LayerCheck:
    """The check for this limit."""
    return at_most("max_llm_calls", limit, "model calls", total_llm_calls)
