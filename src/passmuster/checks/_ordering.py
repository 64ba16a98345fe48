"""Sequence rules about what came before and after what: `before`, `after`, `never_after`, `sequence` and kin."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from passmuster.checks._deciding import (
    HELD,
    IDLE,
    Decide,
    Decision,
    absence,
    all_plain,
    any_of,
    attempts,
    bits,
    broken,
    selectors,
    successes,
)
from passmuster.checks._outcome import Violation
from passmuster.checks._view import CallSelector, ToolIndex, View
from passmuster.suite import rules as r

__all__ = ["after", "before", "immediately_before", "never_after", "sequence"]

_NAMED = 3
"""Neighbouring calls that a message names."""


def before(rule: r.Before, tools: ToolIndex) -> Decide:
    """No call of `then`, not even a failed one, without an earlier success of each `first`."""
    firsts, thens = selectors(rule.first, tools), selectors(rule.then, tools)
    then_bits, each = bits(thens), [first.bits for first in firsts]
    plain = all_plain(firsts) and all_plain(thens)

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
        later = attempts(thens, view)
        if not later:
            return IDLE
        positions = view.positions
        opened = [next(iter(first.successes(view)), None) for first in firsts]
        tried: dict[int, list[int]] = {}
        found: list[Violation] = []
        for call in later:
            here = positions[call]
            unmet = [n for n, place in enumerate(opened) if place is None or positions[place] >= here]
            if unmet:
                for n in unmet:
                    if n not in tried:
                        tried[n] = [positions[place] for place in firsts[n].attempts(view)]
                needed = " and ".join(firsts[n].name for n in unmet)
                reasons = "; ".join(filter(None, (_instead(firsts[n].name, tried[n], here) for n in unmet)))
                tool = view.names[call]
                found.append(
                    broken(
                        rule,
                        view,
                        call,
                        tool=tool,
                        expected=f"{needed} before {tool}",
                        actual=f"{tool} called without prior {needed}{f' ({reasons})' if reasons else ''}",
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


def immediately_before(rule: r.ImmediatelyBefore, tools: ToolIndex) -> Decide:
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


def after(rule: r.After, tools: ToolIndex) -> Decide:
    """Every success of a `trigger` is followed by a success of a `then`, within so many positions."""
    triggers, thens = selectors(rule.trigger, tools), selectors(rule.then, tools)
    trigger_bits = bits(triggers)
    within, needed = rule.within, any_of(thens)
    window = "" if within is None else f" within {within} position{'s' if within > 1 else ''}"
    then_bits = bits(thens)
    plain = within is None and all_plain(triggers) and all_plain(thens)

    def decide(view: View) -> Decision:
        if not view.any_bits & trigger_bits:
            return IDLE
        if plain and view.plain and view.last(then_bits) > view.last(trigger_bits):
            return HELD
        fired = successes(triggers, view)
        positions = view.positions
        answers = [positions[call] for call in successes(thens, view)]
        unanswered: list[tuple[int, int | None]] = []
        for call in fired:
            here = positions[call]
            place = bisect_right(answers, here)
            late = answers[place] - here if place < len(answers) else None
            if late is None or (within is not None and late > within):
                unanswered.append((call, late))
        if not unanswered:
            return bool(fired), []
        last_try = max((positions[call] for call in attempts(thens, view)), default=-1)
        found: list[Violation] = []
        for call, late in unanswered:
            if late is not None:
                why = f"{needed} came only {late} positions later"
            elif last_try > positions[call]:
                why = f"{needed} was called after it and failed"
            else:
                why = f"{needed} was not called after it"
            tool = view.names[call]
            found.append(
                broken(
                    rule,
                    view,
                    call,
                    tool=tool,
                    expected=f"{needed} after {tool}{window}",
                    actual=why,
                    suggestion=f"Have the agent call {needed}{window} after each {tool}.",
                )
            )
        return True, found

    return decide


def never_after(rule: r.NeverAfter, tools: ToolIndex) -> Decide:
    """Nothing `forbidden` at a later position than the first `trigger`; attempts count on both sides."""
    triggers, forbidden = selectors(rule.trigger, tools), selectors(rule.forbidden, tools)
    trigger_bits, forbidden_bits = bits(triggers), bits(forbidden)
    plain = all_plain(triggers)

    def decide(view: View) -> Decision:
        if not view.any_bits & trigger_bits:
            return IDLE
        if plain and view.plain and view.last(forbidden_bits) <= view.first(trigger_bits):
            return HELD
        fired = attempts(triggers, view)
        if not fired:
            return IDLE
        first = fired[0]
        since = view.positions[first]
        trigger = view.names[first]
        return True, [
            broken(
                rule,
                view,
                call,
                tool=view.names[call],
                expected=f"no {view.names[call]} after {trigger}",
                actual=f"{view.names[call]} was called after {trigger} (call {first + 1})",
                suggestion=f"End the task at {trigger}, or call {view.names[call]} before it.",
            )
            for call in attempts(forbidden, view)
            if view.positions[call] > since
        ]

    return decide


def sequence(rule: r.OrderedTools, tools: ToolIndex) -> Decide:
    """Successes of all the tools in this order, one position later each time; `strict`: the very next one."""
    steps = selectors(rule.tools, tools)
    order = " → ".join(step.name for step in steps)
    directly = "directly " if rule.strict else ""

    def decide(view: View) -> Decision:
        places = [[view.positions[call] for call in step.successes(view)] for step in steps]
        stopped = _first_gap_strict(places) if rule.strict else _first_gap(places)
        if stopped is None:
            return True, []
        step = steps[stopped]
        done = " → ".join(done.name for done in steps[:stopped])
        if not places[stopped]:
            why = absence(step, view)
        else:
            why = f"{step.name} never came {directly}after {done}{_failed_there(step, view, places, stopped)}"
        return True, [
            broken(
                rule,
                view,
                None,
                tool=step.name,
                expected=f"{order}{', directly one after another' if rule.strict else ' in this order'}",
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


def _first_gap(places: Sequence[Sequence[int]]) -> int | None:
    """The first step that cannot be placed after those before it; taking each as early as possible loses nothing."""
    last = -1
    for step, positions in enumerate(places):
        at = bisect_right(positions, last)
        if at == len(positions):
            return step
        last = positions[at]
    return None


def _first_gap_strict(places: Sequence[Sequence[int]]) -> int | None:
    """The first step at which no unbroken run is left."""
    starts = set(places[0])
    for step, positions in enumerate(places):
        starts &= {position - step for position in positions}
        if not starts:
            return step
    return None
