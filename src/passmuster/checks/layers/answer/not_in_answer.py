"""The check `not_in_answer`."""

from passmuster.checks.layers._layer import Context, LayerCheck, LayerKey
from passmuster.checks.layers.answer._answer import answer_check, has_any, present, quoted
from passmuster.suite import PHRASE, OneOrMore


def _compile(terms: tuple[str, ...], context: Context) -> LayerCheck:
    """The check for these terms."""
    lowered = [term.lower() for term in terms]
    return answer_check(
        lambda view: not has_any(view.lowered_answer, lowered),
        lambda view: f"{quoted(terms)} not in the answer",
        lambda view: f"{quoted(present(terms, view))} in the answer",
    )


KEY = LayerKey(OneOrMore(PHRASE), "No term is in the answer, ignoring case.", _compile, order=3, example=["guarantee"])
