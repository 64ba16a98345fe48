"""The toolbox of the readers in `formats`: decoding with located errors, arguments, results, places.

A reader imports what it needs from here, from `_model` and from `_records`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Raw, Struct

from passmuster.traces._locate import step_offsets
from passmuster.traces._model import AnyStep, Origin, Place, Step, Trace, decoded
from passmuster.traces._pairing import pair_results
from passmuster.traces._records import UNREADABLE, BadRecord, OnBad, Record, explain
from passmuster.traces._sources import Source

Fields = dict[str, Raw]
"""The keys of a record, with their values as JSON text."""

Hint = Callable[[str, bytes], str]
"""What to add to the message of a decoding error; may look at the record's bytes."""


class Reading(Struct, frozen=True):
    """One file, or a part of one, that is being read."""

    source: Source
    on_bad: OnBad
    """To be called with each record that cannot be read."""
    first: Fields
    """The record by which the format of the file was decided. Also known while reading a later part of the file."""
    figures: bool = True
    """Whether anybody asks for the tokens, cost and duration of model calls."""

    def origin(self, record: Record, places: tuple[Place, ...] | None = None, steps_key: str = "steps") -> Origin:
        """Where a trace is that begins with this record."""
        source = self.source
        return Origin(source.name, source.path, record.offset, record.part, record.line, places, steps_key)


def trace_per_record(
    records: Iterator[Record], reading: Reading, build: Callable[[Record], Trace], hint: Hint = lambda message, data: ""
) -> Iterator[Trace]:
    """The trace that `build` makes of each record; what cannot be decoded, or raises `BadRecord`, is reported."""
    for record in records:
        try:
            yield build(record)  # without a name here, so that it is freed before the next one is decoded
        except BadRecord as bad:
            reading.on_bad(bad)
        except UNREADABLE as error:
            reading.on_bad(located_error(record, error, hint))


_ELEMENT = r"`\$\.(\w+)\[(\d+)\](`)?"


def located_error(record: Record, error: Exception, hint: Hint = lambda message, data: "") -> BadRecord:
    """Why a record could not be decoded, at the element of its list (`$.steps[3]`) where it is one of those."""
    data = bytes(record.data)
    problem = explain(record.offset, error, data)
    message = problem.message + hint(problem.message, data)
    place = problem.offset
    found = re.search(_ELEMENT, message)
    if found and not (found[3] and message.startswith("Expected `object`")):  # else the element is no object
        index = int(found[2])
        place += step_offsets(data, {index}, found[1]).get(index, 0)
    return BadRecord(place, message)


def is_null(value: Raw | None) -> bool:
    """Whether a field is absent, empty or null."""
    return value is None or bytes(value) in (b"", b"null")


def parse_arguments(arguments: Any) -> Any:
    """Arguments as an object where they are absent or JSON text of an object; anything else as the agent sent it."""
    if arguments is None:
        return {}
    if isinstance(arguments, str):
        try:
            inner = decoded(msgspec.json.decode(arguments, type=Raw))
        except (msgspec.MsgspecError, RecursionError):
            return arguments
        return inner if isinstance(inner, dict) else arguments
    return arguments


def join_results(steps: Sequence[AnyStep], places: Sequence[Place]) -> tuple[tuple[Step, ...], tuple[Place, ...]]:
    """The steps with each result joined to its call, and the places of the steps that remain."""
    paired = pair_results(steps)
    return tuple(step for _, step in paired), tuple(places[index] for index, _ in paired)
