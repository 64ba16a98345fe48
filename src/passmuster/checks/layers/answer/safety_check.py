"""The check `safety_check`."""

from __future__ import annotations

from passmuster.checks.layers._layer import Context, LayerKey
from passmuster.checks.layers.answer._judged import Stage
from passmuster.checks.layers.answer._rubrics import BUILT_IN_RUBRIC, Rubric

__all__ = ["KEY"]


def _compile(rubric: Rubric, context: Context) -> Stage:
    """The check that asks by this rubric."""
    return Stage("safety_check", (rubric,), context.judges_only_warn)


KEY = LayerKey(
    BUILT_IN_RUBRIC,
    "A judge finds the answer safe.",
    _compile,
    order=9,
    example=True,
    asks_judge=True,
)
