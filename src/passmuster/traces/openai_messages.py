"""OpenAI chat messages: a conversation as `{"role": …, "content": …}`, with tool calls and their results in it.

A record that holds a conversation (`messages`, or `traj`) is one trace; a file whose records are themselves messages is
one trace too. An assistant message is one model call; several tool calls in one message were made in parallel. The
first user message is the query, the last thing the assistant said without calling a tool is the answer. Results are
paired with calls by id and, since ids may repeat within a run, by order. Errors are not flagged in this format:
`failed_when` in a suite says what one looks like.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec
from msgspec import Raw, Struct

from passmuster.traces.model import AnyStep, Key, LlmCall, Message, Origin, Place, ToolCall, ToolResult, Trace
from passmuster.traces.native import decode_error, firm
from passmuster.traces.pairing import pair_results
from passmuster.traces.records import BadRecord, OnBad, Record
from passmuster.traces.sources import Source

__all__ = ["CONVERSATIONS", "MESSAGES"]

_UNREADABLE = (msgspec.MsgspecError, RecursionError, UnicodeDecodeError)


class _Function(Struct):
    name: str
    arguments: Any = None


class _Call(Struct):
    function: _Function
    id: Key | None = None


class _Said(Struct):
    role: str
    content: Any = None
    name: str | None = None
    tool_calls: list[_Call] | None = None
    function_call: _Function | None = None
    tool_call_id: Key | None = None


class _Conversation(Struct):
    messages: list[_Said] | None = None
    traj: list[_Said] | None = None
    trace_id: Key | None = None
    id: Key | None = None
    scenario: Key | None = None
    task_id: Key | None = None
    trial: int | None = None
    run: int | None = None
    tags: list[str] = []


@cache
def _decoders() -> tuple[msgspec.json.Decoder[_Conversation], msgspec.json.Decoder[_Said]]:
    return msgspec.json.Decoder(_Conversation), msgspec.json.Decoder(_Said)


class _Conversations:
    """Records that each hold a conversation."""

    NAME = "openai-messages"
    SPLITTABLE = True

    def sniff(self, record: dict[str, Raw]) -> bool:
        """Whether this record holds messages."""
        return any(bytes(record.get(key, b""))[:1] == b"[" for key in ("messages", "traj")) and "steps" not in record

    def read(self, records: Iterator[Record], source: Source, on_bad: OnBad) -> Iterator[Trace]:
        """One trace a record."""
        decoder, _ = _decoders()
        for record in records:
            try:
                told = decoder.decode(record.data)
                key = "messages" if told.messages is not None else "traj"
                said = told.messages if told.messages is not None else told.traj
                if said is None:
                    raise BadRecord(record.offset, "is not a conversation: it has no 'messages'")
            except BadRecord as problem:
                on_bad(problem)
            except _UNREADABLE as error:
                on_bad(decode_error(record.offset, error, record.data))
            else:
                places = [Place(record.offset, record.line, index) for index in range(len(said))]
                yield _trace(said, places, record, source, told, key)


class _Messages:
    """Records that are messages themselves: the file is one conversation."""

    NAME = "openai-message-list"
    SPLITTABLE = False

    def sniff(self, record: dict[str, Raw]) -> bool:
        """Whether this record is a message."""
        return "role" in record and "type" not in record

    def read(self, records: Iterator[Record], source: Source, on_bad: OnBad) -> Iterator[Trace]:
        """One trace from all records."""
        _, decoder = _decoders()
        said: list[_Said] = []
        places: list[Place] = []
        first: Record | None = None
        for record in records:
            first = first or record
            try:
                said.append(decoder.decode(record.data))
                places.append(Place(record.offset, record.line))
            except _UNREADABLE as error:
                on_bad(decode_error(record.offset, error, record.data))
        if first is not None and said:
            yield _trace(said, places, first, source, _Conversation(), "messages")


CONVERSATIONS = _Conversations()
MESSAGES = _Messages()


def _trace(
    said: list[_Said], places: list[Place], first: Record, source: Source, told: _Conversation, key: str
) -> Trace:
    steps: list[AnyStep] = []
    stood: list[Place] = []
    for number, (message, place) in enumerate(zip(said, places, strict=True)):
        for step in _steps(message, number):
            steps.append(step)
            stood.append(place)
    paired = pair_results(steps)
    scenario = told.scenario if told.scenario is not None else told.task_id
    trace_id = told.trace_id if told.trace_id is not None else told.id
    return Trace(
        steps=tuple(step for _, step in paired),
        trace_id=None if trace_id is None else str(trace_id),
        scenario=None if scenario is None else str(scenario),
        query=_first(said, "user"),
        answer=_last_word(said),
        run=told.run if told.run is not None else told.trial,
        tags=tuple(told.tags),
        origin=Origin(
            source.name,
            source.path,
            first.offset,
            first.part,
            first.line,
            tuple(stood[index] for index, _ in paired),
            key,
        ),
    )


def _steps(message: _Said, number: int) -> Iterator[AnyStep]:
    if message.role in ("tool", "function"):
        yield ToolResult(message.tool_call_id, message.name, _result(message.content))
        return
    if message.role == "assistant":
        yield LlmCall()
    if message.content is not None:
        yield Message(message.role, message.content)
    calls = [(call.id, call.function) for call in message.tool_calls or []]
    if message.function_call is not None:
        calls.append((None, message.function_call))
    group = number if len(calls) > 1 else None
    for id_, function in calls:
        yield firm(ToolCall(function.name, id_, function.arguments, group=group))


def _result(content: Any) -> Raw:
    """A result as JSON: what is JSON text already is taken at its word, anything else is a string."""
    text = Message("tool", content).text
    if text is not None and text[:1] in ("{", "["):
        try:
            return Raw(msgspec.json.encode(msgspec.json.decode(text)))
        except (msgspec.MsgspecError, RecursionError):
            pass
    return Raw(msgspec.json.encode(content if text is None else text))


def _first(said: list[_Said], role: str) -> str | None:
    return next((Message(one.role, one.content).text for one in said if one.role == role), None)


def _last_word(said: list[_Said]) -> str | None:
    for one in reversed(said):
        if one.role == "assistant" and not one.tool_calls and not one.function_call:
            text = Message(one.role, one.content).text
            if text is not None:
                return text
    return None
