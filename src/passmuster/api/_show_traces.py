"""What is in trace files, and single traces, with secrets hidden."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from passmuster._problems import Problem, UsageError, did_you_mean
from passmuster.redaction import Redactor, Words, telling
from passmuster.traces import (
    BadLines,
    Overview,
    Source,
    Trace,
    check_format,
    find_sources,
    lines_of,
    plain_record,
    read_source,
    spot_of_trace,
    standard_input,
)


class SourceOptions(Struct, frozen=True, kw_only=True):
    """How to read trace files."""

    format: str | None = None
    accept_loss: bool = False
    skip_bad_lines: bool = False


class ShownTrace(Struct, frozen=True):
    """One trace in the native form, and where it is."""

    record: dict[str, Any]
    file: str
    line: int | None


class Shown(Struct, frozen=True):
    """What trace files hold."""

    overview: Overview
    files: tuple[str, ...]
    bad_lines: int
    losses: tuple[str, ...]


@contextlib.contextmanager
def trace_sources(paths: Sequence[str], format: str | None) -> Iterator[list[Source]]:
    """The files that paths, folders and globs name; `-` is standard input."""
    check_format(format)
    with contextlib.ExitStack() as stack:
        found = find_sources([path for path in paths if path != "-"], Path.cwd(), Path.cwd().resolve(), format)
        if "-" in paths:
            found.append(replace(stack.enter_context(standard_input()), format=format))
        yield found


def show_traces(paths: Sequence[str], options: SourceOptions) -> Shown:
    """What is in the files: runs, tools, models, errors, tokens."""
    overview = Overview()
    redactor = Redactor()
    bad_lines, losses = 0, []
    with trace_sources(paths, options.format) as sources:
        for source in sources:
            bad = BadLines(source, options.skip_bad_lines, options.accept_loss)
            for trace in read_source(source, bad):
                overview.add(trace)
            bad_lines += bad.count
            losses += [f"{source.name}: {redactor.text(loss.found)}" for loss in bad.losses]
        names = tuple(source.name for source in sources)
    overview.runs = [
        replace(
            run,
            trace_id=None if run.trace_id is None else redactor.text(run.trace_id),
            query=None if run.query is None else redactor.text(run.query),
            error=None if run.error is None else redactor.text(run.error),
        )
        for run in overview.runs
    ]
    overview.tools = _hidden_names(overview.tools, redactor)
    overview.models = _hidden_names(overview.models, redactor)
    overview.agents = _hidden_names(overview.agents, redactor)
    return Shown(overview, names, bad_lines, tuple(losses))


def _hidden_names(counts: dict[str, Any], redactor: Redactor) -> dict[str, Any]:
    return {redactor.hide(name): count for name, count in counts.items()}


class TraceWanted:
    """Chooses traces by an id, or one by its number (`#3`); all, where none is wanted in particular."""

    def __init__(self, trace_id: str | None) -> None:
        self._id = trace_id
        numbered = trace_id is not None and trace_id[:1] == "#" and trace_id[1:].isdecimal() and len(trace_id) < 12
        self._number = int(trace_id[1:]) if trace_id is not None and numbered else None
        self._known: list[str] = []
        self.seen = 0
        self.taken = 0

    def takes(self, trace: Trace) -> bool:
        """Whether the next trace is wanted."""
        self.seen += 1
        wanted = self._id is None or self._number == self.seen or (self._number is None and trace.trace_id == self._id)
        self.taken += wanted
        if not wanted and trace.trace_id is not None and len(self._known) < 10_000:
            self._known.append(trace.trace_id)
        return wanted

    def refuse_if_none(self) -> None:
        """Raises `UsageError` if no trace was wanted."""
        if self.taken:
            return
        if self._id is None:
            raise UsageError(Problem("no trace found"))
        hint = did_you_mean(self._id, self._known) if self._known else "; traces without an id are named #1, #2, …"
        raise UsageError(Problem(f"there is no trace '{self._id}' among {self.seen}{hint}"))


def show_trace(paths: Sequence[str], trace_id: str, options: SourceOptions) -> list[ShownTrace]:
    """The traces of this id, or the one with this number (`#3`). Raises `UsageError` if there is none."""
    wanted = TraceWanted(trace_id)
    with trace_sources(paths, options.format) as sources:
        found = [
            trace
            for source in sources
            for trace in read_source(source, BadLines(source, options.skip_bad_lines, options.accept_loss))
            if wanted.takes(trace)
        ]
        wanted.refuse_if_none()
        lines = lines_of([spot_of_trace(trace) for trace in found])
    return [_shown(trace, lines.get(spot_of_trace(trace))) for trace in found]


def _shown(trace: Trace, line: int | None) -> ShownTrace:
    redactor = Redactor()
    return ShownTrace(hidden(plain_record(trace), redactor), trace.origin.file, line)


def hidden(record: dict[str, Any], redactor: Redactor) -> dict[str, Any]:
    """A plain record of the native form with secrets hidden, and nothing cut."""
    words: list[str] = []
    for step in record.get("steps") or ():
        if step.get("type") == "tool_call":
            words += redactor.words(step["tool"], step.get("arguments"))
            words += redactor.words(None, step.get("result"))
    known, own = Words(telling(words)), Words(words)

    def hide(value: Any, name: str, inside: bool) -> Any:
        if isinstance(value, str):
            return value if name in ("type", "role") else redactor.hide(value, known, own if inside else ())
        inside = inside or name in ("arguments", "result")
        if isinstance(value, list):
            return [hide(one, name, inside) for one in value]
        if isinstance(value, dict):
            return {redactor.hide(key): hide(one, key, inside) for key, one in value.items()}
        return value

    shown: dict[str, Any] = hide(record, "", False)
    return shown
