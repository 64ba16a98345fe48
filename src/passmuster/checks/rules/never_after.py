"""`never_after`: nothing `forbidden` after the first `trigger`."""

from __future__ import annotations

from passmuster.checks._view import ToolIndex, View
from passmuster.checks.rules import HELD, IDLE, Decide, Decision, all_plain, attempts, bits, broken, selectors
from passmuster.suite import rules as r


def compile(rule: r.NeverAfter, tools: ToolIndex) -> Decide:
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
