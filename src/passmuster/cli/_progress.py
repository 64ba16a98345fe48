"""A progress bar for long runs, on a terminal only."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from time import monotonic
from typing import Any

from passmuster import api

_DELAY = 1.0
"""Seconds before the bar appears: short runs show none."""


@contextlib.contextmanager
def progress_bar(quiet: bool = False) -> Iterator[api.OnProgress | None]:
    """What a run tells its progress to, on standard error; None where nobody would see it."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    bar = _Bar()
    try:
        yield bar.update
    finally:
        bar.stop()


@contextlib.contextmanager
def live_bar(quiet: bool = False) -> Iterator[api.OnLive | None]:
    """What a live run tells its progress to: runs, failures, what they cost and the time left."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    told = TextColumn("{task.fields[told]}")
    columns = (TextColumn("running"), BarColumn(), MofNCompleteColumn(), told, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as rich:
        task = rich.add_task("running", total=None, told="")

        def update(progress: api.LiveProgress) -> None:
            spent = "" if progress.spent_usd is None else f", ${progress.spent_usd:.2f}"
            rich.update(task, completed=progress.done, total=progress.total, told=f"{progress.failed} failed{spent}")

        yield update


class _Bar:
    """One line per stage, shown once the run has taken a while."""

    def __init__(self) -> None:
        self._started: float | None = None
        self._rich: Any = None
        self._tasks: dict[str, Any] = {}

    def update(self, stage: str, done: int, total: int) -> None:
        if self._rich is None:
            if self._started is None:
                self._started = monotonic()
            if monotonic() - self._started < _DELAY:
                return
            self._rich = _shown()
        if stage not in self._tasks:
            self._tasks[stage] = self._rich.add_task(stage, total=total)
        self._rich.update(self._tasks[stage], completed=done, total=total)

    def stop(self) -> None:
        """Remove it from the screen."""
        if self._rich is not None:
            self._rich.stop()


def _shown() -> Any:
    from rich.console import Console
    from rich.progress import Progress

    rich = Progress(console=Console(stderr=True), transient=True)
    rich.start()
    return rich
