"""The check `max_latency_ms`."""

from passmuster.checks.layers._limit import limit_key
from passmuster.traces import total_duration_ms

KEY = limit_key(
    "max_latency_ms",
    "The maximum duration of the run in milliseconds.",
    "ms",
    lambda view: total_duration_ms(view.trace),
    order=4,
    example=5000,
)
