"""`llm_judge`: a judge scores the answer by a rule high enough; of a list, by every one."""

from __future__ import annotations

from passmuster.checks.layers._layer import Context
from passmuster.checks.layers.answer._judged import Stage
from passmuster.suite import Rubric

__all__ = ["ORDER", "compile"]

ORDER = 8


def compile(rubrics: tuple[Rubric, ...], context: Context) -> Stage:
    """The check that asks by these rubrics."""
    return Stage("llm_judge", rubrics, context.judges_only_warn)
