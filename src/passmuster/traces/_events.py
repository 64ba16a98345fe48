"""Event lines: one step a record, `{"type": "tool_call", …}`.

A file is one trace, unless its records carry a `trace_id`; a record without one belongs to the trace
named last before it. `{"type": "trace", …}` states any field of the native form; several such records of one
trace add up, unless they contradict each other. Where the query and the answer are not stated, the first user
message and the last assistant message are they.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from passmuster.traces._model import AnyStep, Key, Message, Origin, Place, ToolCall, Trace, decoded
from passmuster.traces._native import Fields, LooseStep, RawCall, decode_error, firm, reject_misnamed, to_trace
from passmuster.traces._overlooked import (
    may_tell,
    message_may_tell,
    told,
    told_by_message,
    told_by_steps,
    told_by_trace,
)
from passmuster.traces._pairing import pair_results
from passmuster.traces._records import UNREADABLE, BadRecord, OnBad, Record
from passmuster.traces._sources import Source

__all__ = ["NAME", "SPLITTABLE", "read", "sniff"]

NAME = "events"
SPLITTABLE = False


class _Stamp(Struct, frozen=True):
    trace_id: Key | None = None


class _Header(Fields, tag_field="type", tag="trace"):
    """The fields of a trace, as a record of their own."""


@cache
def _decoders() -> tuple[msgspec.json.Decoder[_Stamp], msgspec.json.Decoder[_Header | LooseStep]]:
    return msgspec.json.Decoder(_Stamp), msgspec.json.Decoder(_Header | LooseStep)


class _Gathering:
    """A trace in the making."""

    def __init__(self, record: Record, trace_id: str | None) -> None:
        self.fields = Fields(trace_id=trace_id)
        self.record = record
        self.steps: list[AnyStep] = []
        self.places: list[Place] = []
        self.called = False
        self.unheard: BadRecord | None = None
        """What is said if the calls that a record told of are nowhere else."""

    def add(self, place: Place, event: _Header | LooseStep) -> None:
        if not isinstance(event, _Header):
            self.called = self.called or isinstance(event, RawCall)
            self.steps.append(firm(event.call() if isinstance(event, RawCall) else event))
            self.places.append(place)
            return
        self._refuse_another(place.offset, event)
        for index, step in enumerate(event.steps or []):
            self.add(Place(place.offset, place.line, index), step)
        for name in Fields.__struct_fields__:
            value = getattr(event, name)
            if value is not None:
                setattr(self.fields, name, value)

    def _refuse_another(self, offset: int, header: _Header) -> None:
        """Two traces must not be taken for one because nobody told them apart."""
        for name in ("scenario", "query", "run", "steps"):
            known, value = getattr(self.fields, name), getattr(header, name)
            if known is not None and value is not None and (known != value or name == "steps"):
                raise BadRecord(
                    offset,
                    f"states '{name}' of a trace that has it already: a file of events is one trace, unless "
                    "each record says by its 'trace_id' which one it belongs to",
                )

    def finish(self, source: Source) -> Trace:
        if not self.steps and self.fields.steps is None and self.fields.answer is None and self.fields.error is None:
            raise BadRecord(
                self.record.offset, "begins a trace without an event, an 'answer' or an 'error': nothing happened in it"
            )
        paired = pair_results(self.steps)
        steps = [step for _, step in paired]
        if self.unheard and not any(isinstance(step, ToolCall) for step in steps):
            raise self.unheard
        trace = to_trace(self.fields, steps)
        messages = [step for step in steps if isinstance(step, Message)]
        query, answer = trace.query, trace.answer
        if query is None:
            query = next((said.text for said in messages if said.role == "user"), None)
        if answer is None:
            answer = next((said.text for said in reversed(messages) if said.role == "assistant"), None)
        origin = Origin(
            source.name,
            source.path,
            self.record.offset,
            self.record.part,
            self.record.line,
            tuple(self.places[index] for index, _ in paired),
        )
        return replace(trace, query=query, answer=answer, origin=origin)


def sniff(record: dict[str, Raw]) -> bool:
    """Whether this looks like one event of a trace."""
    return "type" in record


def _reject_misnamed(offset: int, event: _Header | LooseStep, data: bytes | Raw) -> None:
    for step in (event.steps or ()) if isinstance(event, _Header) else (event,):
        if isinstance(step, RawCall) and bytes(step.arguments) in (b"", b"null"):
            reject_misnamed(offset, data, single=step is event)
            return


def _reject_told_by_messages(offset: int, event: _Header | LooseStep, data: bytes | Raw) -> None:
    """Refuse a message that has calls itself, whatever else the trace has."""
    if not isinstance(event, Message | _Header) or not message_may_tell(data):
        return
    if isinstance(event, Message) and (name := told_by_message(decoded(Raw(data)))):
        raise BadRecord(
            offset,
            f"a message cannot hold '{name}': give each call as an event of type tool_call, or drop 'type' "
            "from every record to have the file read as chat messages",
        )
    if isinstance(event, _Header) and (problem := told_by_steps(decoded(Raw(data)))):
        raise BadRecord(offset, problem)


def _unheard(offset: int, event: _Header | LooseStep, data: bytes | Raw) -> BadRecord | None:
    """What is said of a record that tells of calls, should its trace have none."""
    if not may_tell(data):
        return None
    if isinstance(event, _Header):
        problem = told_by_trace(decoded(Raw(data)))
        return BadRecord(offset, problem) if problem else None
    name = told(decoded(Raw(data)))
    if name is None:
        return None
    return BadRecord(
        offset,
        f"an event of a trace without tool calls cannot hold '{name}': give each call as an event of type tool_call",
    )


def read(records: Iterator[Record], source: Source, on_bad: OnBad) -> Iterator[Trace]:
    """The traces that the events of a file add up to, in the order they begin."""
    stamps, events = _decoders()
    traces: dict[str | None, _Gathering] = {}
    current: str | None = None
    for record in records:
        offset, data = record.offset, record.data
        try:
            stamp = stamps.decode(data)
            event = events.decode(data)
            _reject_misnamed(offset, event, data)
            _reject_told_by_messages(offset, event, data)
        except UNREADABLE as error:
            on_bad(decode_error(offset, error, data))
            continue
        except BadRecord as problem:
            on_bad(problem)
            continue
        if stamp.trace_id is not None:
            current = str(stamp.trace_id)
        trace = traces.get(current)
        if trace is None:
            trace = traces[current] = _Gathering(record, current)
        try:
            trace.add(Place(offset, record.line), event)
            if not trace.called and trace.unheard is None:
                trace.unheard = _unheard(offset, event, data)
        except UNREADABLE as error:
            on_bad(decode_error(offset, error, data))
        except BadRecord as problem:
            on_bad(problem)
    for trace in traces.values():
        try:
            finished = trace.finish(source)
        except BadRecord as problem:
            on_bad(problem)
        else:
            yield finished
