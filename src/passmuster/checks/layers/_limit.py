"""What the limits of `cost` and `path` share. Equal to the limit is within; an unknown figure is a skip, never 0."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from passmuster.checks._outcome import FAIL, PASS, SKIP, Outcome, Violation
from passmuster.checks._view import View
from passmuster.checks.layers._layer import Context, LayerCheck, LayerKey, decided
from passmuster.suite import AMOUNT, Value

_SLACK = 1e-9
"""Sums of dollars and milliseconds are floats: what should equal the limit may lie a hair above it."""


def limit_key(
    name: str,
    description: str,
    unit: str,
    figure: Callable[[View], float | None],
    *,
    order: int,
    example: float,
    value: Value[float] = AMOUNT,
    calls: Callable[[View], Sequence[int]] | None = None,
) -> LayerKey:
    """A key that limits a figure of the run; `calls` are the tool calls that it counts, if it does."""

    def compile(limit: float, _: Context) -> LayerCheck:
        return _at_most(name, limit, unit, figure, calls)

    return LayerKey(value, description, compile, order=order, example=example)


def _at_most(
    key: str,
    limit: float,
    unit: str,
    figure: Callable[[View], float | None],
    calls: Callable[[View], Sequence[int]] | None,
) -> LayerCheck:
    highest = limit + _SLACK

    def decide(view: View) -> Outcome:
        value = figure(view)
        if value is None:
            return SKIP
        return PASS if value <= highest else FAIL

    def message(view: View) -> str:
        value = figure(view)
        if value is None:
            return f"unknown: the trace does not state its {unit}"
        return f"{shown(value)} {unit} {'≤' if value <= highest else '>'} {shown(limit)}"

    def violations(view: View) -> Iterator[Violation]:
        """One, at the first call beyond the limit where calls are counted."""
        call = calls(view)[int(limit)] if calls else None
        yield view.violation(
            call,
            message=message(view),
            tool=None if call is None else view.names[call],
            constraint=f"{key}: {shown(limit)}",
            expected=f"at most {shown(limit)} {unit}",
            actual=f"{shown(figure(view) or 0)} {unit}",
        )

    return LayerCheck(decide, message, violations)


def within(value: float, limit: float) -> Outcome:
    """Whether a value is at most the limit."""
    return decided(value <= limit + _SLACK)


def shown(value: float) -> str:
    """`1234567`, `0.0051`: as many digits as tell a value from its limit."""
    return f"{value:.10g}"
