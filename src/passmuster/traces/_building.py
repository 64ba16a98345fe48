"""The toolbox of the readers in `formats`: decoding with located errors, arguments, results, places.

A reader imports what it needs from here, from `_model` and from `_records`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Raw, Struct

from passmuster.traces._locate import Spot, step_offsets
from passmuster.traces._model import Amount, AnyStep, Count, Fault, Origin, Place, Step, Trace, decoded
from passmuster.traces._pairing import pair_results
from passmuster.traces._records import UNREADABLE, BadRecord, OnBad, Record, explain
from passmuster.traces._sources import Source

Fields = dict[str, Raw]
"""The keys of a record, with their values as JSON text."""

_decode = msgspec.json.Decoder().decode
_ADVICE = "--accept-loss goes on without it"

Hint = Callable[[str, bytes], str]
"""What to add to the message of a decoding error; may look at the record's bytes."""


class Loss(Struct, frozen=True, order=True):
    """Something in a trace file that no reader understands, and that a run went on without."""

    spot: Spot
    found: str
    """What it is, in a few words."""
    may_hold_call: bool


OnLoss = Callable[[Loss], None]


def _ignore(loss: Loss) -> None:
    """For readings whose losses nobody reports."""


def _never(record: Record) -> bool:
    return False


class Reading(Struct, frozen=True):
    """One file, or a part of one, that is being read."""

    source: Source
    on_bad: OnBad
    """To be called with each record that cannot be read."""
    first: Fields
    """The record by which the format of the file was decided. Also known while reading a later part of the file."""
    accept_loss: bool = False
    """Whether to go on without what could hold a tool call and is not understood (`--accept-loss`)."""
    on_loss: OnLoss = _ignore
    is_elsewhere: Callable[[Record], bool] = _never
    """Whether a record is of another format, whose reader then gets it. For readers that take records as they come."""

    def lose(self, offset: int, found: str, *, may_hold_call: bool = True) -> None:
        """Account for what is not read: `found`, at a byte of the file.

        What could hold a tool call refuses its record (`BadRecord`), unless losses are accepted. Otherwise the loss is
        reported, and the reader goes on without it. Nothing may be dropped in another way.
        """
        if may_hold_call and not self.accept_loss:
            raise BadRecord(offset, f"{found} ({_ADVICE})")
        source = self.source
        self.on_loss(Loss(Spot(source.name, offset, path=source.path), found, may_hold_call))

    def warn(self, offset: int, found: str) -> None:
        """Report what is not in the file and had to be worked out: a warning, whether losses are accepted or not."""
        source = self.source
        self.on_loss(Loss(Spot(source.name, offset, path=source.path), found, True))

    def origin(self, record: Record, places: tuple[Place, ...] | None = None, steps_key: str = "steps") -> Origin:
        """Where a trace is that begins with this record."""
        source = self.source
        return Origin(source.name, source.path, record.offset, record.part, record.line, places, steps_key)


def trace_per_record(
    records: Iterator[Record],
    reading: Reading,
    build: Callable[[Record], Trace | None],
    hint: Hint = lambda message, data: "",
) -> Iterator[Trace]:
    """The trace that `build` makes of each record, if any; records that cannot be read (`BadRecord`) are reported."""
    for record in records:
        try:
            if (trace := build(record)) is not None:
                yield trace
                del trace  # so that it is freed before the next one is decoded
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


def fault_of(error: Any) -> Fault | None:
    """Why the agent did not finish, where a record says so: anything but null, false, 0 and what is empty."""
    if not error:
        return None
    if not isinstance(error, Mapping):
        return Fault(error if isinstance(error, str) else f"error: {str(error)[:300]}")
    message = error.get("message")
    said = message if isinstance(message, str) and message else str(dict(error))[:300]
    return Fault(said, "infra" if error.get("kind") == "infra" else "agent")


class _Stated(Struct, frozen=True, omit_defaults=True):
    """What a record of any format may say of its run as a whole, with the names of the native form."""

    total_tokens: Count | None = None
    total_llm_calls: Count | None = None
    total_duration_ms: Amount | None = None
    total_cost_usd: Amount | None = None
    behaviors: list[str] | dict[str, bool] | None = None


def stated(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a `Trace` that a decoded record states: totals and behaviors. Raises `ValidationError`."""
    found = msgspec.convert({name: fields[name] for name in _Stated.__struct_fields__ if name in fields}, _Stated)
    return {name: value for name in _Stated.__struct_fields__ if (value := getattr(found, name)) is not None}


def is_null(value: Raw | None) -> bool:
    """Whether a field is absent, empty or null."""
    return value is None or bytes(value) in (b"", b"null")


def parse_arguments(arguments: Any) -> Any:
    """Arguments as an object where they are JSON text of an object; anything else as the agent sent it."""
    if isinstance(arguments, str):
        try:
            inner = _decode(arguments)
        except msgspec.ValidationError:  # a number no double can hold
            try:
                inner = decoded(msgspec.json.decode(arguments, type=Raw))
            except (msgspec.MsgspecError, RecursionError):
                return arguments
        except (msgspec.MsgspecError, RecursionError):
            return arguments
        return inner if isinstance(inner, dict) else arguments
    return arguments


def join_results(steps: Sequence[AnyStep], places: Sequence[Place]) -> tuple[tuple[Step, ...], tuple[Place, ...]]:
    """The steps with each result joined to its call, and the places of the steps that remain."""
    paired = pair_results(steps)
    if len(paired) == len(steps):
        return tuple([step for _, step in paired]), tuple(places)
    return tuple([step for _, step in paired]), tuple([places[index] for index, _ in paired])
