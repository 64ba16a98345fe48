"""`before`: no call of `then` without an earlier call of `first`."""

from bisect import bisect_left
from collections.abc import Iterable
from typing import Annotated

from passmuster.checks._demands import Demand, tools_of
from passmuster.checks.rules import (
    HELD,
    IDLE,
    Calls,
    Decide,
    Decision,
    Rule,
    Selection,
    ToolIndex,
    View,
    Violation,
)
from passmuster.suite import Key


class Before(Rule, frozen=True, kw_only=True):
    """No call of `then` without an earlier call of `first`. A list: of each."""

    first: Annotated[Calls, Key("What has to be called first. A list: each of them.", example="verify_identity")]
    then: Annotated[Calls, Key("What may be called only after it. A list: any of them.", example="issue_refund")]

    def demands(self) -> Iterable[Demand]:
        """The calls that may not come first, and each that has to."""
        firsts = (Demand("needs", first.tool) for first in self.first)
        return (Demand("about", tools_of(self.then)), *firsts)

    def compile(self, tools: ToolIndex) -> Decide:
        """No call of `then`, not even a failed one, without an earlier success of each `first`."""
        firsts, thens = Selection(self.first, tools), Selection(self.then, tools)
        then_bits, each = thens.bits, [first.bits for first in firsts]
        plain = firsts.plain and thens.plain

        def decide(view: View) -> Decision:
            if not view.any_bits & then_bits:
                return IDLE
            if plain and view.plain:
                then = view.first(then_bits)
                for one in each:
                    if not -1 < view.first(one) < then:
                        break
                else:
                    return HELD
            later = thens.attempts(view)
            if not later:
                return IDLE
            positions = view.positions
            opened = [next(iter(first.successes(view)), None) for first in firsts]
            tried: dict[int, list[int]] = {}
            others: dict[int, str | None] = {}
            found: list[Violation] = []
            for call in later:
                here = positions[call]
                unmet = [n for n, place in enumerate(opened) if place is None or positions[place] >= here]
                if unmet:
                    for n in unmet:
                        if n not in tried:
                            tried[n] = [positions[place] for place in firsts[n].attempts(view)]
                            others[n] = None if tried[n] else firsts[n].difference(view)
                    needed = " and ".join(firsts[n].name for n in unmet)
                    reasons = "; ".join(
                        filter(None, (others[n] or _instead(firsts[n].name, tried[n], here) for n in unmet))
                    )
                    tool, named = view.names[call], thens.called(view, call)
                    found.append(
                        self.broken(
                            view,
                            call,
                            tool=tool,
                            expected=f"{needed} before {named}",
                            actual=f"{named} called without prior {needed}{f' ({reasons})' if reasons else ''}",
                            suggestion=f"Call {needed} first, and {tool} only after it succeeded.",
                        )
                    )
            return True, found

        return decide


def _instead(name: str, tried: list[int], here: int) -> str | None:
    """What stood in place of the call that should have come first; `tried` are the positions of its attempts."""
    if not tried:
        return None
    if tried[0] < here:
        return f"{name} was called before and failed"
    if tried[bisect_left(tried, here)] == here:
        return f"{name} ran in parallel, which is not before"
    return f"{name} came only later"
