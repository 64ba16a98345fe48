"""Line numbers of places in trace files, computed only for what is reported."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct

from passmuster.traces._model import Origin, Place, Trace
from passmuster.traces._records import BadRecord, is_document, read_records
from passmuster.traces._sources import ROW, Source


class Spot(Struct, frozen=True, order=True):
    """A place in a trace file: a record, and the index of a step inside it (-1 for the record itself)."""

    file: str
    offset: int
    step: int = -1
    path: str = ""
    part: int = 0
    line: int = 0
    """The record's line in its part; 0 where a record is not a line."""
    key: str = "steps"
    """The key of the record under which its steps are listed."""


PartLines = Mapping[tuple[str, int], int]
"""The number of lines of each part that was read in one go, by file and the byte it begins at."""


def spot_of_trace(trace: Trace) -> Spot:
    """Where the trace begins."""
    origin: Origin = trace.origin
    return Spot(origin.file, origin.offset, -1, origin.path, origin.part, origin.line)


def spot_of_call(trace: Trace, call: int) -> Spot:
    """Where the tool call with this index (from 0) is."""
    origin: Origin = trace.origin
    index = trace.call_steps[call]
    place = origin.step_places[index] if origin.step_places else Place(origin.offset, origin.line, index)
    return Spot(origin.file, place.offset, place.index, origin.path, origin.part, place.line, origin.steps_key)


def record_place(trace: Trace) -> int:
    """The byte at which the record of a trace begins; of Parquet its row, from 0."""
    offset = trace.origin.offset
    return offset // ROW if trace.origin.path.lower().endswith(".parquet") else offset


def lines_of(spots: Iterable[Spot], parts: PartLines | None = None) -> dict[Spot, int]:
    """The line of each spot in its file, from 1. Traces that came from no file have no lines.

    Where records are lines, a spot's line is its line in its part plus the lines of all parts before. Only documents,
    whose records span lines, are read again.
    """
    lines: dict[Spot, int] = {}
    unread: dict[Source, list[Spot]] = {}
    before = _lines_before(parts or {})
    for spot in set(spots):
        if spot.line and (spot.part == 0 or (spot.file, spot.part) in before):
            lines[spot] = before.get((spot.file, spot.part), 0) + spot.line
        elif spot.path:
            unread.setdefault(Source(spot.path, spot.file), []).append(spot)
    for source, wanted in unread.items():
        lines |= _lines_in(source, wanted)
    return lines


def _lines_before(parts: PartLines) -> dict[tuple[str, int], int]:
    before: dict[tuple[str, int], int] = {}
    passed: dict[str, int] = {}
    for file, start in sorted(parts):
        before[(file, start)] = passed.get(file, 0)
        passed[file] = before[(file, start)] + parts[(file, start)]
    return before


def _lines_in(source: Source, wanted: list[Spot]) -> dict[Spot, int]:
    if not is_document(source):
        lines = _count(source, {spot.offset for spot in wanted})
        return {spot: lines[spot.offset] for spot in wanted}
    by_record: dict[int, list[Spot]] = {}
    exact = {spot: spot.offset for spot in wanted if spot.step < 0}
    for spot in wanted:
        if spot.step >= 0:
            by_record.setdefault(spot.offset, []).append(spot)
    for record in read_records(source, _ignore, document=True) if by_record else ():
        if spots := by_record.get(record.offset):
            steps = step_offsets(bytes(record.data), {spot.step for spot in spots}, spots[0].key)
            exact |= {spot: spot.offset + steps.get(spot.step, 0) for spot in spots}
    lines = _count(source, set(exact.values()))
    return {spot: lines[offset] for spot, offset in exact.items()}


def line_of_byte(source: Source, offset: int) -> int:
    """The line of the byte at this offset."""
    return _count(source, {offset})[offset]


def _count(source: Source, offsets: set[int]) -> dict[int, int]:
    """Line numbers by byte offset, from one pass over the file; of Parquet, the numbers of rows."""
    if source.parquet:
        return {offset: offset // ROW + 1 for offset in offsets}
    lines: dict[int, int] = {}
    passed, line = 0, 1
    waiting = sorted(offsets, reverse=True)
    with source.open() as file:
        while waiting:
            chunk = file.read(1 << 20)
            place = 0
            while waiting and (waiting[-1] < passed + len(chunk) or not chunk):
                offset = waiting.pop()
                line += chunk.count(b"\n", place, offset - passed)
                place = offset - passed
                lines[offset] = line
            line += chunk.count(b"\n", place)
            passed += len(chunk)
    return lines


_TOKEN = rb'(?s)"(?:[^"\\]++|\\.)*+"(?:[ \t\r\n]*+(:))?|[\[{]|[\]}]'


def step_offsets(data: bytes, wanted: set[int], key_of_steps: str = "steps") -> dict[int, int]:
    """Where in a record the wanted steps begin, by their index."""
    found: dict[int, int] = {}
    depth, key, step = 0, b"", -1
    listed = f'"{key_of_steps}"'.encode()
    for token in re.finditer(_TOKEN, data):
        text = token[0]
        if token[1]:
            if depth == 1:
                key = text[:-1].rstrip()
        elif text in (b"[", b"{"):
            depth += 1
            if depth == 2 and text == b"[" and key == listed:
                found, step = {}, -1  # of a repeated key, the last one counts
            elif depth == 3 and text == b"{" and key == listed:
                step += 1
                if step in wanted:
                    found[step] = token.start()
        elif text in (b"]", b"}"):
            depth -= 1
    return found


def _ignore(_: BadRecord) -> None:
    """Bad records were reported when the traces were read."""
