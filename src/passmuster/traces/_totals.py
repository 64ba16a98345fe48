"""Tokens, model calls, duration and cost of a run. A total that cannot be known is None, never 0.

A stated total wins. Otherwise it is the sum over the steps, if every step of that kind has the figure. A summed
duration adds model and tool calls, of calls made in parallel the longest.
"""

from __future__ import annotations

from math import fsum

from msgspec import Struct

from passmuster.traces._model import LlmCall, ToolCall, Trace

__all__ = ["Totals", "total_cost_usd", "total_duration_ms", "total_llm_calls", "total_tokens", "totals_of"]


class Totals(Struct, frozen=True):
    """The totals of one run, as far as they are known."""

    tokens: int | None
    cost_usd: float | None
    duration_ms: float | None


def totals_of(trace: Trace) -> Totals:
    """The totals of a run."""
    return Totals(total_tokens(trace), total_cost_usd(trace), total_duration_ms(trace))


def total_tokens(trace: Trace) -> int | None:
    """Tokens in and out of all model calls."""
    if trace.total_tokens is not None:
        return trace.total_tokens
    calls = trace.model_calls
    total = 0
    for call in calls:
        if call.tokens_in is None or call.tokens_out is None:
            return None
        total += call.tokens_in + call.tokens_out
    return total if calls else None


def total_llm_calls(trace: Trace) -> int | None:
    """The number of model calls."""
    if trace.total_llm_calls is not None:
        return trace.total_llm_calls
    return len(trace.model_calls) or None


def total_cost_usd(trace: Trace) -> float | None:
    """Dollars spent on model calls."""
    if trace.total_cost_usd is not None:
        return trace.total_cost_usd
    costs = [call.cost_usd for call in trace.model_calls]
    known = [cost for cost in costs if cost is not None]
    return _sum(known) if costs and len(known) == len(costs) else None


def total_duration_ms(trace: Trace) -> float | None:
    """Milliseconds from start to end."""
    if trace.total_duration_ms is not None:
        return trace.total_duration_ms
    calls = trace.tool_calls
    for call in calls:
        if call.group is not None:
            return _duration_of_groups(trace)
    durations = [*(call.duration_ms for call in calls), *(call.duration_ms for call in trace.model_calls)]
    known = [duration for duration in durations if duration is not None]
    return _sum(known) if durations and len(known) == len(durations) else None


def _duration_of_groups(trace: Trace) -> float | None:
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
    return _sum(total) if total else None


def _sum(figures: list[float]) -> float | None:
    """The exact sum; None where it is larger than any double."""
    try:
        return fsum(figures)
    except OverflowError:
        return None
