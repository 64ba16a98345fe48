"""The check `max_tool_calls`."""

from __future__ import annotations

from passmuster.checks.layers._layer import Context, LayerCheck, LayerKey
from passmuster.checks.layers.path._tools import at_most
from passmuster.suite import WHOLE

__all__ = ["KEY"]


def _compile(most: int, context: Context) -> LayerCheck:
    """The check for this limit."""
    return at_most("max_tool_calls", most, "calls", lambda view: len(view.names), lambda view: range(len(view.names)))


KEY = LayerKey(
    WHOLE,
    "At most so many tool calls.",
    _compile,
    order=8,
    example=10,
)
