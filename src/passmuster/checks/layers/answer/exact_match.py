"""`exact_match`: the answer is this text, white space at both ends aside."""

from __future__ import annotations

from passmuster.checks.layers._layer import Context, LayerCheck
from passmuster.checks.layers.answer._answer import answer_check, shortened

__all__ = ["ORDER", "compile"]

ORDER = 4


def compile(expected: str, context: Context) -> LayerCheck:
    """The check for this text."""
    wanted = expected.strip()
    return answer_check(
        lambda view: (view.trace.answer or "").strip() == wanted,
        lambda view: "the answer is exactly as expected",
        lambda view: f"expected exactly {shortened(wanted)}, found {shortened(view.trace.answer)}",
    )
