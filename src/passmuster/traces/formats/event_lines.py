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

from passmuster.traces._accounting import check_call, report_hidden
from passmuster.traces._building import Fields, Reading, join_results, located_error
from passmuster.traces._model import AnyStep, Key, Message, Place, Trace
from passmuster.traces._native_form import (
    FormStep,
    TraceFields,
    Unread,
    agreed_agent,
    explain_step,
    known_part,
    known_step,
    plain_steps,
)
from passmuster.traces._overlooked import HiddenCall, find_calls, hidden_calls
from passmuster.traces._records import UNREADABLE, BadRecord, Record
from passmuster.traces._tool_names import check_calls

DESCRIPTION = "One JSON object per step; a file is one trace, or several distinguished by `trace_id`."
SHAPE = '{"type": "tool_call", …}'
LACKS = ()

_ADVICE = "give each call as an event of type tool_call"
_TYPES = (b'"tool_call"', b'"tool_result"', b'"llm_call"', b'"handoff"', b'"trace"')


def detect(record: Fields) -> float:
    """Sure of the types of steps; a `message` or an unknown `type` may be of another format."""
    if "type" not in record:
        return 0
    type_ = bytes(record["type"])
    if "episode_id" in record:  # Assay has a type of the same name
        return 0
    return 1 if type_ in _TYPES else 0.6 if type_ == b'"message"' else 0.2


def splittable(first: Fields) -> bool:
    """The events of a trace have to be read together."""
    return False


class _Stamp(Struct, frozen=True):
    trace_id: Key | None = None


class _Header(TraceFields, tag_field="type", tag="trace"):
    """The fields of a trace, as a record of their own."""


@cache
def _decoders() -> tuple[msgspec.json.Decoder[_Stamp], msgspec.json.Decoder[_Header | FormStep]]:
    return msgspec.json.Decoder(_Stamp), msgspec.json.Decoder(_Header | FormStep)


class _Event(Struct, frozen=True):
    """One record: the trace it names, what it states, its steps, and the calls in what is not read of it."""

    trace_id: str | None
    header: _Header | None
    steps: list[AnyStep]
    hidden: list[tuple[str, HiddenCall]]


class _Gathering:
    """A trace whose events are being collected."""

    def __init__(self, record: Record, trace_id: str | None) -> None:
        self.fields = TraceFields(trace_id=trace_id)
        self.record = record
        self.steps: list[AnyStep] = []
        self.places: list[Place] = []
        self.hidden: list[tuple[int, str, HiddenCall]] = []
        """What stands for calls, by the offset of its record. It may repeat calls that only a later event has."""

    def add(self, record: Record, event: _Event) -> None:
        """Add what an event states, and its steps."""
        if event.header is not None:
            self._state(record.offset, event.header)
            self.places += [Place(record.offset, record.line, index) for index in range(len(event.steps))]
        else:
            self.places.append(Place(record.offset, record.line))
        self.steps += event.steps
        self.hidden += [(record.offset, where, call) for where, call in event.hidden]

    def _state(self, offset: int, header: _Header) -> None:
        """Take the fields of a header, and refuse to take two traces for one because nothing tells them apart."""
        for name in TraceFields.__struct_fields__:
            known, value = getattr(self.fields, name), getattr(header, name)
            if value is None or name == "metadata":
                continue
            if known is not None and name == "agent":
                value = agreed_agent(known, value)
            if value is None or (known is not None and name != "agent" and (known != value or name == "steps")):
                raise BadRecord(
                    offset,
                    f"states '{name}' of a trace that has it already: a file of events is one trace, unless "
                    "each record says by its 'trace_id' which one it belongs to",
                )
            setattr(self.fields, name, value)

    def finish(self, reading: Reading) -> Trace:
        fields = self.fields
        if not self.steps and fields.steps is None and fields.answer is None and fields.error is None:
            raise BadRecord(
                self.record.offset, "begins a trace without an event, an 'answer' or an 'error': nothing happened in it"
            )
        steps, places = join_results(self.steps, self.places)
        trace = fields.trace(steps)
        for offset, where, call in self.hidden:
            report_hidden(reading, offset, where, [call], trace.tool_calls, _ADVICE)
        messages = [step for step in steps if type(step) is Message]
        query, answer = trace.query, trace.answer
        if query is None:
            query = next((message.text for message in messages if message.role == "user"), None)
        if answer is None:
            answer = next((message.text for message in reversed(messages) if message.role == "assistant"), None)
        trace = replace(trace, query=query, answer=answer, origin=reading.origin(self.record, places))
        return check_calls(trace)


def _decode(record: Record, reading: Reading) -> _Event:
    stamps, events = _decoders()
    stamp = stamps.decode(record.data).trace_id
    unread: list[Unread] = []
    try:
        event = events.decode(record.data)
    except msgspec.ValidationError as error:
        if "unknown field" not in str(error):
            raise
        event = events.decode(_known(record, unread))
    if isinstance(event, _Header):
        written = list(event.steps or ())
        for one in unread:
            if one.step >= 0:
                written[one.step] = check_call(reading, record.offset, written[one.step], one.fields)
    else:
        written = [check_call(reading, record.offset, event, unread[0].fields) if unread else event]
    steps = plain_steps(written)
    hidden = [(one.where, call) for one in unread for call in hidden_calls(one.fields)]
    for step in steps:
        if type(step) is Message and type(step.content) is not str:
            hidden += [(f"a message of the {step.role[:20]}", call) for call in find_calls(step.content, "content")]
    return _Event(None if stamp is None else str(stamp), event if isinstance(event, _Header) else None, steps, hidden)


def _known(record: Record, unread: list[Unread]) -> bytes:
    """A record without the fields that are not read, which go to `unread`."""
    fields = msgspec.json.decode(record.data, type=Fields)
    if bytes(fields.get("type", b"")) == b'"trace"':
        data, found = known_part(record.data, header=True)
        unread += found
        return data
    fields.pop("trace_id", None)
    return bytes(known_step(msgspec.json.encode(fields), unread))


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """The traces that the events of a file add up to, in the order they begin."""
    traces: dict[str | None, _Gathering] = {}
    current: str | None = None
    for record in records:
        try:
            event = _decode(record, reading)
            current = current if event.trace_id is None else event.trace_id
            if current not in traces:
                traces[current] = _Gathering(record, current)
            traces[current].add(record, event)
        except BadRecord as bad:
            reading.on_bad(bad)
        except UNREADABLE as error:
            reading.on_bad(located_error(record, error, explain_step))
    for trace in traces.values():
        try:
            finished = trace.finish(reading)
        except BadRecord as bad:
            reading.on_bad(bad)
        except RecursionError as error:
            reading.on_bad(located_error(trace.record, error))
        else:
            yield finished
