"""The check `max_llm_calls`."""

from passmuster.checks.layers._limit import limit_key
from passmuster.traces import total_llm_calls

KEY = limit_key(
    "max_llm_calls",
    "The maximum number of model calls.",
    "model calls",
    lambda view: total_llm_calls(view.trace),
    order=3,
    example=5,
)
