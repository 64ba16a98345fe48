"""Executors: each evaluates the parts of an input with a job and returns one tally.

The tally does not depend on the executor or the number of its workers. An executor is one module of this package with
the function `execute`; the module's name is its name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from passmuster._registry import Registry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from passmuster.engine._execution import Execution
    from passmuster.engine._parts import Part
    from passmuster.engine._plan import Job
    from passmuster.engine._progress import Progress
    from passmuster.scoring import Tally


class Executor(Protocol):
    """What an executor module offers."""

    def execute(self, job: Job, parts: Sequence[Part], execution: Execution, progress: Progress) -> Tally:
        """Evaluate every part once, with as many workers at most as the execution says."""


EXECUTORS = Registry(__name__)


def executor(name: str) -> Executor:
    """The executor of this name."""
    return cast("Executor", EXECUTORS[name])
