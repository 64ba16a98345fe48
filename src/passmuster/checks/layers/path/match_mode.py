"""`match_mode`: how the calls made have to fit `expected_tool_sequence`, `expected_tools` or a recorded sequence."""

from __future__ import annotations

from passmuster import metrics
from passmuster.checks._outcome import PASS, SKIP, Outcome
from passmuster.checks._view import View
from passmuster.checks.layers._layer import Context, LayerCheck, decided
from passmuster.checks.layers.path._tools import listed

__all__ = ["ORDER", "compile"]

ORDER = 5


def compile(mode: str, context: Context) -> LayerCheck:
    """The check for this mode."""
    references = context.references
    if "expected_tool_sequence" not in context.stated and "expected_tools" in context.stated and mode != "strict":
        references = (context.stated["expected_tools"],)

    def decide(view: View) -> Outcome:
        if not references:
            return SKIP
        return decided(any(metrics.match(view.names, one, mode) for one in references))

    def message(view: View) -> str:
        if not references:
            return f"{mode}: no reference, neither in the suite nor in a baseline"
        sign = "fits" if decide(view) is PASS else "does not fit"
        return f"{mode}: {listed(view.names)} {sign} {' / '.join(listed(one) for one in references[:3])}"

    return LayerCheck(decide, message)
