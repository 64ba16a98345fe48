"""`immediately_before`: every call of `then` has a call of `first` directly before it."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import Annotated

from passmuster.checks._demands import Demand, tools_of
from passmuster.checks.rules import IDLE, Calls, Decide, Decision, Rule, Selection, ToolIndex, View, Violation
from passmuster.suite import Key

_NAMED = 3
"""Neighbouring calls that a message names."""


class ImmediatelyBefore(Rule, frozen=True, kw_only=True):
    """Every call of `then` has a call of `first` directly before it."""

    first: Annotated[Calls, Key("What has to be called directly before. A list: any of them.", example="confirm")]
    then: Annotated[
        Calls,
        Key("What may be called only directly after it. A list: any of them.", example="delete_account"),
    ]

    def demands(self) -> Iterable[Demand]:
        """The calls that may not come alone, and what has to come before."""
        return (Demand("about", tools_of(self.then)), Demand("needs", tools_of(self.first)))

    def compile(self, tools: ToolIndex) -> Decide:
        """Every call of `then` has a success of a `first` at the position directly before its own."""
        firsts, thens = Selection(self.first, tools), Selection(self.then, tools)
        then_bits = thens.bits
        needed = firsts.name

        def decide(view: View) -> Decision:
            if not view.any_bits & then_bits:
                return IDLE
            later = thens.attempts(view)
            positions = view.positions
            opened = {positions[call] for call in firsts.successes(view)}
            missed = [call for call in later if positions[call] - 1 not in opened]
            if not missed:
                return bool(later), []
            tried = {positions[call] for call in firsts.attempts(view)}
            found: list[Violation] = []
            for call in missed:
                tool, named, previous = view.names[call], thens.called(view, call), positions[call] - 1
                failed = ", which failed" if previous in tried else ""
                found.append(
                    self.broken(
                        view,
                        call,
                        tool=tool,
                        expected=f"{needed} directly before {named}",
                        actual=f"{named} called {_standing_at(previous, view)}{failed}",
                        suggestion=f"Call {needed} directly before each {tool}.",
                    )
                )
            return True, found

        return decide


def _standing_at(position: int, view: View) -> str:
    """Where a call stands whose predecessors have this position."""
    if position < 0:
        return "as the first call" if len(view.names) < 2 or view.positions[1] else "among the first calls, in parallel"
    start, end = bisect_left(view.positions, position), bisect_right(view.positions, position)
    names = view.names[start : min(end, start + _NAMED)]
    more = end - start - len(names)
    return f"directly after {', '.join(names)}{f' and {more} more' if more else ''}"
