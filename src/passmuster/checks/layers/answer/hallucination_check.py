"""`hallucination_check`: a judge finds every claim of the answer in the results of the trace's tools."""

from __future__ import annotations

from passmuster.checks.layers._layer import Context
from passmuster.checks.layers.answer._judged import Stage
from passmuster.suite import Rubric

__all__ = ["ORDER", "compile"]

ORDER = 10


def compile(rubric: Rubric, context: Context) -> Stage:
    """The check that asks by this rubric."""
    return Stage("hallucination_check", (rubric,), context.judges_only_warn)
