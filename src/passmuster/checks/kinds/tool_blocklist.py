"""`tool_blocklist`: forbidden tools are never called. One violation per blocked tool and trace."""

from collections.abc import Iterator
from typing import Annotated

from msgspec import Struct

from passmuster.checks._reasoning import Ending, Reasoning, Reasons, told_calls
from passmuster.checks.kinds import Check, CheckSpec, Outcome, ToolIndex, ToolSet, View, Violation
from passmuster.suite import TOOL_PATTERN, Custom, Key, Node, OneOrMore, Reader, glob_matcher


class Blocked(Struct, frozen=True):
    """One pattern and the line it stands on."""

    pattern: str
    line: int


def _read_blocked(reader: Reader, node: Node, at: str) -> Blocked:
    return Blocked(TOOL_PATTERN.read(reader, node, at), node.line)


_BLOCKED = Custom(TOOL_PATTERN.words, _read_blocked, TOOL_PATTERN.schema)


class ToolBlocklist(CheckSpec, frozen=True, kw_only=True):
    """No forbidden tool is called, not even without success."""

    blocklist: Annotated[
        tuple[Blocked, ...], OneOrMore(_BLOCKED), Key("Tool names and globs.", example=["drop_table", "admin_*"])
    ]
    file: str

    def compile(self, tools: ToolIndex) -> Check:
        blocked = ToolSet([one.pattern for one in self.blocklist], tools)
        every = blocked.bits
        clean, idle = Outcome("pass", True), Outcome("pass", False)

        def check(view: View) -> Outcome:
            if not view.any_bits & every:
                return clean if view.names else idle
            found = view.by_tool(blocked.calls(view))
            if not found:
                return clean
            return Outcome("fail", True, tuple(self._violation(view, calls) for calls in found.values()))

        return check

    def reasons(self, tools: ToolIndex) -> Reasons:
        """Pattern by pattern: which calls fit it."""
        compiled = [(blocked, ToolSet([blocked.pattern], tools)) for blocked in self.blocklist]

        def explain(view: View, outcome: Outcome) -> Iterator[Reasoning]:
            left = list(outcome.violations)
            for blocked, tools in compiled:
                calls = tools.calls(view)
                own = tuple(one for one in left if one.pattern == blocked.pattern)
                left = [one for one in left if one not in own]  # a pattern may be listed twice
                ending: Ending = "broken" if calls else "held" if view.names else "not exercised"
                if outcome.status == "skip":
                    ending = "undecided"
                steps = (f"{blocked.pattern}: {told_calls(view, calls)}",)
                yield Reasoning(f"pattern {blocked.pattern}", ending, blocked.line, None, steps, own)

        return explain

    def named_tools(self) -> Iterator[tuple[str, int, str]]:
        """The tools that it forbids."""
        return ((blocked.pattern, blocked.line, "the blocklist") for blocked in self.blocklist)

    def _violation(self, view: View, calls: list[int]) -> Violation:
        first = calls[0]
        tool = view.names[first]
        blocked = next(blocked for blocked in self.blocklist if glob_matcher(blocked.pattern)(tool))
        return view.violation(
            first,
            message="Blocked tool called",
            tool=tool,
            pattern=blocked.pattern,
            calls_found=len(calls),
            policy_file=self.file,
            policy_line=blocked.line,
            suggestion=f"Take {tool} out of the agent's tools, or '{blocked.pattern}' out of the blocklist.",
        )
