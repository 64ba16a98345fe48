"""The check `max_latency_ms`."""

from passmuster.checks.layers.cost._limit import limit_key
from passmuster.traces import total_duration_ms

KEY = limit_key(
    "max_latency_ms", "The maximum duration of the run in milliseconds.", "ms", total_duration_ms, order=4, example=5000
)
