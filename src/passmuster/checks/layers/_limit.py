"""What the limits of `cost` and `path` share. Equal to the limit is within; an unknown figure is a skip, never 0."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from passmuster.checks._outcome import FAIL, PASS, SKIP, Outcome, Violation
from passmuster.checks._view import View
from passmuster.checks.layers._layer import Context, LayerCheck, LayerKey, decided
from passmuster.suite import AMOUNT, Value

_SLACK = 1e-9
"""Sums of dollars and milliseconds are floats: what should equal the limit may lie a hair above it."""
_MEASURED = {"ms": "duration", "USD": "cost"}
"""What a unit measures, where its name alone does not say."""


class LimitKey(LayerKey, frozen=True, kw_only=True):
    """The declaration of a key that limits a figure of the run."""

    figure: Callable[[View], float | None]
    """What is limited; None where it is not known."""
    at_most: Callable[[float], LayerCheck]
    """The check that the figure is at most this."""


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
) -> LimitKey:
    """A key that limits a figure of the run; `calls` are the tool calls that it counts, if it does."""

    def at_most(limit: float) -> LayerCheck:
        return _at_most(name, limit, unit, figure, calls)

    def compile(limit: float, _: Context) -> LayerCheck:
        return at_most(limit)

    return LimitKey(value, description, compile, order=order, example=example, figure=figure, at_most=at_most)


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
            return f"unknown: the trace does not state its {_MEASURED.get(unit, unit)}"
        counted = unit.removesuffix("s") if value == 1 and unit not in _MEASURED else unit
        return f"{shown(value)} {counted} {'≤' if value <= highest else '>'} {shown(limit)}"

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
    try:
        return f"{value:.10g}"
    except OverflowError:  # a trace made in Python may state a whole number that no double can hold
        return "more than a double holds"
