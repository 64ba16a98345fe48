"""The check `min_tool_recall`."""

from __future__ import annotations

from passmuster import metrics
from passmuster.checks.layers._layer import Context, LayerCheck, LayerKey
from passmuster.checks.layers.path._tools import at_least
from passmuster.suite import FRACTION

__all__ = ["KEY"]


def _compile(least: float, context: Context) -> LayerCheck:
    """The check for this bound."""
    return at_least("min_tool_recall", least, context, metrics.tool_recall)


KEY = LayerKey(
    FRACTION,
    "The share of the expected tools that were used is at least this.",
    _compile,
    order=2,
    example=0.8,
    needs="expected_tools",
)
