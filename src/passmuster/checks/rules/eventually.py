"""`eventually`: called, among the first positions where `within` is stated."""

from collections.abc import Iterable
from typing import Annotated

from passmuster._problems import plural
from passmuster.checks._demands import Demand, each_of
from passmuster.checks.rules import Calls, Decide, Decision, Rule, Selection, ToolIndex, View, Violation
from passmuster.suite import Key, Whole


class Eventually(Rule, frozen=True, kw_only=True):
    """Called, among the first `within` positions if stated. A list: each of them."""

    tool: Annotated[Calls, Key("The calls that have to be made.", example="get_order")]
    within: Annotated[int | None, Whole(1), Key("Among this many first positions; by default anywhere.", example=3)] = (
        None
    )

    def demands(self) -> Iterable[Demand]:
        """Each of these is called."""
        return each_of(self.tool)

    def compile(self, tools: ToolIndex) -> Decide:
        """Each of the tools was called with success among the first positions."""
        wanted = Selection(self.tool, tools)
        within = self.within
        window = "" if within is None else f" among the first {plural(within, 'position')}"

        def decide(view: View) -> Decision:
            found: list[Violation] = []
            for selector in wanted:
                done = selector.successes(view)
                if done and (within is None or view.positions[done[0]] < within):
                    continue
                late = done[0] if done else None
                if late is None:
                    actual = selector.absence(view)
                else:
                    actual = f"{selector.name} came only at position {view.positions[late] + 1}"
                    if view.positions[selector.attempts(view)[0]] < (within or 0):
                        actual += ", because it was called before and failed"
                found.append(
                    self.broken(
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
