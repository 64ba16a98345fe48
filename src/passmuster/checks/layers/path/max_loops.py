"""The check `max_loops`."""

from __future__ import annotations

from passmuster import metrics
from passmuster.checks._view import View
from passmuster.checks.layers._layer import Context, LayerCheck, LayerKey
from passmuster.checks.layers.path._tools import at_most, loops
from passmuster.suite import WHOLE

__all__ = ["KEY"]


def _compile(most: int, context: Context) -> LayerCheck:
    """The check for this limit."""
    return at_most("max_loops", most, "loops", _count, loops)


def _count(view: View) -> int:
    return metrics.loop_count(view.names) if view.plain else len(loops(view))


KEY = LayerKey(
    WHOLE,
    "At most so many calls of the tool just called; calls made in parallel are no loop.",
    _compile,
    order=9,
    example=0,
)
