"""Evaluates all parts in this process."""

from __future__ import annotations

from collections.abc import Sequence

from passmuster.engine._evaluation import evaluator
from passmuster.engine._execution import Execution
from passmuster.engine._parts import Part
from passmuster.engine._plan import Job
from passmuster.engine._progress import Progress
from passmuster.scoring import Tally


def execute(job: Job, parts: Sequence[Part], execution: Execution, progress: Progress) -> Tally:
    """One tally of all parts."""
    with evaluator(job, progress) as evaluate:
        for part in parts:
            evaluate.part(part, progress)
    return evaluate.tally
