"""Tokens, model calls, duration and cost of a run. A total that cannot be known is None, never 0.

A stated total wins. Otherwise it is the sum over the steps, if every step of that kind has the figure. A summed
duration adds model and tool calls, of calls made in parallel the longest.
"""

from __future__ import annotations

from math import fsum

from msgspec import Struct

from passmuster.traces._groups import positions_of
from passmuster.traces._model import Trace


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
    return trace.total_llm_calls if trace.total_llm_calls is not None else len(trace.model_calls) or None


def total_cost_usd(trace: Trace) -> float | None:
    """Dollars spent on model calls."""
    if trace.total_cost_usd is not None:
        return trace.total_cost_usd
    return _sum([call.cost_usd for call in trace.model_calls])


def total_duration_ms(trace: Trace) -> float | None:
    """Milliseconds from start to end."""
    if trace.total_duration_ms is not None:
        return trace.total_duration_ms
    calls = trace.tool_calls
    for call in calls:
        if call.group is not None:
            return _sum(_durations_of_groups(trace))
    return _sum([*(call.duration_ms for call in calls), *(call.duration_ms for call in trace.model_calls)])


def _durations_of_groups(trace: Trace) -> list[float | None]:
    """The durations of model calls and, for the calls at each position, of the longest; empty where one is unknown."""
    durations: list[float | None] = [call.duration_ms for call in trace.model_calls]
    longest: dict[int, float] = {}
    for call, position in zip(trace.tool_calls, positions_of(trace), strict=True):
        if call.duration_ms is None:
            return []
        longest[position] = max(longest.get(position, 0.0), call.duration_ms)
    return [] if None in durations else [*durations, *longest.values()]


def _sum(figures: list[float | None]) -> float | None:
    """The exact sum; None where there is no figure, where one is not known, or where no double can hold it."""
    if not figures or None in figures:
        return None
    try:
        return fsum(figures)  # type: ignore[arg-type]
    except OverflowError:
        return None
