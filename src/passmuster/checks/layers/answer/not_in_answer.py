"""`not_in_answer`: no term is in the answer, in any case."""

from __future__ import annotations

from passmuster.checks.layers._layer import Context, LayerCheck
from passmuster.checks.layers.answer._answer import answer_check, has_any, present, quoted

__all__ = ["ORDER", "compile"]

ORDER = 3


def compile(terms: tuple[str, ...], context: Context) -> LayerCheck:
    """The check for these terms."""
    lowered = [term.lower() for term in terms]
    return answer_check(
        lambda view: not has_any(view.lowered_answer, lowered),
        lambda view: f"{quoted(terms)} not in the answer",
        lambda view: f"{quoted(present(terms, view))} in the answer",
    )
