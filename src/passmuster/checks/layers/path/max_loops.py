"""The check `max_loops`."""

from passmuster import metrics
from passmuster.checks._view import View
from passmuster.checks.layers._limit import limit_key
from passmuster.checks.layers.path._tools import loops
from passmuster.suite import WHOLE


def _count(view: View) -> int:
    return metrics.loop_count(view.names) if view.plain else len(loops(view))


KEY = limit_key(
    "max_loops",
    "The maximum number of calls that repeat the tool of the call before; parallel calls are not loops.",
    "loops",
    _count,
    order=9,
    example=0,
    value=WHOLE,
    calls=loops,
)
