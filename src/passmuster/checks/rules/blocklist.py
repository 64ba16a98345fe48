"""`blocklist`: none of these is called."""

from collections.abc import Iterable
from typing import Annotated

from passmuster.checks._demands import Demand, at_most
from passmuster.checks.rules import HELD, IDLE, Calls, Decide, Decision, Rule, Selection, ToolIndex, View, times
from passmuster.suite import Key


class Blocklist(Rule, frozen=True, kw_only=True):
    """None of these is called."""

    tools: Annotated[Calls, Key("The calls that are forbidden.", example=["admin_*", "debug_*"])]

    def demands(self) -> Iterable[Demand]:
        """No call of these."""
        return (demand for one in self.tools for demand in at_most([one], 0))

    def compile(self, tools: ToolIndex) -> Decide:
        """None of the tools was called, not even without success. One violation a tool."""
        blocked = Selection(self.tools, tools)
        blocked_bits = blocked.bits

        def decide(view: View) -> Decision:
            if not view.any_bits & blocked_bits:
                return HELD if view.names else IDLE
            patterns: dict[int, str] = {}
            for selector in blocked:
                for call in selector.attempts(view):
                    patterns.setdefault(call, selector.name)
            return True, [
                self.broken(
                    view,
                    calls[0],
                    tool=tool,
                    pattern=patterns[calls[0]],
                    calls_found=len(calls),
                    expected=f"{(named := blocked.called(view, calls[0]))} not to be called",
                    actual=f"{named} was called {times(len(calls))}",
                    suggestion=f"Take {tool} out of the agent's tools, or out of the blocklist.",
                )
                for tool, calls in view.by_tool(sorted(patterns)).items()
            ]

        return decide
