"""`eventually`: each of these tools is called early enough."""

from __future__ import annotations

from passmuster.checks._outcome import Violation
from passmuster.checks._view import ToolIndex, View
from passmuster.checks.rules import Decide, Decision, absence, broken, selectors
from passmuster.suite import rules as r


def compile(rule: r.Eventually, tools: ToolIndex) -> Decide:
    """Each of the tools was called with success among the first positions."""
    wanted = selectors(rule.tool, tools)
    within = rule.within
    window = "" if within is None else f" among the first {within} position{'s' if within > 1 else ''}"

    def decide(view: View) -> Decision:
        found: list[Violation] = []
        for selector in wanted:
            done = selector.successes(view)
            if done and (within is None or view.positions[done[0]] < within):
                continue
            late = done[0] if done else None
            if late is None:
                actual = absence(selector, view)
            else:
                actual = f"{selector.name} came only at position {view.positions[late] + 1}"
                if view.positions[selector.attempts(view)[0]] < (within or 0):
                    actual += ", for it was called before and failed"
            found.append(
                broken(
                    rule,
                    view,
                    late,
                    tool=selector.name,
                    expected=f"{selector.name} to be called{window}",
                    actual=actual,
                    suggestion=f"Have the agent call {selector.name} earlier.",
                )
            )
        return True, found

    return decide
