"""The check `max_cost_usd`."""

from passmuster.checks.layers._limit import limit_key
from passmuster.traces import total_cost_usd

KEY = limit_key(
    "max_cost_usd",
    "The maximum cost of the run in dollars.",
    "USD",
    lambda view: total_cost_usd(view.trace),
    order=5,
    example=0.05,
)
