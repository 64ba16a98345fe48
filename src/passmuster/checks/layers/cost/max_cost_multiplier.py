"""The check `max_cost_multiplier`."""

from passmuster.checks._outcome import PASS, SKIP, Outcome
from passmuster.checks._view import View
from passmuster.checks.layers._layer import Context, LayerCheck, LayerKey
from passmuster.checks.layers._limit import shown, within
from passmuster.suite import AMOUNT
from passmuster.traces import total_cost_usd


def _compile(limit: float, context: Context) -> LayerCheck:
    """The check for this limit; the baseline's cost is the median of its runs."""
    usual = context.golden.cost_usd if context.golden else None

    def decide(view: View) -> Outcome:
        value = total_cost_usd(view.trace)
        return within(value / usual, limit) if usual and value is not None else SKIP

    def message(view: View) -> str:
        value = total_cost_usd(view.trace)
        if not usual:
            return "no baseline with a cost above 0 to compare with"
        if value is None:
            return "unknown: the trace does not state its cost"
        sign = "≤" if decide(view) is PASS else ">"
        times = f"{shown(value)} USD is {value / usual:.3g} × the baseline's {shown(usual)} USD"
        return f"{times} {sign} {shown(limit)} ×"

    return LayerCheck(decide, message)


KEY = LayerKey(
    AMOUNT, "The cost is at most this many times the baseline's, which has to be above 0.", _compile, order=1, example=2
)
