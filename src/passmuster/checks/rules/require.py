"""`require`: called at least once."""

from collections.abc import Iterable
from typing import Annotated

from passmuster.checks._demands import Demand, each_of
from passmuster.checks.rules import HELD, Calls, Decide, Decision, Rule, Selection, ToolIndex, View
from passmuster.suite import Key


class Require(Rule, frozen=True, kw_only=True):
    """Called at least once. A list: each of them."""

    tool: Annotated[Calls, Key("The calls that have to be made.", example="verify_identity")]

    def demands(self) -> Iterable[Demand]:
        """Each of these is called."""
        return each_of(self.tool)

    def compile(self, tools: ToolIndex) -> Decide:
        """Each of the tools was called with success."""
        wanted = Selection(self.tool, tools)
        plain, each = wanted.plain, [selector.bits for selector in wanted]

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
                self.broken(
                    view,
                    None,
                    tool=selector.name,
                    expected=f"{selector.name} to be called",
                    actual=selector.absence(view),
                    suggestion=f"Have the agent call {selector.name} on every run, or drop the rule.",
                )
                for selector in missing
            ]

        return decide
