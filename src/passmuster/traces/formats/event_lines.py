"""Event lines: one step per record, `{"type": "tool_call", …}`.

A file is one trace, unless its records carry a `trace_id`; a record without one belongs to the trace named last before
it. `{"type": "trace", …}` states any field of the native form; several such records of one trace add up, unless they
contradict each other. Where query and answer are not stated, they are the first user message and the last assistant
message.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from passmuster.traces._building import Fields, Reading, join_results, located_error
from passmuster.traces._model import AnyStep, Key, Message, Place, ToolCall, Trace
from passmuster.traces._native_form import FormStep, TraceFields, explain_step, plain_steps
from passmuster.traces._overlooked import overlooked_in_message, overlooked_in_record, overlooked_in_trace
from passmuster.traces._records import UNREADABLE, BadRecord, Record

DESCRIPTION = "One JSON object per step; a file is one trace, or several distinguished by `trace_id`."
SHAPE = '{"type": "tool_call", …}'

_TYPES = (b'"tool_call"', b'"tool_result"', b'"llm_call"', b'"handoff"', b'"trace"')


def detect(record: Fields) -> float:
    """Sure of the types of steps; a `message` or an unknown `type` may be of another format."""
    if "type" not in record:
        return 0
    type_ = bytes(record["type"])
    return 1 if type_ in _TYPES else 0.6 if type_ == b'"message"' else 0.2


def splittable(first: Fields) -> bool:
    """The events of a trace have to be read together."""
    return False


class _Stamp(Struct, frozen=True):
    trace_id: Key | None = None


class _Header(TraceFields, tag_field="type", tag="trace"):
    """The fields of a trace, as a record of their own."""


_Event = _Header | FormStep


@cache
def _decoders() -> tuple[msgspec.json.Decoder[_Stamp], msgspec.json.Decoder[_Event]]:
    return msgspec.json.Decoder(_Stamp), msgspec.json.Decoder(_Event)


class _Gathering:
    """A trace whose events are being collected."""

    def __init__(self, record: Record, trace_id: str | None) -> None:
        self.fields = TraceFields(trace_id=trace_id)
        self.record = record
        self.steps: list[AnyStep] = []
        self.places: list[Place] = []
        self.has_calls = False
        self.overlooked: BadRecord | None = None
        """The error if no event turns out to be a tool call, while another record holds some."""

    def add(self, record: Record, event: _Event, steps: list[AnyStep]) -> None:
        """Add an event, and the steps that it is or that it states."""
        if isinstance(event, _Header):
            self._reject_contradiction(record.offset, event)
            for name in TraceFields.__struct_fields__:
                if (value := getattr(event, name)) is not None:
                    setattr(self.fields, name, value)
            self.places += [Place(record.offset, record.line, index) for index in range(len(steps))]
        else:
            self.places.append(Place(record.offset, record.line))
        self.steps += steps
        self.has_calls = self.has_calls or any(type(step) is ToolCall for step in steps)
        if self.overlooked is None and not self.has_calls:
            self.overlooked = _overlooked(record, event)

    def _reject_contradiction(self, offset: int, header: _Header) -> None:
        """Refuse to take two traces for one because nothing tells them apart."""
        for name in ("scenario", "query", "run", "steps"):
            known, value = getattr(self.fields, name), getattr(header, name)
            if known is not None and value is not None and (known != value or name == "steps"):
                raise BadRecord(
                    offset,
                    f"states '{name}' of a trace that has it already: a file of events is one trace, unless "
                    "each record says by its 'trace_id' which one it belongs to",
                )

    def finish(self, reading: Reading) -> Trace:
        fields = self.fields
        if not self.steps and fields.steps is None and fields.answer is None and fields.error is None:
            raise BadRecord(
                self.record.offset, "begins a trace without an event, an 'answer' or an 'error': nothing happened in it"
            )
        steps, places = join_results(self.steps, self.places)
        if self.overlooked and not any(type(step) is ToolCall for step in steps):
            raise self.overlooked
        trace = fields.trace(steps)
        messages = [step for step in steps if type(step) is Message]
        query, answer = trace.query, trace.answer
        if query is None:
            query = next((message.text for message in messages if message.role == "user"), None)
        if answer is None:
            answer = next((message.text for message in reversed(messages) if message.role == "assistant"), None)
        return replace(trace, query=query, answer=answer, origin=reading.origin(self.record, places))


def _decode(record: Record) -> tuple[str | None, _Event, list[AnyStep]]:
    """The id of the trace that an event names, the event, and its steps."""
    stamps, events = _decoders()
    offset, data = record.offset, record.data
    stamp = stamps.decode(data).trace_id
    event = events.decode(data)
    if isinstance(event, _Header):
        steps = plain_steps(offset, event.steps or (), data)
    else:
        steps = plain_steps(offset, [event], data, single=True)
    _reject_calls_in_messages(record, event)
    return None if stamp is None else str(stamp), event, steps


def _reject_calls_in_messages(record: Record, event: _Event) -> None:
    """Refuse a message that holds tool calls, whatever else the trace has."""
    if isinstance(event, Message) and (name := overlooked_in_message(record.data)):
        raise BadRecord(
            record.offset,
            f"a message cannot hold '{name}': give each call as an event of type tool_call, or drop 'type' "
            "from every record to have the file read as chat messages",
        )
    if isinstance(event, _Header) and (problem := overlooked_in_trace(record.data, has_calls=True)):
        raise BadRecord(record.offset, problem)


def _overlooked(record: Record, event: _Event) -> BadRecord | None:
    """The error for a record that holds tool calls in a field that is not read, should its trace have none."""
    if isinstance(event, _Header):
        problem = overlooked_in_trace(record.data, has_calls=False)
    elif name := overlooked_in_record(record.data):
        advice = "give each call as an event of type tool_call"
        problem = f"an event of a trace without tool calls cannot hold '{name}': {advice}"
    else:
        return None
    return BadRecord(record.offset, problem) if problem else None


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """The traces that the events of a file add up to, in the order they begin."""
    traces: dict[str | None, _Gathering] = {}
    current: str | None = None
    for record in records:
        try:
            stamp, event, steps = _decode(record)
            current = current if stamp is None else stamp
            if current not in traces:
                traces[current] = _Gathering(record, current)
            traces[current].add(record, event, steps)
        except BadRecord as bad:
            reading.on_bad(bad)
        except UNREADABLE as error:
            reading.on_bad(located_error(record, error, explain_step))
    for trace in traces.values():
        try:
            finished = trace.finish(reading)
        except BadRecord as bad:
            reading.on_bad(bad)
        else:
            yield finished
