"""The check `match_mode`."""

from passmuster import metrics
from passmuster.checks._outcome import PASS, SKIP, Outcome
from passmuster.checks._view import View
from passmuster.checks.layers._layer import Context, LayerCheck, LayerKey, decided
from passmuster.checks.layers.path._tools import in_order, listed, references
from passmuster.suite import Choice

ORDERED = ("strict", "in_order")
"""Modes that compare sequences: a set of tools is no reference for them."""


def compile_mode(mode: str, context: Context) -> LayerCheck:
    """The check for this mode."""
    compared = references(context)
    if "expected_tool_sequence" not in context.stated and "expected_tools" in context.stated and mode not in ORDERED:
        compared = (context.stated["expected_tools"],)

    def decide(view: View) -> Outcome:
        if not compared:
            return SKIP
        if mode == "in_order":
            return decided(any(in_order(view, one) for one in compared))
        return decided(any(metrics.match(view.names, one, mode) for one in compared))

    def message(view: View) -> str:
        if not compared:
            return f"{mode}: no reference, neither in the suite nor in a baseline"
        sign = "matches" if decide(view) is PASS else "does not match"
        return f"{mode}: {listed(view.names)} {sign} {' / '.join(listed(one) for one in compared[:3])}"

    return LayerCheck(decide, message)


KEY = LayerKey(
    Choice(*metrics.MATCH_MODES),
    "How the calls have to match the reference: `strict` (equal), `in_order` (its calls in this order, others between "
    "them; parallel calls in any order), `unordered` (the same set of tools), `subset` (all its tools are used), "
    "`superset` (only its tools are used).",
    compile_mode,
    order=5,
    example="strict",
)
