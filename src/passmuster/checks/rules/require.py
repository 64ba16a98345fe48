"""`require`: each of these tools is called."""

from __future__ import annotations

from passmuster.checks._view import ToolIndex, View
from passmuster.checks.rules import HELD, Decide, Decision, absence, all_plain, broken, selectors
from passmuster.suite import rules as r


def compile(rule: r.Require, tools: ToolIndex) -> Decide:
    """Each of the tools was called with success."""
    wanted = selectors(rule.tool, tools)
    plain, each = all_plain(wanted), [selector.bits for selector in wanted]

    def decide(view: View) -> Decision:
        if plain and view.plain:
            for one in each:
                if not view.any_bits & one:
                    break
            else:
                return HELD
        missing = [selector for selector in wanted if not selector.successes(view)]
        if not missing:
            return HELD
        return True, [
            broken(
                rule,
                view,
                None,
                tool=selector.name,
                expected=f"{selector.name} to be called",
                actual=absence(selector, view),
                suggestion=f"Have the agent call {selector.name} on every run, or drop the rule.",
            )
            for selector in missing
        ]

    return decide
