"""The turns of a conversation: what a scenario states of one is checked on that part of the trace alone.

A turn begins with a message of the user. What comes before the first one belongs to the first turn; where the trace has
a query and the first message says something else, the query is the first turn. A turn that the trace does not have
fails the check `turns`, and leaves all that is stated of it undecided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from passmuster.checks._outcome import SKIP, Neighbours, Outcome, Violation
from passmuster.checks._question import Question
from passmuster.checks._scenario_outcome import CheckReport
from passmuster.checks._view import ToolIndex, View, view_of
from passmuster.checks.layers._behaviors import BehaviorCheck
from passmuster.checks.layers._layer import LayerCheck, decided
from passmuster.suite import Behavior, Turn
from passmuster.traces import Message, Trace

_NO_TURN = "the turn did not take place"
_ABSENT = Outcome("skip", True, message=_NO_TURN)


def turn_views(view: View) -> Sequence[View]:
    """Each turn of a trace, as the checks see it."""
    if view.turns is None:
        starts = _starts(view.trace)
        ends = [*starts[1:], len(view.trace.steps)]
        view.turns = tuple(
            _part(view, start, end, last=end == ends[-1]) for start, end in zip(starts, ends, strict=True)
        )
    return view.turns


def _starts(trace: Trace) -> list[int]:
    said = [
        (place, step.text) for place, step in enumerate(trace.steps) if type(step) is Message and step.role == "user"
    ]
    if not said:
        return [0]
    asked = trace.query is not None and _folded(trace.query) != _folded(said[0][1])
    return [0, *(place for place, _ in (said if asked else said[1:]))]


def _folded(text: str | None) -> str:
    return " ".join((text or "").split())


def _part(view: View, start: int, end: int, *, last: bool) -> View:
    trace = view.trace
    steps = trace.steps[start:end]
    told = [step.text for step in steps if type(step) is Message and step.role == "assistant" and step.text]
    answer = told[-1] if told else trace.answer if last else None
    totals = dict.fromkeys(("total_tokens", "total_llm_calls", "total_duration_ms", "total_cost_usd"))
    part = replace(trace, steps=steps, answer=answer, **totals)
    first = sum(place < start for place in trace.call_steps)
    calls = slice(first, first + len(part.tool_calls))
    found = view_of(part, view.names[calls], view.bits[calls])
    found.failed = view.failed[calls] if view.failed is not None else None
    found.stated_positions = view.positions[calls]
    found.plain = view.plain and not first
    found.first_call = first
    return found


def turns_check(turns: Sequence[Turn]) -> LayerCheck:
    """The check that the conversation has as many turns as are stated."""

    def message(view: View) -> str:
        return f"the conversation has {len(turn_views(view))} turns, expected {len(turns)}"

    return LayerCheck(lambda view: decided(len(turn_views(view)) >= len(turns)), message)


def turn_of(number: int, *, every_text: bool) -> Callable[[View], View | None]:
    """What finds a turn in a trace; None where it has no such turn."""

    def find(view: View) -> View | None:
        views = turn_views(view)
        if number >= len(views):
            return None
        return views[number].with_every_text() if every_text else views[number]

    return find


def in_turn(turn: Callable[[View], View | None], check: LayerCheck) -> LayerCheck:
    """The check on one turn, which is undecided where it did not take place."""

    def decide(view: View) -> Outcome:
        part = turn(view)
        return SKIP if part is None else check.decide(part)

    def message(view: View) -> str:
        part = turn(view)
        return _NO_TURN if part is None else check.message(part)

    def violations(view: View) -> Iterable[Violation]:
        part = turn(view)
        found = check.violations(part) if part is not None and check.violations else ()
        return [_moved(one, part, view) for one in found] if part is not None else ()

    return replace(check, decide=decide, message=message, violations=violations if check.violations else None)


def _moved(violation: Violation, part: View, view: View) -> Violation:
    """A violation of a turn at its place in the whole trace."""
    if violation.call_index is None:
        return violation
    place = violation.call_index + part.first_call
    names = view.names
    neighbours = Neighbours(
        calls=len(names),
        before=names[place - 2] if place > 1 else None,
        after=names[place] if place < len(names) else None,
    )
    return replace(violation, call_index=place, neighbours=neighbours)


class TurnBehavior(BehaviorCheck):
    """A behavior of one turn."""

    def __init__(
        self, number: int, behavior: Behavior, tools: ToolIndex, *, forbidden: bool, judges_only_warn: bool = False
    ) -> None:
        super().__init__(behavior, tools, forbidden=forbidden, judges_only_warn=judges_only_warn)
        self._number = number
        self.name = f"turns[{number}]: {behavior.name}"

    def evaluate(self, view: View) -> Outcome | Question:
        """The outcome on the turn alone; undecided where there is no such turn."""
        views = turn_views(view)
        return super().evaluate(views[self._number]) if self._number < len(views) else _ABSENT

    def explain(self, view: View, outcome: Outcome, file: str) -> CheckReport:
        """The outcome as a report shows it, with calls at their places in the whole trace."""
        views = turn_views(view)
        if self._number >= len(views):
            return super().explain(view, outcome, file)
        report = super().explain(views[self._number], outcome, file)
        return replace(report, violations=tuple(_moved(one, views[self._number], view) for one in report.violations))
