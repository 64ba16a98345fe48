"""From sources to traces: find out the format of each record, read it, and report records that cannot be read.

A file has the format that its source names (`--format`), else the one that is surest of its first record that any
format recognizes. Without `--format`, a record that another format is surer of is read by that format's reader.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol, cast

import msgspec
from msgspec.structs import replace

from passmuster._problems import Problem, TraceError, UsageError, did_you_mean
from passmuster.traces._building import Fields, Loss, Reading
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
from passmuster.traces._sources import Source, find_sources, unchanged
from passmuster.traces._tool_names import check_calls
from passmuster.traces.formats import FORMATS

_SURE = 0.9
"""How sure the format of a file has to be of a record for no other to be asked."""
_RATHER = 0.5
"""How sure a format has to be of a record to take it from the reader of its file."""
_HEAD = 4096
_TEXT = bytes(byte for byte in range(256) if byte >= 32 or byte in b"\t\n\r")
"""Bytes that a text may have. JSON cannot have others, not even within strings."""


class Format(Protocol):
    """What a module of `formats` declares; described there."""

    DESCRIPTION: str
    SHAPE: str
    LACKS: tuple[str, ...]

    def detect(self, record: Fields) -> float: ...

    def splittable(self, first: Fields) -> bool: ...

    def read(self, records: Iterator[Record], reading: Reading) -> Iterator[Trace]: ...


class BinaryFormat(Protocol):
    """What a module of `formats` declares in addition, if its files may not be text."""

    def detect_bytes(self, head: bytes) -> float: ...

    def read_file(self, source: Source, reading: Reading) -> Iterator[Trace]: ...


class BadLines:
    """Counts the records of a source that could not be read, or refuses the first of them; collects what was lost."""

    def __init__(self, source: Source, skip: bool, accept_loss: bool = False) -> None:
        self.source = source
        self.skip = skip
        self.accept_loss = accept_loss
        self.count = 0
        self.losses: list[Loss] = []

    def __call__(self, bad: BadRecord) -> None:
        self.count += 1
        if not self.skip:
            raise TraceError(Problem(bad.message, self.source.name, line_of_byte(self.source, bad.offset)))


def read_traces(
    path: str | Path, *, skip_bad_lines: bool = False, accept_loss: bool = False, format: str | None = None
) -> Iterator[Trace]:
    """The traces in a file, in a folder, or in the files a glob names; options as for `passmuster run`."""
    here = Path.cwd()
    for source in find_sources([str(path)], here, here.resolve(), check_format(format)):
        with unchanged([source]):
            yield from read_source(source, BadLines(source, skip_bad_lines, accept_loss))


def check_format(name: str | None) -> str | None:
    """The name of a format. Raises `UsageError` if there is no such format."""
    if name is None or name in FORMATS:
        return name
    known = ", ".join(FORMATS)
    raise UsageError(Problem(f"there is no trace format '{name}'; there are {known}{did_you_mean(name, FORMATS)}"))


def read_source(
    source: Source,
    bad: BadLines,
    span: Span | None = None,
    on_end: OnEnd = lambda lines: None,
) -> Iterator[Trace]:
    """The traces of one file, or of those of its records that begin within `span`; what is not read goes to `bad`."""
    if binary := _binary_format(source):
        yield from binary.read_file(source, _reading(source, bad, {}))
        return
    document = is_document(source)
    detected = _detect(source, document)
    records = read_records(source, bad, span, document, on_end)
    if detected is None:
        yield from _refuse(records, bad)
        return
    form, first = detected
    reading = _reading(source, bad, first)
    if source.format is None:
        router = _Router(form, first, bad)
        reading = replace(reading, is_elsewhere=router.is_elsewhere)
        if not getattr(form, "ASKS_ITSELF", False):
            records = (record for record in records if not router.is_elsewhere(record))
    yield from _checked(form, form.read(records, reading), bad)
    if source.format is None:
        for other, fields, aside in router.aside.values():
            yield from _checked(other, other.read(iter(aside), _reading(source, bad, fields)), bad)


def detected_format(source: Source) -> str | None:
    """The name of the format of a file of text; None where no record is of a known one."""
    detected = _detect(source, is_document(source))
    return str(vars(detected[0])["__name__"]).rpartition(".")[2] if detected else None


def _reading(source: Source, bad: BadLines, first: Fields) -> Reading:
    return Reading(source, bad, first, accept_loss=bad.accept_loss, on_loss=bad.losses.append)


def _checked(form: Format, traces: Iterator[Trace], bad: BadLines) -> Iterator[Trace]:
    """The traces of a format whose calls are plain: not wrapped in others, with names that patterns can fit."""
    return traces if form is FORMATS["native"] else _with_plain_calls(traces, bad)  # the native one checks them itself


def _with_plain_calls(traces: Iterator[Trace], bad: BadLines) -> Iterator[Trace]:
    for trace in traces:
        try:
            yield check_calls(trace)
        except BadRecord as problem:
            bad(problem)


class _Router:
    """Puts records aside that another format than the file's is surer of, for the reader of that format."""

    def __init__(self, form: Format, first: Fields, bad: BadLines) -> None:
        self._form, self._bad = form, bad
        self._gathers = not form.splittable(first)
        self.aside: dict[str, tuple[Format, Fields, list[Record]]] = {}

    def is_elsewhere(self, record: Record) -> bool:
        """Whether the record was put aside, or refused."""
        try:
            fields = msgspec.json.decode(record.data, type=Fields)
        except UNREADABLE:
            return False  # the reader of the file says what is wrong with it
        own = self._form.detect(fields)
        if own >= _SURE or (self._gathers and own >= _RATHER):  # asking all formats takes longer than reading
            return False
        names = _surest(fields)
        if not names or _format(names[0]).detect(fields) <= max(own, _RATHER - 0.01):
            return False
        other = _format(names[0])
        if len(names) > 1:
            self._bad(BadRecord(record.offset, _ambiguous(names)))
        elif not self._gathers and not other.splittable(fields):
            message = f"is of the format {names[0]}, whose records add up to traces: they need a file of their own"
            self._bad(BadRecord(record.offset, message))
        else:
            self.aside.setdefault(names[0], (other, fields, []))[2].append(record)
        return True


def is_splittable(source: Source) -> bool:
    """Whether the file can be cut by bytes: one record per line, each a whole trace, not compressed."""
    try:
        if source.compressed or _binary_format(source) or is_document(source):
            return False
        detected = _detect(source, document=False)
    except TraceError:  # whoever reads the file says what is wrong with it
        return False
    return detected is not None and detected[0].splittable(detected[1])


def _binary_format(source: Source) -> BinaryFormat | None:
    """The format that reads the file as bytes: the surest one of a file that cannot be text."""
    if source.parquet:
        return None
    with source.open() as file:
        head = file.read(_HEAD)
    if not head.translate(None, _TEXT):
        return None
    named = [source.format] if source.format else FORMATS
    sure = {name: cast(BinaryFormat, FORMATS[name]).detect_bytes(head) for name in named if _is_binary(name)}
    best = max(sure, key=lambda name: sure[name], default=None)
    return cast(BinaryFormat, FORMATS[best]) if best and sure[best] > 0 else None


def _is_binary(name: str) -> bool:
    return hasattr(FORMATS[name], "detect_bytes")


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
                raise TraceError(Problem(_ambiguous(names), source.name, line_of_byte(source, record.offset)))
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


def _ambiguous(names: list[str]) -> str:
    return f"can be read as {' or as '.join(names)}: say which with --format"


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
        from passmuster.traces._known_products import describe_product  # late, for it is about files that are refused

        if product := describe_product(value):
            return f"is not a trace: {product}"
        keys = ", ".join(key[:40] for key in sorted(value)[:6])
        found = f"an object with the keys {keys}" if keys else "an empty object"
    else:
        found = {list: "a list", str: "a string", bool: "a boolean", type(None): "null"}.get(type(value), "a number")
    return f"is not a trace: found {found}; none of the {len(FORMATS)} formats that `passmuster formats` lists"
