"""`sequence_valid`: the order and number of calls.

Calls have positions; calls made in parallel share one. *Earlier* is a smaller position, *directly before* the
previous one, *within N* counts positions: parallel is not before. A failed call is an attempt: it can break a
rule, but it satisfies none. Rules are all evaluated, and each tells whether it was exercised at all.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import Any

from passmuster.checks.outcome import Outcome, RuleOutcome, Violation
from passmuster.checks.spec import Check, CheckSpec
from passmuster.checks.view import CallSelector, ToolIndex, View
from passmuster.suite import rules as r
from passmuster.suite.model import CheckContext
from passmuster.suite.nodes import Mapping
from passmuster.suite.selectors import Selector

__all__ = ["SequenceValid", "compile_rule", "keys", "name", "read"]

name = "sequence_valid"
keys = ("rules",)

Decision = tuple[bool, list[Violation]]
"""Whether the rule was exercised, and how it was broken."""
Decide = Callable[[View], Decision]


class SequenceValid(CheckSpec, frozen=True):
    """The rules of one test."""

    rules: list[r.Rule]

    def compile(self, tools: ToolIndex) -> Check:
        """The check that these rules make together."""
        decisions = [compile_rule(rule, tools) for rule in self.rules]
        held, idle = RuleOutcome(True, False), RuleOutcome(False, False)

        def check(view: View) -> Outcome:
            outcomes: list[RuleOutcome] = []
            broken: list[Violation] = []
            exercised = False
            for decide in decisions:
                in_play, violations = decide(view)
                if violations:
                    broken += violations
                    outcomes.append(RuleOutcome(in_play, True))
                else:
                    outcomes.append(held if in_play else idle)
                exercised = exercised or in_play
            return Outcome("fail" if broken else "pass", exercised, tuple(broken), tuple(outcomes))

        return check

    def rule_lines(self) -> list[tuple[str, int]]:
        """The type and line of each rule, for the report."""
        return [(rule.type, rule.line) for rule in self.rules]


def read(context: CheckContext, node: Mapping, at: str) -> SequenceValid:
    """The rules that a test lists."""
    listed = context.reader.required(node, "rules", at)
    if listed is None:
        return SequenceValid([])
    found = context.reader.each(listed, f"{at}.rules", lambda item, place: r.read_rule(context.reader, item, place))
    if not found:
        context.reader.problem(listed, f"{at}.rules: the list is empty, so nothing would be checked")
    return SequenceValid([rule for rule in found if rule is not None])


def compile_rule(rule: r.Rule, tools: ToolIndex) -> Decide:
    """The function that decides one rule on one trace."""
    match rule:
        case r.Require():
            return _require(rule, tools)
        case r.Before():
            return _before(rule, tools)
        case r.ImmediatelyBefore():
            return _immediately_before(rule, tools)
        case r.Blocklist():
            return _blocklist(rule, tools)
        case r.Allowlist():
            return _allowlist(rule, tools)
        case r.Count():
            return _count(rule, tools)
        case r.After():
            return _after(rule, tools)
        case r.NeverAfter():
            return _never_after(rule, tools)
        case r.Eventually():
            return _eventually(rule, tools)
        case r.OrderedTools():
            return _sequence(rule, tools)
    raise TypeError(f"no meaning for {type(rule).__name__}")


def _selectors(given: list[Selector], tools: ToolIndex) -> list[CallSelector]:
    return [CallSelector(selector, tools) for selector in given]


def _bits(selectors: list[CallSelector]) -> int:
    together = 0
    for selector in selectors:
        together |= selector.bits
    return together


def _attempts(selectors: list[CallSelector], view: View) -> list[int]:
    """Calls that any of the selectors means, in order."""
    if len(selectors) == 1:
        return selectors[0].attempts(view)
    return sorted({place for selector in selectors for place in selector.attempts(view)})


def _successes(selectors: list[CallSelector], view: View) -> list[int]:
    if len(selectors) == 1:
        return selectors[0].successes(view)
    return sorted({place for selector in selectors for place in selector.successes(view)})


def _any(selectors: list[CallSelector]) -> str:
    return " or ".join(selector.name for selector in selectors)


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _break(
    rule: r.Rule, view: View, call: int | None, *, expected: str, actual: str, suggestion: str, **fields: Any
) -> Violation:
    return view.violation(
        call,
        message=f"Expected {expected}; {actual}",
        rule=rule.type,
        expected=expected,
        actual=actual,
        policy_file=rule.file,
        policy_line=rule.line,
        suggestion=suggestion,
        **fields,
    )


def _absence(selector: CallSelector, view: View) -> str:
    """Why there is no success: never called, or called and failed."""
    tried = selector.attempts(view)
    if not tried:
        return f"{selector.name} was never called"
    return f"{selector.name} was called {_times(len(tried))} and failed"


def _require(rule: r.Require, tools: ToolIndex) -> Decide:
    wanted = _selectors(rule.tool, tools)

    def decide(view: View) -> Decision:
        missing = [selector for selector in wanted if not selector.successes(view)]
        if not missing:
            return True, []
        return True, [
            _break(
                rule,
                view,
                None,
                tool=selector.name,
                expected=f"{selector.name} to be called",
                actual=_absence(selector, view),
                suggestion=f"Have the agent call {selector.name} on every run, or drop the rule.",
            )
            for selector in missing
        ]

    return decide


def _before(rule: r.Before, tools: ToolIndex) -> Decide:
    firsts, thens = _selectors(rule.first, tools), _selectors(rule.then, tools)
    then_bits = _bits(thens)

    def decide(view: View) -> Decision:
        if not view.any_bits & then_bits:
            return False, []
        later = _attempts(thens, view)
        if not later:
            return False, []
        positions = view.positions
        opened = [next(iter(first.successes(view)), None) for first in firsts]
        broken: list[Violation] = []
        for call in later:
            here = positions[call]
            unmet = [
                first for first, place in zip(firsts, opened, strict=True) if place is None or positions[place] >= here
            ]
            if unmet:
                needed = " and ".join(first.name for first in unmet)
                tool = view.names[call]
                broken.append(
                    _break(
                        rule,
                        view,
                        call,
                        tool=tool,
                        expected=f"{needed} before {tool}",
                        actual=f"{tool} called without prior {needed}{_why_not_before(unmet, view, here)}",
                        suggestion=f"Call {needed} first, and {tool} only after it succeeded.",
                    )
                )
        return True, broken

    return decide


def _why_not_before(unmet: list[CallSelector], view: View, here: int) -> str:
    """What stood in place of the call that should have come first."""
    reasons: list[str] = []
    for first in unmet:
        tried = first.attempts(view)
        if any(view.positions[call] < here for call in tried):
            reasons.append(f"{first.name} was called before and failed")
        elif any(view.positions[call] == here for call in tried):
            reasons.append(f"{first.name} ran in parallel, which is not before")
        elif tried:
            reasons.append(f"{first.name} came only later")
    return f" ({'; '.join(reasons)})" if reasons else ""


def _immediately_before(rule: r.ImmediatelyBefore, tools: ToolIndex) -> Decide:
    firsts, thens = _selectors(rule.first, tools), _selectors(rule.then, tools)
    then_bits = _bits(thens)

    def decide(view: View) -> Decision:
        if not view.any_bits & then_bits:
            return False, []
        later = _attempts(thens, view)
        positions = view.positions
        opened = {positions[call] for call in _successes(firsts, view)}
        broken: list[Violation] = []
        for call in later:
            if positions[call] - 1 not in opened:
                tool, needed = view.names[call], _any(firsts)
                broken.append(
                    _break(
                        rule,
                        view,
                        call,
                        tool=tool,
                        expected=f"{needed} directly before {tool}",
                        actual=f"{tool} called {_what_precedes(firsts, view, call)}",
                        suggestion=f"Call {needed} as the very step before each {tool}.",
                    )
                )
        return bool(later), broken

    return decide


def _what_precedes(firsts: list[CallSelector], view: View, call: int) -> str:
    here = view.positions[call]
    before = [place for place in range(call) if view.positions[place] == here - 1]
    if not before:
        return "as the first call"
    failed = [place for place in before if place in set(_attempts(firsts, view))]
    names = ", ".join(view.names[place] for place in before)
    return f"directly after {names}{', which failed' if failed else ''}"


def _by_tool(calls: list[int], view: View) -> dict[str, list[int]]:
    grouped: dict[str, list[int]] = {}
    for call in calls:
        grouped.setdefault(view.names[call], []).append(call)
    return grouped


def _blocklist(rule: r.Blocklist, tools: ToolIndex) -> Decide:
    blocked = _selectors(rule.tools, tools)
    blocked_bits = _bits(blocked)

    def decide(view: View) -> Decision:
        if not view.any_bits & blocked_bits:
            return bool(view.names), []
        return True, [
            _break(
                rule,
                view,
                calls[0],
                tool=tool,
                pattern=next(one.name for one in blocked if calls[0] in one.attempts(view)),
                calls_found=len(calls),
                expected=f"{tool} not to be called",
                actual=f"{tool} was called {_times(len(calls))}",
                suggestion=f"Take {tool} out of the agent's tools, or out of the blocklist.",
            )
            for tool, calls in _by_tool(_attempts(blocked, view), view).items()
        ]

    return decide


def _allowlist(rule: r.Allowlist, tools: ToolIndex) -> Decide:
    allowed = _selectors(rule.tools, tools)

    def decide(view: View) -> Decision:
        fine = set(_attempts(allowed, view)) if allowed else set()
        if len(fine) == len(view.names):
            return bool(view.names), []
        other = [call for call in range(len(view.names)) if call not in fine]
        only = f"only {_any(allowed)} to be called" if allowed else "no tool to be called"
        return True, [
            _break(
                rule,
                view,
                calls[0],
                tool=tool,
                calls_found=len(calls),
                expected=only,
                actual=f"{tool} was called {_times(len(calls))}",
                suggestion=f"Take {tool} out of the agent's tools, or add it to the allowlist.",
            )
            for tool, calls in _by_tool(other, view).items()
        ]

    return decide


def _count(rule: r.Count, tools: ToolIndex) -> Decide:
    counted = _selectors(rule.tool, tools)
    what = " and ".join(selector.name for selector in counted)
    least, most = rule.least, rule.most

    def decide(view: View) -> Decision:
        tried = _attempts(counted, view)
        done = len(_successes(counted, view)) if least is not None else 0
        broken: list[Violation] = []

        def add(expected: str, found: str, call: int | None, suggestion: str) -> None:
            broken.append(
                _break(
                    rule,
                    view,
                    call,
                    tool=what,
                    calls_found=len(tried),
                    expected=f"{what} to be called {expected}",
                    actual=f"{what} {found}",
                    suggestion=suggestion,
                )
            )

        if least is not None and (done < least or (rule.exactly and done > least)):
            bound = f"exactly {_times(least)}" if rule.exactly else f"at least {_times(least)}"
            found = f"was called {_times(len(tried))}" if tried else "was never called"
            if done < len(tried):
                found += f", {len(tried) - done} of them failed"
            extra = _successes(counted, view)[least] if done > least else None
            add(bound, found, extra, f"Have the agent call {what} {bound}.")
        if most is not None and len(tried) > most:
            bound = f"at most {_times(most)}" if most else "never"
            add(bound, f"was called {_times(len(tried))}", tried[most], f"Stop the agent from calling {what} so often.")
        return (least is not None or bool(view.names)), broken

    return decide


def _after(rule: r.After, tools: ToolIndex) -> Decide:
    triggers, thens = _selectors(rule.trigger, tools), _selectors(rule.then, tools)
    trigger_bits = _bits(triggers)
    window = "" if rule.within is None else f" within {rule.within} position{'s' if rule.within > 1 else ''}"

    def decide(view: View) -> Decision:
        if not view.any_bits & trigger_bits:
            return False, []
        fired = _successes(triggers, view)
        positions = view.positions
        answers = [positions[call] for call in _successes(thens, view)]
        broken: list[Violation] = []
        for call in fired:
            here = positions[call]
            place = bisect_right(answers, here)
            if place < len(answers) and (rule.within is None or answers[place] <= here + rule.within):
                continue
            tool, needed = view.names[call], _any(thens)
            tried = [at for at in _attempts(thens, view) if positions[at] > here]
            if not tried:
                why = f"{needed} was not called after it"
            elif place < len(answers):
                why = f"{needed} came only {answers[place] - here} positions later"
            else:
                why = f"{needed} was called after it and failed"
            broken.append(
                _break(
                    rule,
                    view,
                    call,
                    tool=tool,
                    expected=f"{needed} after {tool}{window}",
                    actual=why,
                    suggestion=f"Have the agent call {needed}{window} after each {tool}.",
                )
            )
        return bool(fired), broken

    return decide


def _never_after(rule: r.NeverAfter, tools: ToolIndex) -> Decide:
    triggers, forbidden = _selectors(rule.trigger, tools), _selectors(rule.forbidden, tools)
    trigger_bits = _bits(triggers)

    def decide(view: View) -> Decision:
        if not view.any_bits & trigger_bits:
            return False, []
        fired = _attempts(triggers, view)
        if not fired:
            return False, []
        first = fired[0]
        since = view.positions[first]
        trigger = view.names[first]
        return True, [
            _break(
                rule,
                view,
                call,
                tool=view.names[call],
                expected=f"no {view.names[call]} after {trigger}",
                actual=f"{view.names[call]} was called after {trigger} (call {first + 1})",
                suggestion=f"End the task at {trigger}, or call {view.names[call]} before it.",
            )
            for call in _attempts(forbidden, view)
            if view.positions[call] > since
        ]

    return decide


def _eventually(rule: r.Eventually, tools: ToolIndex) -> Decide:
    wanted = _selectors(rule.tool, tools)
    within = rule.within
    window = "" if within is None else f" among the first {within} position{'s' if within > 1 else ''}"

    def decide(view: View) -> Decision:
        broken: list[Violation] = []
        for selector in wanted:
            done = selector.successes(view)
            if done and (within is None or view.positions[done[0]] < within):
                continue
            late = done[0] if done else None
            broken.append(
                _break(
                    rule,
                    view,
                    late,
                    tool=selector.name,
                    expected=f"{selector.name} to be called{window}",
                    actual=_absence(selector, view)
                    if late is None
                    else f"{selector.name} came only at position {view.positions[late] + 1}",
                    suggestion=f"Have the agent call {selector.name} earlier.",
                )
            )
        return True, broken

    return decide


def _sequence(rule: r.OrderedTools, tools: ToolIndex) -> Decide:
    steps = _selectors(rule.tools, tools)
    order = " → ".join(step.name for step in steps)

    def decide(view: View) -> Decision:
        places = [[view.positions[call] for call in step.successes(view)] for step in steps]
        stopped = _first_gap_strict(places) if rule.strict else _first_gap(places)
        if stopped is None:
            return True, []
        step = steps[stopped]
        if not places[stopped]:
            why = _absence(step, view)
        elif rule.strict:
            why = f"{step.name} never came directly after {' → '.join(done.name for done in steps[:stopped])}"
        else:
            why = f"{step.name} did not come after {' → '.join(done.name for done in steps[:stopped])}"
        return True, [
            _break(
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
