"""`min_sequence_similarity`: the calls made are at least this similar to the reference, measured by `similarity`."""

from __future__ import annotations

from passmuster import metrics
from passmuster.checks._outcome import SKIP, Outcome
from passmuster.checks._view import View
from passmuster.checks.layers._layer import Context, LayerCheck, decided
from passmuster.checks.layers.path._tools import figure, listed, reaches

__all__ = ["ORDER", "compile"]

ORDER = 7


def compile(least: float, context: Context) -> LayerCheck:
    """The check for this bound."""
    references = context.references
    similarity = context.stated.get("similarity", "lcs")
    measure = metrics.sequence_lcs if similarity == "lcs" else metrics.sequence_edit

    def decide(view: View) -> Outcome:
        if not references:
            return SKIP
        return decided(any(reaches(measure(view.names, one), least) for one in references))

    def message(view: View) -> str:
        if not references:
            return "no reference sequence, neither in the suite nor in a baseline"
        best = max(references, key=lambda one: measure(view.names, one))
        value = measure(view.names, best)
        sign = "≥" if reaches(value, least) else "<"
        figures = f"sequence_{similarity} {figure(value)} {sign} {figure(least)}"
        return f"{figures}: {listed(view.names)} next to {listed(best)}"

    return LayerCheck(decide, message)
