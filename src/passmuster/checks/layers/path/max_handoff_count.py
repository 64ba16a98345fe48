"""The check `max_handoff_count`."""

from passmuster.checks._view import View
from passmuster.checks.layers._limit import limit_key
from passmuster.suite import WHOLE
from passmuster.traces import Handoff


def _count(view: View) -> int:
    return sum(type(step) is Handoff for step in view.trace.steps)


KEY = limit_key(
    "max_handoff_count",
    "The maximum number of handoffs from one agent to another.",
    "handoffs",
    _count,
    order=10,
    example=2,
    value=WHOLE,
)
