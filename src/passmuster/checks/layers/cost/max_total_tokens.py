"""The check `max_total_tokens`."""

from passmuster.checks.layers._limit import limit_key
from passmuster.traces import total_tokens

KEY = limit_key(
    "max_total_tokens",
    "Tokens in and out of all model calls are at most this.",
    "tokens",
    lambda view: total_tokens(view.trace),
    order=2,
    example=2000,
)
