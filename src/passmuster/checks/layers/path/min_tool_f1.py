"""The check `min_tool_f1`."""

from __future__ import annotations

from passmuster import metrics
from passmuster.checks.layers._layer import Context, LayerCheck, LayerKey
from passmuster.checks.layers.path._tools import at_least
from passmuster.suite import FRACTION

__all__ = ["KEY"]


def _compile(least: float, context: Context) -> LayerCheck:
    """The check for this bound."""
    return at_least("min_tool_f1", least, context, metrics.tool_f1)


KEY = LayerKey(
    FRACTION,
    "The harmonic mean of tool precision and recall is at least this.",
    _compile,
    order=4,
    example=0.8,
    needs="expected_tools",
)
