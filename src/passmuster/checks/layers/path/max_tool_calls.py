"""The check `max_tool_calls`."""

from passmuster.checks.layers._limit import limit_key
from passmuster.suite import WHOLE

KEY = limit_key(
    "max_tool_calls",
    "The maximum number of tool calls.",
    "calls",
    lambda view: len(view.names),
    order=8,
    example=10,
    value=WHOLE,
    calls=lambda view: range(len(view.names)),
)
