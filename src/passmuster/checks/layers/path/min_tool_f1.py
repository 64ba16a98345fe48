"""`min_tool_f1`: the f1 of used next to expected tools is at least this."""

from __future__ import annotations

from passmuster import metrics
from passmuster.checks.layers._layer import Context, LayerCheck
from passmuster.checks.layers.path._tools import at_least

__all__ = ["ORDER", "compile"]

ORDER = 4


def compile(least: float, context: Context) -> LayerCheck:
    """The check for this bound."""
    return at_least("min_tool_f1", least, context, metrics.tool_f1)
