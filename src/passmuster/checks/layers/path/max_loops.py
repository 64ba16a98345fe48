"""The check `max_loops`."""

from passmuster import metrics
from passmuster.checks._view import View
from passmuster.checks.layers.path._tools import loops, most_key


def _count(view: View) -> int:
    return metrics.loop_count(view.names) if view.plain else len(loops(view))


KEY = most_key(
    "max_loops",
    "At most so many calls of the tool just called; calls made in parallel are no loop.",
    "loops",
    _count,
    loops,
    order=9,
    example=0,
)
