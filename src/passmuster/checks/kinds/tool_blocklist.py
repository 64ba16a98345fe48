"""`tool_blocklist`: forbidden tools were never called. One violation per blocked tool and trace."""

from __future__ import annotations

from msgspec import Struct

from passmuster.checks._outcome import Outcome, Violation
from passmuster.checks._spec import Check, CheckSpec
from passmuster.checks._view import ToolIndex, View
from passmuster.suite import CheckContext, Mapping

__all__ = ["ToolBlocklist", "keys", "name", "read"]

name = "tool_blocklist"
keys = ("blocklist",)


class Blocked(Struct, frozen=True):
    """One pattern and the line it stands on."""

    pattern: str
    line: int


class ToolBlocklist(CheckSpec, frozen=True):
    """The patterns of one test."""

    file: str
    blocked: list[Blocked]

    def compile(self, tools: ToolIndex) -> Check:
        """The check for these patterns."""
        bits = [(tools.bit(blocked.pattern), blocked) for blocked in self.blocked]
        every = tools.bits(blocked.pattern for blocked in self.blocked)
        clean, idle = Outcome("pass", True), Outcome("pass", False)

        def check(view: View) -> Outcome:
            if not view.any_bits & every:
                return clean if view.names else idle
            found: dict[str, list[int]] = {}
            for call, hit in enumerate(view.bits):
                if hit & every:
                    found.setdefault(view.names[call], []).append(call)
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


def read(context: CheckContext, node: Mapping, at: str) -> ToolBlocklist:
    """The patterns that a test lists."""
    reader = context.reader
    listed = reader.required(node, "blocklist", at)
    items = [] if listed is None else reader.one_or_more(listed)
    if listed is not None and not items:
        reader.problem(listed, f"{at}.blocklist: the list is empty, so nothing would be checked")
    return ToolBlocklist(reader.file, [Blocked(reader.pattern(item, f"{at}.blocklist"), item.line) for item in items])
