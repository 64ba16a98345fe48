"""`immediately_before`: every call of `then` has a call of `first` directly before it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from passmuster.checks._outcome import Violation
from passmuster.checks._view import ToolIndex, View
from passmuster.checks.rules import IDLE, Decide, Decision, any_of, attempts, bits, broken, selectors, successes
from passmuster.suite import rules as r

_NAMED = 3
"""Neighbouring calls that a message names."""


def compile(rule: r.ImmediatelyBefore, tools: ToolIndex) -> Decide:
    """Every call of `then` has a success of a `first` at the position directly before its own."""
    firsts, thens = selectors(rule.first, tools), selectors(rule.then, tools)
    then_bits = bits(thens)
    needed = any_of(firsts)

    def decide(view: View) -> Decision:
        if not view.any_bits & then_bits:
            return IDLE
        later = attempts(thens, view)
        positions = view.positions
        opened = {positions[call] for call in successes(firsts, view)}
        missed = [call for call in later if positions[call] - 1 not in opened]
        if not missed:
            return bool(later), []
        tried = {positions[call] for call in attempts(firsts, view)}
        found: list[Violation] = []
        for call in missed:
            tool, previous = view.names[call], positions[call] - 1
            failed = ", which failed" if previous in tried else ""
            found.append(
                broken(
                    rule,
                    view,
                    call,
                    tool=tool,
                    expected=f"{needed} directly before {tool}",
                    actual=f"{tool} called {_standing_at(previous, view)}{failed}",
                    suggestion=f"Call {needed} as the very step before each {tool}.",
                )
            )
        return True, found

    return decide


def _standing_at(position: int, view: View) -> str:
    """Where a call stands whose predecessors have this position."""
    if position < 0:
        return "as the first call"
    start, end = bisect_left(view.positions, position), bisect_right(view.positions, position)
    names = view.names[start : min(end, start + _NAMED)]
    more = end - start - len(names)
    return f"directly after {', '.join(names)}{f' and {more} more' if more else ''}"
