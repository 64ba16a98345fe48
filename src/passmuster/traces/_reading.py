"""From sources to traces: detect the format, read, and say which line is bad.

A format is a module with `NAME`, `SPLITTABLE` (each record is a whole trace, so a file can be cut by
bytes), `sniff(record)` and `read(records, source, on_bad)`. To add one, write the module and name it in
`FORMATS`; the first that recognises a file's first readable record reads the whole file.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec import Raw

from passmuster._problems import Problem, TraceError
from passmuster.traces import _events as events
from passmuster.traces import _native as native
from passmuster.traces._locate import line_of_byte
from passmuster.traces._model import Trace
from passmuster.traces._openai_messages import CONVERSATIONS, MESSAGES
from passmuster.traces._records import (
    UNREADABLE,
    BadRecord,
    OnBad,
    OnEnd,
    Record,
    Span,
    explain,
    is_document,
    read_records,
)
from passmuster.traces._sources import Source, find_sources

__all__ = ["FORMATS", "BadLines", "Format", "is_splittable", "read_source", "read_traces"]


class Format(Protocol):
    """What a reader module offers."""

    NAME: str
    SPLITTABLE: bool

    def sniff(self, record: dict[str, Raw]) -> bool: ...

    def read(self, records: Iterator[Record], source: Source, on_bad: OnBad) -> Iterator[Trace]: ...


FORMATS: tuple[Format, ...] = (CONVERSATIONS, native, events, MESSAGES)


class BadLines:
    """Counts the records of a source that could not be read, or refuses the first of them."""

    def __init__(self, source: Source, skip: bool) -> None:
        self.source = source
        self.skip = skip
        self.count = 0

    def __call__(self, bad: BadRecord) -> None:
        self.count += 1
        if not self.skip:
            raise TraceError(Problem(bad.message, self.source.name, line_of_byte(self.source, bad.offset)))


def read_traces(path: str | Path, *, skip_bad_lines: bool = False) -> Iterator[Trace]:
    """The traces in a file, in a folder, or in the files a glob names."""
    here = Path.cwd()
    for source in find_sources([str(path)], here, here.resolve()):
        yield from read_source(source, BadLines(source, skip_bad_lines))


def read_source(
    source: Source,
    on_bad: OnBad,
    span: Span | None = None,
    on_end: OnEnd = lambda lines: None,
    *,
    figures: bool = True,
) -> Iterator[Trace]:
    """The traces of one file, or of those of its records that begin within `span`.

    Without `figures`, what the calls of models used up may be left unread: a sixth of a long trace's time.
    """
    document = is_document(source)
    form = detect(source, document)
    records = read_records(source, on_bad, span, document, on_end)
    if form is None:
        yield from _refuse(records, on_bad)
    elif form is native:
        yield from native.read(records, source, on_bad, figures=figures)
    else:
        yield from form.read(records, source, on_bad)


def is_splittable(source: Source) -> bool:
    """Whether the file can be cut by bytes: one record a line, each a whole trace, not compressed."""
    if source.compressed or is_document(source):
        return False
    form = detect(source, document=False)
    return form is not None and form.SPLITTABLE


def detect(source: Source, document: bool) -> Format | None:
    """The format of a file, by its first recognisable record; None where it has no such record."""
    empty = True

    def note(_: BadRecord) -> None:
        nonlocal empty
        empty = False

    for record in read_records(source, note, document=document):
        empty = False
        with contextlib.suppress(*UNREADABLE):
            value = msgspec.json.decode(record.data, type=dict[str, Raw])
            for form in FORMATS:
                if form.sniff(value):
                    return form
    if empty:
        raise TraceError(Problem("is empty: it holds no trace", source.name))
    return None


def _refuse(records: Iterator[Record], on_bad: OnBad) -> Iterator[Trace]:
    """No traces; every record of a file that no format recognises is told as bad."""
    for record in records:
        try:
            on_bad(BadRecord(record.offset, _unknown(msgspec.json.decode(record.data))))
        except UNREADABLE as error:
            on_bad(explain(record.offset, error, record.data))
    yield from ()


def _unknown(value: object) -> str:
    if isinstance(value, dict):
        keys = ", ".join(key[:40] for key in sorted(value)[:6])
        found = f"an object with the keys {keys}" if keys else "an empty object"
    else:
        found = {list: "a list", str: "a string", bool: "a boolean", type(None): "null"}.get(type(value), "a number")
    return (
        f"is not a trace: found {found}; expected the native form "
        '({"steps": […]} or {"answer": …}), events ({"type": "tool_call", …}) or chat messages ({"messages": […]})'
    )
