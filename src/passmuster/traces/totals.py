"""What a run used up: tokens, model calls, time and money. A total that cannot be known is None, never 0.

A stated total wins. Otherwise it is summed from the steps, if every step of that kind has the figure. A summed
duration adds model and tool calls, taking the longest of calls made in parallel.
"""

from __future__ import annotations

from math import fsum

from passmuster.traces.model import LlmCall, ToolCall, Trace

__all__ = ["cost_usd", "duration_ms", "llm_calls", "tokens"]


def _model_calls(trace: Trace) -> list[LlmCall]:
    return [step for step in trace.steps if type(step) is LlmCall]


def tokens(trace: Trace) -> int | None:
    """Tokens in and out of all model calls."""
    if trace.total_tokens is not None:
        return trace.total_tokens
    calls = _model_calls(trace)
    total = 0
    for call in calls:
        if call.tokens_in is None or call.tokens_out is None:
            return None
        total += call.tokens_in + call.tokens_out
    return total if calls else None


def llm_calls(trace: Trace) -> int | None:
    """The number of model calls."""
    if trace.total_llm_calls is not None:
        return trace.total_llm_calls
    return len(_model_calls(trace)) or None


def cost_usd(trace: Trace) -> float | None:
    """Dollars spent on model calls."""
    if trace.total_cost_usd is not None:
        return trace.total_cost_usd
    costs = [call.cost_usd for call in _model_calls(trace)]
    known = [cost for cost in costs if cost is not None]
    return fsum(known) if costs and len(known) == len(costs) else None


def duration_ms(trace: Trace) -> float | None:
    """Milliseconds from start to end."""
    if trace.total_duration_ms is not None:
        return trace.total_duration_ms
    total: list[float] = []
    group: object = None
    place = -1
    for step in trace.steps:
        if type(step) is not ToolCall and type(step) is not LlmCall:
            continue
        if step.duration_ms is None:
            return None
        own = step.group if type(step) is ToolCall else None
        if own is not None and own == group:
            total[place] = max(total[place], step.duration_ms)
        else:
            total.append(step.duration_ms)
        if type(step) is ToolCall and (own is None or own != group):
            group, place = own, len(total) - 1
    return fsum(total) if total else None
