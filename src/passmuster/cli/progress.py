"""A progress bar for long runs, on a terminal only."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from time import monotonic
from typing import Any

from passmuster.engine.parts import Part
from passmuster.engine.run import Progress
from passmuster.traces.sources import Source

__all__ = ["progress_bar"]

_PATIENCE = 1.0
"""Seconds before the bar appears: short runs stay silent."""


@contextlib.contextmanager
def progress_bar(sources: Sequence[Source], quiet: bool) -> Iterator[Progress]:
    """Tells how far a run has come, on standard error, once it has taken a while."""
    if quiet or not sys.stderr.isatty():
        yield lambda part, offset: None
        return
    bar = _Bar(sum(os.path.getsize(source.path) for source in sources))
    try:
        yield bar.advance
    finally:
        bar.stop()


class _Bar:
    def __init__(self, total: int) -> None:
        self._total = total
        self._done: dict[Part, int] = {}
        self._started = monotonic()
        self._rich: Any = None

    def advance(self, part: Part, offset: int) -> None:
        self._done[part] = min(offset, part.size)  # a gzip file unpacks to more than it is
        if self._rich is None:
            if monotonic() - self._started < _PATIENCE:
                return
            self._rich = self._appear()
        self._rich.update(self._rich.task_ids[0], completed=sum(self._done.values()))

    def _appear(self) -> Any:
        from rich.console import Console
        from rich.progress import Progress as Rich

        rich = Rich(console=Console(stderr=True), transient=True)
        rich.add_task("judging", total=self._total)
        rich.start()
        return rich

    def stop(self) -> None:
        if self._rich is not None:
            self._rich.stop()
