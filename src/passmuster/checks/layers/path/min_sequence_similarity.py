"""The check `min_sequence_similarity`."""

from passmuster import metrics
from passmuster.checks._outcome import SKIP, Outcome
from passmuster.checks._view import View
from passmuster.checks.layers._layer import Context, LayerCheck, LayerKey, decided
from passmuster.checks.layers.path._tools import figure, listed, reaches, references
from passmuster.suite import FRACTION


def _compile(least: float, context: Context) -> LayerCheck:
    """The check for this bound."""
    compared = references(context)
    similarity = context.stated.get("similarity", "lcs")
    measure = metrics.sequence_lcs if similarity == "lcs" else metrics.sequence_edit

    def decide(view: View) -> Outcome:
        if not compared:
            return SKIP
        return decided(any(reaches(measure(view.names, one), least) for one in compared))

    def message(view: View) -> str:
        if not compared:
            return "no reference sequence, neither in the suite nor in a baseline"
        best = max(compared, key=lambda one: measure(view.names, one))
        value = measure(view.names, best)
        sign = "≥" if reaches(value, least) else "<"
        figures = f"sequence_{similarity} {figure(value)} {sign} {figure(least)}"
        return f"{figures}: {listed(view.names)} compared with {listed(best)}"

    return LayerCheck(decide, message)


KEY = LayerKey(
    FRACTION, "The similarity of the calls to the reference is at least this.", _compile, order=7, example=0.8
)
