"""The check `min_tool_f1`."""

from passmuster.checks.layers.path._tools import least_key
from passmuster.metrics import tool_f1

KEY = least_key("min_tool_f1", "The harmonic mean of tool precision and recall is at least this.", tool_f1, order=4)
