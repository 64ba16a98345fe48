"""The records of a file: one per line, the JSON documents that follow one another, or the elements of one document.

Each has its byte offset, in decompressed bytes. A record is bytes of valid UTF-8 that look like JSON; a format decodes
it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from io import BufferedReader, FileIO

import msgspec
from msgspec import Raw, Struct

from passmuster.traces._sources import Source

UNREADABLE = (msgspec.MsgspecError, RecursionError, UnicodeDecodeError)
"""What decoding a record may raise; `explain` makes a message of it."""
MALFORMED = (TypeError, AttributeError, KeyError, ValueError, IndexError)
"""What reading a value of a type that nobody writes there may raise, in formats without a schema."""
_BOM = b"\xef\xbb\xbf"
_OPENED = rb"(?:\xef\xbb\xbf)?\s*[\[{][ \t\r]*\n"
"""How a file begins whose first object or list goes on in the next line."""
_HEAD = 64
_PIECE = 1 << 18
"""Bytes of a line that are read before its length is known."""


_MOST_UNPACKED = 1 << 28
"""Bytes of one record of a compressed file. A few of these on disk may be any number of bytes in memory."""


def _bounded(data: bytes) -> bytes:
    if len(data) >= _MOST_UNPACKED:
        raise OSError(f"one record of it has more than {_MOST_UNPACKED >> 20} MiB when unpacked")
    return data


class Record(Struct, frozen=True, gc=False):
    """One JSON value of a file, and where it begins."""

    offset: int
    data: bytes | Raw
    part: int = 0
    """Byte offset at which the part of the file begins that is being read."""
    line: int = 0
    """The record's line in that part, from 1; 0 in a document, where a record is not a line."""


class BadRecord(Exception):
    """A record that cannot be read; `offset` is where the mistake is."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset
        self.message = message


OnBad = Callable[[BadRecord], None]
"""Called with each bad record: raises, or counts it and goes on."""

Span = tuple[int, int]
OnEnd = Callable[[int], None]
"""Called at the end of a part with its number of lines, which the lines of the next part are counted from."""


def is_document(source: Source) -> bool:
    """Whether the file is JSON over several lines (one document, or several in a row), not one record per line."""
    if source.parquet:
        return False
    with source.open() as file:
        if source.lines_expected and not re.match(_OPENED, file.peek(_HEAD)):
            return False
        lines = file if isinstance(file.raw, FileIO) else iter(partial(file.readline, _MOST_UNPACKED), b"")
        written = (_bounded(line) for line in lines if line.removeprefix(_BOM).strip())
        first = next(written, b"").removeprefix(_BOM)
        if not first.lstrip().startswith(b"{"):
            return True
        if _is_json(first):
            return False
        # A document over several lines; unless the second line is JSON and the whole is not, for then this is a file
        # of lines whose first one is damaged.
        second = next(written, b"")
        return not _is_json(second) or _is_json(b"".join((first, second, _rest(file))))


def _rest(file: BufferedReader) -> bytes:
    return file.read() if isinstance(file.raw, FileIO) else _bounded(file.read(_MOST_UNPACKED))


def _is_json(text: bytes) -> bool:
    try:
        msgspec.json.decode(text, type=Raw)
    except (msgspec.MsgspecError, RecursionError):
        return False
    return True


def read_records(
    source: Source,
    on_bad: OnBad,
    span: Span | None = None,
    document: bool = False,
    on_end: OnEnd = lambda lines: None,
) -> Iterator[Record]:
    """The records of a file, or those lines or row groups that begin within `span` (bytes from, bytes to)."""
    if source.parquet:
        return _rows(source, span, on_end)
    return _document(source, on_bad) if document else _lines(source, on_bad, span, on_end)


def _rows(source: Source, span: Span | None, on_end: OnEnd) -> Iterator[Record]:
    from passmuster.traces._parquet import read_rows  # late, as it needs an extra

    for offset, data, number in read_rows(source, span, on_end):
        yield Record(offset, data, span[0] if span else 0, number)


def _lines(source: Source, on_bad: OnBad, span: Span | None, on_end: OnEnd) -> Iterator[Record]:
    part, end = span or (0, -1)
    offset = part
    number = 0
    with source.open(span[1] if span else None) as file:
        if offset:
            file.seek(offset - 1)
            offset += len(file.readline()) - 1  # a line belongs to the span it begins in
        for line in iter(partial(file.readline, _PIECE), b""):
            if offset >= end >= 0:
                break
            start = offset
            if len(line) == _PIECE:
                line = _whole_line(file, start, line)
            offset += len(line)
            number += 1
            if start == 0 and line.startswith(_BOM):
                line = line[len(_BOM) :]
                start = len(_BOM)
            if not line or line.isspace():
                continue
            if not line.isascii() and (problem := _not_utf8(start, line)):
                on_bad(problem)
                continue
            yield Record(start, line, part, number)
        on_end(number)


def _whole_line(file: BufferedReader, start: int, piece: bytes) -> bytes:
    """The line that begins with this piece: measured, then read at once. Joining pieces takes three times as long."""
    if piece.endswith(b"\n"):
        return piece
    if not isinstance(file.raw, FileIO):  # compressed, and seeking back would decompress it from the start
        return piece + _bounded(file.readline(_MOST_UNPACKED))
    length = len(piece)
    room = bytearray(_PIECE)
    while count := file.readinto(room):
        end = room.find(b"\n", 0, count)
        if end >= 0:
            length += end + 1
            break
        length += count
    file.seek(start)
    return file.read(length)


def _document(source: Source, on_bad: OnBad) -> Iterator[Record]:
    with source.open() as file:
        data = _rest(file)
    start = len(_BOM) if data.startswith(_BOM) else 0
    if problem := _not_utf8(start, data[start:]):
        on_bad(problem)
        return
    start = _skip(data, start)
    if start == len(data):
        return
    if data[start : start + 1] != b"[":
        yield from _documents(data, start)
        return
    try:
        elements: list[Raw] = msgspec.json.decode(data[start:], type=list[Raw])
    except UNREADABLE as error:
        on_bad(explain(start, error, data))
        return
    place = start + 1
    for element in elements:
        place = _skip(data, place)
        yield Record(place, element)
        place = _skip(data, place + len(bytes(element))) + 1  # past the comma


def _documents(data: bytes, start: int) -> Iterator[Record]:
    """Each of the objects that follow one another, as OpenTelemetry's console exporter prints them."""
    if data.find(b"\n{", start) >= 0:
        # No JSON has a line break between two braces: strings have none, and elements of a list have a comma.
        for between in re.finditer(rb"\}[ \t\r]*\n\s*(?=\{)", data):
            if between.start() > start:
                yield Record(start, data[start : between.start() + 1])
                start = between.end()
    yield Record(start, data[start:] if start else data)


def _not_utf8(start: int, data: bytes) -> BadRecord | None:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        byte = data[error.start]
        return BadRecord(start + error.start, f"is not UTF-8: invalid byte 0x{byte:02x}")
    return None


def _skip(data: bytes, place: int) -> int:
    """The first place from here that is not white space."""
    found = re.compile(rb"[ \t\r\n]*").match(data, place)  # compiled on first use, for most files have no document
    return found.end() if found else place


_HALF_PAIR = rb"(?s)(?<!\\)\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F]"
_LONG = 300
_PLACE = r" \(byte (\d+)\)$"


def explain(offset: int, error: Exception, data: bytes | Raw) -> BadRecord:
    """A decoder's error as a message for the person who has to fix the file."""
    if isinstance(error, RecursionError):
        return BadRecord(offset, "is nested too deeply to be read")
    if isinstance(error, UnicodeDecodeError):
        return BadRecord(offset, "is not UTF-8")
    text = str(error)
    if "surrogate" in text or (re.search(_HALF_PAIR, bytes(data)) and ("hex escape" in text or "truncated" in text)):
        return BadRecord(offset, "has half of a surrogate pair (such as \\ud83d alone), which is not text")
    found = re.search(_PLACE, text)
    reason = text[: found.start()].removeprefix("JSON is malformed: ") if found else text
    # In a line that is cut off within a string, the decoder stumbles over the line break.
    broken_off = found and reason == "invalid character" and int(found[1]) >= len(bytes(data).rstrip(b"\r\n"))
    if "truncated" in text or broken_off:
        return BadRecord(offset, "is cut off: its JSON ends too early")
    if found:
        place = offset + int(found[1])
        return BadRecord(place, f"is not JSON: {reason}")
    return BadRecord(offset, text if len(text) <= _LONG else f"{text[:_LONG]}…")
