"""What a run reads besides its suite: trace files, and what it is compared with."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from msgspec.structs import replace

from passmuster._problems import Problem, UsageError
from passmuster.engine import EXECUTORS
from passmuster.suite import Suite
from passmuster.traces import FORMATS, Source, check_format, find_sources, standard_input

if TYPE_CHECKING:
    from passmuster.scoring import Baseline


class StandardInput:
    """Standard input, read when a run first asks for it and kept for the next, until the context ends."""

    def __init__(self) -> None:
        self._stack = contextlib.ExitStack()
        self._source: Source | None = None

    def __enter__(self) -> StandardInput:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.close()

    def source(self) -> Source:
        """Standard input as a trace file."""
        if self._source is None:
            self._source = self._stack.enter_context(standard_input())
        return self._source


def trace_formats() -> list[str]:
    """The names of the formats that traces are read in."""
    return list(FORMATS)


def executors() -> list[str]:
    """The names of the executors that there are."""
    return list(EXECUTORS)


def trace_files(suite: Suite, given: Sequence[str], stdin: StandardInput, format: str | None = None) -> list[Source]:
    """The files, to be read as `format` if one is given.

    Raises `TraceError` for paths that lead to none, `UsageError` for an unknown format or where nobody names any files.
    """
    check_format(format)
    if given:
        extra = [replace(stdin.source(), format=format)] if "-" in given else []
        return [*find_sources([path for path in given if path != "-"], Path.cwd(), suite.root, format), *extra]
    if not suite.traces:
        message = "no traces: give --traces PATH, or list them under 'traces:' in the suite"
        raise UsageError(Problem(message, suite.file))
    return find_sources(suite.traces, suite.folder, suite.root, format)


def compared_with(
    suite: Suite, given: str | None, format: str | None = None
) -> tuple[Baseline | Sequence[Source], str | None]:
    """A recorded run or golden traces, and their name: what is given, else what the suite names, else nothing."""
    own = suite.baseline.file if suite.baseline else None
    if given is None and own is None:
        return (), None
    from passmuster.api._baseline_files import find_baseline  # late, for most runs have none

    return find_baseline(suite, given, Path.cwd(), format), given or own
