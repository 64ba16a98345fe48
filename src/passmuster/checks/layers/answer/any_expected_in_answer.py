"""The check `any_expected_in_answer`."""

from passmuster.checks.layers._layer import Context, LayerCheck, LayerKey
from passmuster.checks.layers.answer._answer import answer_check, has_any, present, quoted, shortened
from passmuster.suite import PHRASE, OneOrMore


def _compile(terms: tuple[str, ...], context: Context) -> LayerCheck:
    """The check for these terms."""
    lowered = [term.lower() for term in terms]
    return answer_check(
        lambda view: has_any(view.lowered_answer, lowered),
        lambda view: f"the answer has {quoted(present(terms, view))}",
        lambda view: f"none of {quoted(terms)} is in the answer {shortened(view.trace.answer)}",
    )


KEY = LayerKey(
    OneOrMore(PHRASE),
    "At least one term is in the answer, ignoring case.",
    _compile,
    order=2,
    example=["nine to five", "9-17"],
)
