"""Cost: what a run used up, against its limits. Equal to the limit is within; an unknown figure is a skip, never 0."""

from __future__ import annotations

from collections.abc import Callable

from passmuster.checks._layer import LayerCheck
from passmuster.checks._outcome import Status
from passmuster.suite import Cost
from passmuster.traces import Trace, totals

__all__ = ["cost_checks"]

_SLACK = 1e-9
"""Sums of dollars and milliseconds are floats: what should equal the limit may lie a hair above it."""
Figure = Callable[[Trace], float | None]
_LIMITS: tuple[tuple[str, str, Figure], ...] = (
    ("max_total_tokens", "tokens", totals.tokens),
    ("max_llm_calls", "model calls", totals.llm_calls),
    ("max_latency_ms", "ms", totals.duration_ms),
    ("max_cost_usd", "USD", totals.cost_usd),
)


def cost_checks(asked: Cost, usual_cost: float | None) -> list[LayerCheck[Trace]]:
    """The checks of the limits that are stated; `usual_cost` is the baseline's median for this scenario."""
    checks: list[LayerCheck[Trace]] = []
    if asked.max_cost_multiplier is not None:
        checks.append(_multiplier(asked.max_cost_multiplier, usual_cost))
    for key, unit, figure in _LIMITS:
        limit = getattr(asked, key)
        if limit is not None:
            checks.append(_limit(key, unit, figure, limit))
    return checks


def _within(value: float, limit: float) -> bool:
    return value <= limit + _SLACK


def _figure(value: float) -> str:
    """`1234567`, `0.0051`: as many digits as tell a value from its limit."""
    return f"{value:.10g}"


def _limit(key: str, unit: str, figure: Figure, limit: float) -> LayerCheck[Trace]:
    def decide(trace: Trace) -> Status:
        value = figure(trace)
        return "skip" if value is None else "pass" if _within(value, limit) else "fail"

    def explain(trace: Trace) -> str:
        value = figure(trace)
        if value is None:
            return f"unknown: the trace does not tell its {unit}"
        return f"{_figure(value)} {unit} {'≤' if _within(value, limit) else '>'} {_figure(limit)}"

    return LayerCheck(key, decide, explain)


def _multiplier(limit: float, usual: float | None) -> LayerCheck[Trace]:
    def decide(trace: Trace) -> Status:
        value = totals.cost_usd(trace)
        if not usual or value is None:
            return "skip"
        return "pass" if _within(value / usual, limit) else "fail"

    def explain(trace: Trace) -> str:
        value = totals.cost_usd(trace)
        if not usual:
            return "no baseline with a cost above 0 to compare with"
        if value is None:
            return "unknown: the trace does not tell its cost"
        sign = "≤" if _within(value / usual, limit) else ">"
        times = f"{_figure(value)} USD is {value / usual:.3g} × the baseline's {_figure(usual)} USD"
        return f"{times} {sign} {_figure(limit)} ×"

    return LayerCheck("max_cost_multiplier", decide, explain)
