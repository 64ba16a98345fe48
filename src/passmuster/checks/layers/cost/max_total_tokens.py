"""`max_total_tokens`: tokens in and out of all model calls are at most this."""

from __future__ import annotations

from passmuster.checks.layers._layer import Context, LayerCheck
from passmuster.checks.layers.cost._limit import at_most
from passmuster.traces import total_tokens

__all__ = ["ORDER", "compile"]

ORDER = 2


def compile(limit: float, context: Context) -> LayerCheck:
    """The check for this limit."""
    return at_most("max_total_tokens", limit, "tokens", total_tokens)
