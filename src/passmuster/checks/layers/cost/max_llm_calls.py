"""The check `max_llm_calls`."""

from passmuster.checks.layers.cost._limit import limit_key
from passmuster.traces import total_llm_calls

KEY = limit_key(
    "max_llm_calls", "The maximum number of model calls.", "model calls", total_llm_calls, order=3, example=5
)
