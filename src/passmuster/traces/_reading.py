"""From sources to traces: find out the format of a file, read it, and report records that cannot be read.

A file has one format: the one its source names (`--format`), else the one that is surest of its first record that any
format recognizes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol, cast

import msgspec

from passmuster._problems import Problem, TraceError, UsageError, did_you_mean
from passmuster.traces._building import Fields, Reading
from passmuster.traces._locate import line_of_byte
from passmuster.traces._model import Trace
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
from passmuster.traces.formats import FORMATS


class Format(Protocol):
    """What a module of `formats` declares; described there."""

    DESCRIPTION: str
    SHAPE: str

    def detect(self, record: Fields) -> float: ...

    def splittable(self, first: Fields) -> bool: ...

    def read(self, records: Iterator[Record], reading: Reading) -> Iterator[Trace]: ...


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


def read_traces(path: str | Path, *, skip_bad_lines: bool = False, format: str | None = None) -> Iterator[Trace]:
    """The traces in a file, in a folder, or in the files a glob names; `format` as for `--format`."""
    here = Path.cwd()
    for source in find_sources([str(path)], here, here.resolve(), check_format(format)):
        yield from read_source(source, BadLines(source, skip_bad_lines))


def check_format(name: str | None) -> str | None:
    """The name of a format. Raises `UsageError` if there is no such format."""
    if name is None or name in FORMATS:
        return name
    known = ", ".join(FORMATS)
    raise UsageError(Problem(f"there is no trace format '{name}'; there are {known}{did_you_mean(name, FORMATS)}"))


def read_source(
    source: Source,
    on_bad: OnBad,
    span: Span | None = None,
    on_end: OnEnd = lambda lines: None,
    *,
    figures: bool = True,
) -> Iterator[Trace]:
    """The traces of one file, or of those of its records that begin within `span`.

    Without `figures`, a reader may leave out the tokens, cost and duration of model calls.
    """
    document = is_document(source)
    detected = _detect(source, document)
    records = read_records(source, on_bad, span, document, on_end)
    if detected is None:
        yield from _refuse(records, on_bad)
    else:
        form, first = detected
        yield from form.read(records, Reading(source, on_bad, first, figures))


def is_splittable(source: Source) -> bool:
    """Whether the file can be cut by bytes: one record per line, each a whole trace, not compressed."""
    if source.compressed or is_document(source):
        return False
    detected = _detect(source, document=False)
    return detected is not None and detected[0].splittable(detected[1])


def _detect(source: Source, document: bool) -> tuple[Format, Fields] | None:
    """The format of a file, and the record that it was decided by; None where no record is of a known format."""
    empty = True

    def note(_: BadRecord) -> None:
        nonlocal empty
        empty = False

    for record in read_records(source, note, document=document):
        empty = False
        with contextlib.suppress(*UNREADABLE):
            fields = msgspec.json.decode(record.data, type=Fields)
            names = [source.format] if source.format else _surest(fields)
            if len(names) > 1:
                message = f"can be read as {' or as '.join(names)}: say which with --format"
                raise TraceError(Problem(message, source.name, line_of_byte(source, record.offset)))
            if names:
                return _format(names[0]), fields
    if empty:
        raise TraceError(Problem("is empty: it holds no trace", source.name))
    return None


def _surest(record: Fields) -> list[str]:
    """The formats that are surest of a record: one, several on a tie, none where no format recognizes it.

    Most files are native, so that no other reader is imported where the native one is sure.
    """
    if _format("native").detect(record) == 1:
        return ["native"]
    sure = {name: _format(name).detect(record) for name in FORMATS}
    most = max(sure.values())
    return [name for name, one in sure.items() if one == most > 0]


def _format(name: str) -> Format:
    return cast(Format, FORMATS[name])


def _refuse(records: Iterator[Record], on_bad: OnBad) -> Iterator[Trace]:
    """No traces; each record of a file that no format recognizes is reported."""
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
    expected = " or ".join(f"{name} ({_format(name).SHAPE})" for name in FORMATS)
    return f"is not a trace: found {found}; expected {expected}"
