"""`allowlist`: no other tool is called."""

from collections.abc import Iterable
from typing import Annotated

from passmuster.checks._demands import Demand, tools_of
from passmuster.checks.rules import CallsOrNone, Decide, Decision, Rule, Selection, ToolIndex, View, times
from passmuster.suite import Key


class Allowlist(Rule, frozen=True, kw_only=True):
    """No other tool is called."""

    tools: Annotated[CallsOrNone, Key("The calls that are allowed. `[]` allows none.", example=["get_*", "search"])]

    def demands(self) -> Iterable[Demand]:
        """No other tool."""
        return (Demand("only", tools_of(self.tools)),)

    def compile(self, tools: ToolIndex) -> Decide:
        """Nothing but these tools was called. One violation a tool."""
        allowed = Selection(self.tools, tools)
        only = f"only {allowed.name} to be called" if allowed else "no tool to be called"

        def decide(view: View) -> Decision:
            fine = set(allowed.attempts(view))
            if len(fine) == len(view.names):
                return bool(view.names) or not allowed, []
            other = [call for call in range(len(view.names)) if call not in fine]
            return True, [
                self.broken(
                    view,
                    calls[0],
                    tool=tool,
                    calls_found=len(calls),
                    expected=only,
                    actual=f"{tool} was called {times(len(calls))}",
                    suggestion=f"Take {tool} out of the agent's tools, or add it to the allowlist.",
                )
                for tool, calls in view.by_tool(other).items()
            ]

        return decide
