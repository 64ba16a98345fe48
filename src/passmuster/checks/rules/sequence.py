"""`sequence`: all of these are called in this order."""

from bisect import bisect_right
from collections.abc import Iterable
from typing import Annotated

from passmuster.checks._demands import Demand, each_of
from passmuster.checks.rules import Calls, CallSelector, Decide, Decision, Rule, Selection, ToolIndex, View
from passmuster.suite import BOOLEAN, Key


class Sequence(Rule, frozen=True, kw_only=True):
    """All of these are called in this order; `strict`: directly one after another."""

    tools: Annotated[Calls, Key("The calls, in their order.", example=["open_ticket", "add_note", "close_ticket"])]
    strict: Annotated[bool, BOOLEAN, Key("Directly one after another.")] = False

    def demands(self) -> Iterable[Demand]:
        """Each of these is called."""
        return each_of(self.tools)

    def compile(self, tools: ToolIndex) -> Decide:
        """Successes of all the tools in this order, one position later each time; `strict`: the very next one."""
        steps = Selection(self.tools, tools)
        order = " → ".join(step.name for step in steps)
        directly = "directly " if self.strict else ""

        def decide(view: View) -> Decision:
            places = [[view.positions[call] for call in step.successes(view)] for step in steps]
            stopped = _first_gap_strict(places) if self.strict else _first_gap(places)
            if stopped is None:
                return True, []
            step = steps[stopped]
            done = " → ".join(done.name for done in steps[:stopped])
            if not places[stopped]:
                why = step.absence(view)
            else:
                why = f"{step.name} never came {directly}after {done}{_failed_there(step, view, places, stopped)}"
            return True, [
                self.broken(
                    view,
                    None,
                    tool=step.name,
                    expected=f"{order}{', directly one after another' if self.strict else ' in this order'}",
                    actual=why,
                    suggestion=f"Have the agent call {order} in this order.",
                )
            ]

        return decide


def _failed_there(step: CallSelector, view: View, places: list[list[int]], stopped: int) -> str:
    """Whether the step was called after those before it, but failed."""
    tried = {view.positions[call] for call in step.attempts(view)} - set(places[stopped])
    reached = min(places[stopped - 1], default=0) if stopped else 0
    return " (it was called and failed)" if any(position > reached for position in tried) else ""


def _first_gap(places: list[list[int]]) -> int | None:
    """The first step that cannot be placed after those before it; taking each as early as possible loses nothing."""
    last = -1
    for step, positions in enumerate(places):
        at = bisect_right(positions, last)
        if at == len(positions):
            return step
        last = positions[at]
    return None


def _first_gap_strict(places: list[list[int]]) -> int | None:
    """The first step at which no unbroken run is left."""
    starts = set(places[0])
    for step, positions in enumerate(places):
        starts &= {position - step for position in positions}
        if not starts:
            return step
    return None
