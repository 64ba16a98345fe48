"""What several commands take: traces, a day, a number of workers."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path

import click

from passmuster._problems import Problem, UsageError
from passmuster.suite import Suite
from passmuster.traces import Source, find_sources

__all__ = ["Workers", "day_of", "sources_of"]


class Workers(click.ParamType["int | None"]):
    """`auto`, or how many."""

    name = "workers"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        text = str(value)
        if text == "auto":
            return None
        if not text.isdecimal() or not 1 <= int(text) <= 1024:
            self.fail(f"expected auto or a number from 1 to 1024, found '{text}'", param, ctx)
        return int(text)


def day_of(text: str | None) -> datetime.date:
    """The day that `--today` gives, else today in UTC."""
    if text is None:
        return datetime.datetime.now(datetime.UTC).date()
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise UsageError(Problem(f"--today: expected a day such as 2026-01-31, found '{text}'")) from None


def sources_of(suite: Suite, traces: Sequence[str], stdin: Sequence[Source]) -> list[Source]:
    """The trace files that `--traces` gives, else those of the suite."""
    if traces:
        paths = [path for path in traces if path != "-"]
        return [*find_sources(paths, Path.cwd(), suite.root), *stdin]
    if not suite.traces:
        message = "no traces: give --traces PATH, or list them under 'traces:' in the suite"
        raise UsageError(Problem(message, suite.file))
    return find_sources(suite.traces, suite.folder, suite.root)
