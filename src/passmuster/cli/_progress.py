"""A progress bar for long runs, on a terminal only."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from time import monotonic
from typing import Any

from passmuster.engine import Part
from passmuster.traces import Source

__all__ = ["Bar", "progress_bar"]

_PATIENCE = 1.0
"""Seconds before the bar appears: short runs stay silent."""


@contextlib.contextmanager
def progress_bar(sources: Sequence[Source], quiet: bool) -> Iterator[Bar]:
    """Tells how far a run has come, on standard error, once it has taken a while."""
    bar = Bar(sources, shown=not quiet and sys.stderr is not None and sys.stderr.isatty())
    try:
        yield bar
    finally:
        bar.stop()


class Bar:
    """How far a run has come: bytes judged, and below them the questions of the present batch."""

    def __init__(self, sources: Sequence[Source], shown: bool) -> None:
        self._shown = shown
        self._total = sum(os.path.getsize(source.path) for source in sources) if shown else 0
        self._done: dict[Part, int] = {}
        self._started = monotonic()
        self._rich: Any = None
        self._tasks: dict[str, Any] = {}

    def advance(self, part: Part, offset: int) -> None:
        """So many bytes of a part are judged."""
        if self._shown:
            self._done[part] = min(offset, part.size)  # a gzip file unpacks to more than it is
            self._update("judging", sum(self._done.values()), self._total)

    def asked(self, done: int, total: int) -> None:
        """So many questions of a batch are answered."""
        if self._shown:
            self._update("asking judges", done, total)

    def stop(self) -> None:
        """Wipe it away."""
        if self._rich is not None:
            self._rich.stop()

    def _update(self, name: str, done: int, total: int) -> None:
        if self._rich is None:
            if monotonic() - self._started < _PATIENCE:
                return
            self._rich = _appear()
        if name not in self._tasks:
            self._tasks[name] = self._rich.add_task(name, total=total)
        self._rich.update(self._tasks[name], completed=done, total=total)


def _appear() -> Any:
    from rich.console import Console
    from rich.progress import Progress as Rich

    rich = Rich(console=Console(stderr=True), transient=True)
    rich.start()
    return rich
