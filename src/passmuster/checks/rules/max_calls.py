"""`max_calls`: at most so many calls; the same as `count` with `max`."""

from collections.abc import Iterable
from typing import Annotated

from passmuster.checks._demands import Demand, at_most
from passmuster.checks.rules import Calls, Decide, Rule, ToolIndex
from passmuster.checks.rules.count import count_calls
from passmuster.suite import WHOLE, Key


class MaxCalls(Rule, frozen=True, kw_only=True):
    """At most `max` calls; the same as `count` with `max`."""

    tool: Annotated[Calls, Key("The calls that are counted. A list: their sum.", example="search")]
    max: Annotated[int, WHOLE, Key("At most this many, failed calls included.", example=20)]

    def demands(self) -> Iterable[Demand]:
        """The highest number of calls."""
        return at_most(self.tool, self.max)

    def compile(self, tools: ToolIndex) -> Decide:
        return count_calls(self, self.tool, tools, most=self.max)
