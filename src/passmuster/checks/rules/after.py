"""`after`: every `trigger` is followed by `then`."""

from bisect import bisect_right
from collections.abc import Iterable
from typing import Annotated

from passmuster._problems import plural
from passmuster.checks._demands import Demand, tools_of
from passmuster.checks.rules import HELD, IDLE, Calls, Decide, Decision, Rule, Selection, ToolIndex, View, Violation
from passmuster.suite import Key, Whole


class After(Rule, frozen=True, kw_only=True):
    """Every `trigger` is followed by `then`, within `within` positions if stated."""

    trigger: Annotated[Calls, Key("The calls that have to be followed. A list: any of them.", example="issue_refund")]
    then: Annotated[Calls, Key("What has to follow. A list: any of them.", example="send_email")]
    within: Annotated[
        int | None, Whole(1), Key("Within this many positions; by default anywhere later.", example=2)
    ] = None

    def demands(self) -> Iterable[Demand]:
        """The calls that are followed, and what has to follow."""
        return (Demand("about", tools_of(self.trigger)), Demand("needs", tools_of(self.then)))

    def compile(self, tools: ToolIndex) -> Decide:
        """Every success of a `trigger` is followed by a success of a `then`, within so many positions."""
        triggers, thens = Selection(self.trigger, tools), Selection(self.then, tools)
        trigger_bits = triggers.bits
        within, needed = self.within, thens.name
        window = "" if within is None else f" within {plural(within, 'position')}"
        then_bits = thens.bits
        plain = within is None and triggers.plain and thens.plain

        def decide(view: View) -> Decision:
            if not view.any_bits & trigger_bits:
                return IDLE
            if plain and view.plain and view.last(then_bits) > view.last(trigger_bits):
                return HELD
            fired = triggers.successes(view)
            positions = view.positions
            answers = [positions[call] for call in thens.successes(view)]
            unanswered: list[tuple[int, int | None]] = []
            for call in fired:
                here = positions[call]
                place = bisect_right(answers, here)
                late = answers[place] - here if place < len(answers) else None
                if late is None or (within is not None and late > within):
                    unanswered.append((call, late))
            if not unanswered:
                return bool(fired), []
            last_try = max((positions[call] for call in thens.attempts(view)), default=-1)
            differences = () if last_try >= 0 else (one.difference(view) for one in thens)
            told = "; ".join(filter(None, differences))
            others = f" ({told})" if told else ""
            found: list[Violation] = []
            for call, late in unanswered:
                if late is not None:
                    why = f"{needed} came only {late} positions later"
                elif last_try > positions[call]:
                    why = f"{needed} was called after it and failed"
                else:
                    why = f"{needed} was not called after it{others}"
                tool, named = view.names[call], triggers.called(view, call)
                found.append(
                    self.broken(
                        view,
                        call,
                        tool=tool,
                        expected=f"{needed} after {named}{window}",
                        actual=why,
                        suggestion=f"Have the agent call {needed}{window} after each {tool}.",
                    )
                )
            return True, found

        return decide
