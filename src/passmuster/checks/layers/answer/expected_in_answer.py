"""The check `expected_in_answer`."""

from passmuster.checks._view import View
from passmuster.checks.layers._layer import Context, LayerCheck, LayerKey
from passmuster.checks.layers.answer._answer import answer_check, present, quoted, shortened
from passmuster.suite import PHRASE, OneOrMore


def _compile(terms: tuple[str, ...], context: Context) -> LayerCheck:
    """The check for these terms."""
    lowered = [term.lower() for term in terms]

    def holds(view: View) -> bool:
        text = view.lowered_answer
        for term in lowered:  # noqa: SIM110 - a generator would cost more than the search
            if term not in text:
                return False
        return True

    def broken(view: View) -> str:
        found = present(terms, view)
        missing = [term for term in terms if term not in found]
        return f"{quoted(missing)} not in the answer {shortened(view.trace.answer)}"

    return answer_check(holds, lambda view: f"the answer has {quoted(terms)}", broken)


KEY = LayerKey(
    OneOrMore(PHRASE), "Every term is in the answer, ignoring case.", _compile, order=1, example=["refunded"]
)
