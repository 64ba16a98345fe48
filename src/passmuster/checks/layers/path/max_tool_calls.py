"""`max_tool_calls`: at most so many tool calls."""

from __future__ import annotations

from passmuster.checks.layers._layer import Context, LayerCheck
from passmuster.checks.layers.path._tools import at_most

__all__ = ["ORDER", "compile"]

ORDER = 8


def compile(most: int, context: Context) -> LayerCheck:
    """The check for this limit."""
    return at_most("max_tool_calls", most, "calls", lambda view: len(view.names), lambda view: range(len(view.names)))
