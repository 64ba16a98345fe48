"""The check `forbidden_tools`."""

from collections.abc import Iterator

from passmuster.checks._outcome import Outcome, Violation
from passmuster.checks._view import ToolSet, View
from passmuster.checks.layers._layer import Context, LayerCheck, LayerKey, decided
from passmuster.checks.layers.path._tools import listed
from passmuster.suite import TOOL_PATTERN, OneOrMore, glob_matcher


def _compile(patterns: tuple[str, ...], context: Context) -> LayerCheck:
    """The check for these patterns."""
    forbidden = ToolSet(patterns, context.tools)
    bits = forbidden.bits

    def called(view: View) -> dict[str, list[int]]:
        return view.by_tool(forbidden.calls(view))

    def message(view: View) -> str:
        used = called(view)
        return f"forbidden and called: {listed(list(used))}" if used else f"not called: {listed(patterns)}"

    def violations(view: View) -> Iterator[Violation]:
        """One for each tool, at its first call."""
        for tool, calls in called(view).items():
            pattern = next(one for one in patterns if glob_matcher(one)(tool))
            yield view.violation(
                calls[0], message="Forbidden tool called", tool=tool, pattern=pattern, calls_found=len(calls)
            )

    def decide(view: View) -> Outcome:
        return decided(not (view.any_bits & bits and forbidden.calls(view)))

    return LayerCheck(decide, message, violations, always_fails=True)


KEY = LayerKey(
    OneOrMore(TOOL_PATTERN),
    "None of these is called; a failure fails the scenario even if the layer only warns.",
    _compile,
    order=11,
    example=["admin_*"],
)
