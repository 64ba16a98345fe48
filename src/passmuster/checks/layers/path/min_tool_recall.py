"""The check `min_tool_recall`."""

from passmuster.checks.layers.path._tools import least_key
from passmuster.metrics import tool_recall

KEY = least_key(
    "min_tool_recall", "The share of the expected tools that were used is at least this.", tool_recall, order=2
)
