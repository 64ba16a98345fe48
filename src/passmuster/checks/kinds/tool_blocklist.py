"""`tool_blocklist`: forbidden tools are never called. One violation per blocked tool and trace."""

from typing import Annotated

from msgspec import Struct

from passmuster.checks.kinds import Check, CheckSpec, Outcome, ToolIndex, View, Violation
from passmuster.suite import TOOL_PATTERN, Custom, Key, Node, OneOrMore, Reader


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
        bits = [(tools.bit(blocked.pattern), blocked) for blocked in self.blocklist]
        every = tools.bits(blocked.pattern for blocked in self.blocklist)
        clean, idle = Outcome("pass", True), Outcome("pass", False)

        def check(view: View) -> Outcome:
            if not view.any_bits & every:
                return clean if view.names else idle
            found = view.by_tool(call for call, hit in enumerate(view.bits) if hit & every)
            return Outcome("fail", True, tuple(self._violation(view, calls, bits) for calls in found.values()))

        return check

    def _violation(self, view: View, calls: list[int], bits: list[tuple[int, Blocked]]) -> Violation:
        first = calls[0]
        blocked = next(blocked for bit, blocked in bits if view.bits[first] & bit)
        tool = view.names[first]
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
