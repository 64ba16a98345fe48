"""A progress bar for long runs, on a terminal only."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from time import monotonic

from passmuster.engine.run import Progress
from passmuster.traces.sources import Source

__all__ = ["progress_bar"]

_PATIENCE = 1.0
"""Seconds before the bar appears: short runs stay silent."""


@contextlib.contextmanager
def progress_bar(sources: Sequence[Source], quiet: bool) -> Iterator[Progress]:
    """Tells how far a run has come, on standard error, once it has taken a while."""
    if quiet or not sys.stderr.isatty():
        yield lambda source, offset: None
        return
    bar = _Bar(sources)
    try:
        yield bar.advance
    finally:
        bar.stop()


class _Bar:
    def __init__(self, sources: Sequence[Source]) -> None:
        sizes = [os.path.getsize(source.path) for source in sources]
        self._before = {source.path: sum(sizes[:place]) for place, source in enumerate(sources)}
        self._sizes = {source.path: size for source, size in zip(sources, sizes, strict=True)}
        self._total = sum(sizes)
        self._started = monotonic()
        self._shown: tuple[object, object] | None = None

    def advance(self, source: Source, offset: int) -> None:
        from rich.progress import Progress as Rich

        if self._shown is None:
            if monotonic() - self._started < _PATIENCE:
                return
            from rich.console import Console

            rich = Rich(console=Console(stderr=True), transient=True)
            rich.start()
            self._shown = (rich, rich.add_task("judging", total=self._total))
        rich, task = self._shown  # type: ignore[assignment]
        done = self._before[source.path] + min(offset, self._sizes[source.path])  # a gzip file unpacks to more
        rich.update(task, completed=done)  # type: ignore[arg-type]

    def stop(self) -> None:
        if self._shown is not None:
            self._shown[0].stop()  # type: ignore[attr-defined]
