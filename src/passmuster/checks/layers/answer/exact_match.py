"""The check `exact_match`."""

from passmuster.checks.layers._layer import Context, LayerCheck, LayerKey
from passmuster.checks.layers.answer._answer import answer_check, shortened
from passmuster.suite import PROSE


def _compile(expected: str, context: Context) -> LayerCheck:
    """The check for this text."""
    wanted = expected.strip()
    return answer_check(
        lambda view: any(text.strip() == wanted for text in view.texts),
        lambda view: "the answer is exactly as expected",
        lambda view: f"expected exactly {shortened(wanted)}, found {shortened(view.trace.answer)}",
    )


KEY = LayerKey(
    PROSE, "The answer equals this text, ignoring leading and trailing white space.", _compile, order=4, example="yes"
)
