"""The check `forbidden_tools`."""

from collections.abc import Iterator

from passmuster.checks._outcome import Violation
from passmuster.checks._view import View
from passmuster.checks.layers._layer import Context, LayerCheck, LayerKey, decided
from passmuster.checks.layers.path._tools import listed
from passmuster.suite import TOOL_PATTERN, OneOrMore


def _compile(patterns: tuple[str, ...], context: Context) -> LayerCheck:
    """The check for these patterns."""
    bits = context.tools.bits(patterns)

    def called(view: View) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for call, one in enumerate(view.bits):
            if one & bits:
                found.setdefault(view.names[call], []).append(call)
        return found

    def message(view: View) -> str:
        used = called(view)
        return f"forbidden and called: {listed(list(used))}" if used else f"not called: {listed(patterns)}"

    def violations(view: View) -> Iterator[Violation]:
        """One for each tool, at its first call."""
        for tool, calls in called(view).items():
            pattern = next(one for one in patterns if view.bits[calls[0]] & context.tools.bit(one))
            yield view.violation(
                calls[0], message="Forbidden tool called", tool=tool, pattern=pattern, calls_found=len(calls)
            )

    return LayerCheck(lambda view: decided(not view.any_bits & bits), message, violations, always_fails=True)


KEY = LayerKey(
    OneOrMore(TOOL_PATTERN),
    "None of these is called; a failure fails the scenario even if the layer only warns.",
    _compile,
    order=11,
    example=["admin_*"],
)
