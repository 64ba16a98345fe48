"""`allowlist`: only these tools are called."""

from __future__ import annotations

from passmuster.checks._view import ToolIndex, View
from passmuster.checks.rules import Decide, Decision, any_of, attempts, broken, by_tool, selectors, times
from passmuster.suite import rules as r


def compile(rule: r.Allowlist, tools: ToolIndex) -> Decide:
    """Nothing but these tools was called. One violation a tool."""
    allowed = selectors(rule.tools, tools)
    only = f"only {any_of(allowed)} to be called" if allowed else "no tool to be called"

    def decide(view: View) -> Decision:
        fine = set(attempts(allowed, view))
        if len(fine) == len(view.names):
            return bool(view.names), []
        other = [call for call in range(len(view.names)) if call not in fine]
        return True, [
            broken(
                rule,
                view,
                calls[0],
                tool=tool,
                calls_found=len(calls),
                expected=only,
                actual=f"{tool} was called {times(len(calls))}",
                suggestion=f"Take {tool} out of the agent's tools, or add it to the allowlist.",
            )
            for tool, calls in by_tool(other, view).items()
        ]

    return decide
