"""The check `llm_judge`."""

from __future__ import annotations

from passmuster.checks.layers._layer import Context, LayerKey
from passmuster.checks.layers.answer._judged import Stage
from passmuster.checks.layers.answer._rubrics import RUBRICS, Rubric

__all__ = ["KEY"]


def _compile(rubrics: tuple[Rubric, ...], context: Context) -> Stage:
    """The check that asks by these rubrics."""
    return Stage("llm_judge", rubrics, context.judges_only_warn)


KEY = LayerKey(
    RUBRICS,
    "A judge scores the answer by this rule high enough; of a list, by every one.",
    _compile,
    order=8,
    example=[{"rule": "Apologizes.", "threshold": 0.7}],
    asks_judge=True,
)
