"""The check `min_tool_precision`."""

from __future__ import annotations

from passmuster import metrics
from passmuster.checks.layers._layer import Context, LayerCheck, LayerKey
from passmuster.checks.layers.path._tools import at_least
from passmuster.suite import FRACTION

__all__ = ["KEY"]


def _compile(least: float, context: Context) -> LayerCheck:
    """The check for this bound."""
    return at_least("min_tool_precision", least, context, metrics.tool_precision)


KEY = LayerKey(
    FRACTION,
    "The share of the used tools that were expected is at least this.",
    _compile,
    order=3,
    example=0.8,
    needs="expected_tools",
)
