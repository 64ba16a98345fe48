"""The check `max_tool_calls`."""

from passmuster.checks.layers.path._tools import most_key

KEY = most_key(
    "max_tool_calls",
    "The maximum number of tool calls.",
    "calls",
    lambda view: len(view.names),
    lambda view: range(len(view.names)),
    order=8,
    example=10,
)
