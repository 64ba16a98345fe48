"""The check `min_tool_precision`."""

from passmuster.checks.layers.path._tools import least_key
from passmuster.metrics import tool_precision

KEY = least_key(
    "min_tool_precision", "The share of the used tools that were expected is at least this.", tool_precision, order=3
)
