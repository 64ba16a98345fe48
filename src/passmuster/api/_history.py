"""The stored runs of a suite."""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from passmuster import history
from passmuster._problems import Problem, UsageError, did_you_mean
from passmuster.api._load_suite import root_of
from passmuster.history import History
from passmuster.suite import display


def read_history(
    path: str | None = None, *, last: int = 20, metrics: Collection[str] = (), root: str | None = None
) -> History:
    """The last runs of a suite, with all their metrics or only those named; none if no run was stored."""
    file, folder = root_of(path, root)
    found = history.read_history(folder, display(file, folder), last)
    if not metrics or not found.runs:
        return found
    known = {name for run in found.runs for name in run.metrics}
    problems = [
        Problem(f"--metric {name}: none of these runs has this metric{did_you_mean(name, known)}")
        for name in metrics
        if name not in known
    ]
    if problems:
        raise UsageError(problems)
    return replace(
        found,
        runs=[
            replace(run, metrics={name: value for name, value in run.metrics.items() if name in metrics})
            for run in found.runs
        ],
    )
