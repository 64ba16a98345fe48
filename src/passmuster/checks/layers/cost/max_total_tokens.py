"""The check `max_total_tokens`."""

from __future__ import annotations

from passmuster.checks.layers._layer import Context, LayerCheck, LayerKey
from passmuster.checks.layers.cost._limit import at_most
from passmuster.suite import AMOUNT
from passmuster.traces import total_tokens

__all__ = ["KEY"]


def _compile(limit: float, context: Context) -> LayerCheck:
    """The check for this limit."""
    return at_most("max_total_tokens", limit, "tokens", total_tokens)


KEY = LayerKey(
    AMOUNT,
    "Tokens in and out of all model calls are at most this.",
    _compile,
    order=2,
    example=2000,
)
