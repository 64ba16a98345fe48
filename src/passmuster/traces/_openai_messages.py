"""OpenAI chat messages: a conversation as `{"role": …, "content": …}`, with tool calls and their results in it.

A record that holds a conversation (`messages`, or `traj`) is one trace; a file whose records are themselves messages is
one trace too. An assistant message is one model call; several tool calls in one message were made in parallel. The
first user message is the query, the last words of the assistant are the answer, whatever else the record says. Results
are paired with calls by id and, since ids may repeat within a run, by order. Errors are not flagged in this format:
`failed_when` in a suite says what one looks like.

Fields that are not known here are ignored, with one exception: a tool call in the content of a message, as another
vendor writes it, is refused, for without it a run would be judged by half of what it did.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from passmuster.traces._locate import step_offsets
from passmuster.traces._model import (
    AnyStep,
    Key,
    LlmCall,
    Message,
    Origin,
    Place,
    ToolCall,
    ToolResult,
    Trace,
    decoded,
)
from passmuster.traces._native import decode_error, firm
from passmuster.traces._pairing import pair_results
from passmuster.traces._records import UNREADABLE, BadRecord, OnBad, Record
from passmuster.traces._sources import Source

__all__ = ["CONVERSATIONS", "MESSAGES"]


class _Function(Struct):
    name: str
    arguments: Raw = Raw()


class _Custom(Struct):
    name: str
    input: Raw = Raw()


class _Call(Struct):
    function: _Function | None = None
    custom: _Custom | None = None
    """A tool that takes free text instead of arguments."""
    id: Key | None = None


class _Said(Struct):
    role: str
    content: Any = None
    refusal: Any = None
    name: str | None = None
    tool_calls: list[_Call] | None = None
    function_call: _Function | None = None
    tool_call_id: Key | None = None

    def text(self) -> str | None:
        """What was said; declining is saying something."""
        text = Message(self.role, self.content).text
        return self.refusal if not text and isinstance(self.refusal, str) else text


class _Conversation(Struct):
    messages: list[_Said] | None = None
    traj: list[_Said] | None = None
    trace_id: Key | None = None
    id: Any = None
    scenario: Key | None = None
    task_id: Key | None = None
    trial: Any = None
    run: Any = None
    tags: list[str] | None = None

    def name(self) -> str | None:
        """What the record calls this run. Its `id` may be anything, and is a name only if it could be one."""
        own = self.trace_id if self.trace_id is not None else self.id
        return str(own) if isinstance(own, str) or type(own) is int else None

    def repetition(self) -> int | None:
        """Which repetition this is, where the record numbers them."""
        return next((number for number in (self.run, self.trial) if type(number) is int), None)


@cache
def _decoders() -> tuple[msgspec.json.Decoder[_Conversation], msgspec.json.Decoder[_Said]]:
    return msgspec.json.Decoder(_Conversation), msgspec.json.Decoder(_Said)


class _Conversations:
    """Records that each hold a conversation."""

    NAME = "openai-messages"
    SPLITTABLE = True

    def sniff(self, record: dict[str, Raw]) -> bool:
        """Whether this record holds messages; of the native form it is only if it says so by its `steps`."""
        if "steps" in record or "type" in record:
            return False
        lists = [listed for key in ("messages", "traj") if (listed := bytes(record.get(key, b"")))[:1] == b"["]
        return any(b'"role"' in listed for listed in lists) if "answer" in record else bool(lists)

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
                for index, message in enumerate(said):
                    if problem := _unreadable(message):
                        place = step_offsets(bytes(record.data), {index}, key).get(index, 0)
                        raise BadRecord(record.offset + place, f"{problem} - at `$.{key}[{index}]`")
            except BadRecord as bad:
                on_bad(bad)
            except UNREADABLE as error:
                on_bad(_explained(record, error))
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
                message = decoder.decode(record.data)
            except UNREADABLE as error:
                on_bad(_explained(record, error))
                continue
            if problem := _unreadable(message):
                on_bad(BadRecord(record.offset, problem))
            else:
                said.append(message)
                places.append(Place(record.offset, record.line))
        if first is not None and said:
            yield _trace(said, places, first, source, _Conversation(), "messages")


CONVERSATIONS = _Conversations()
MESSAGES = _Messages()


def _explained(record: Record, error: Exception) -> BadRecord:
    bad = decode_error(record.offset, error, record.data)
    if "required field `role`" in bad.message:
        return BadRecord(bad.offset, f"{bad.message} (who speaks: system, developer, user, assistant or tool)")
    return bad


def _unreadable(message: _Said) -> str | None:
    """Why a message cannot be read, though it has the right form."""
    if any(call.function is None and call.custom is None for call in message.tool_calls or ()):
        return "Object missing required field `function`, the name and arguments of a tool call"
    for part in message.content if isinstance(message.content, list) else ():
        if isinstance(part, dict) and part.get("type") in ("tool_use", "tool_result"):
            return f"has a '{part['type']}' in its content, where OpenAI messages have 'tool_calls' and the role 'tool'"
    return None


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
    return Trace(
        steps=tuple(step for _, step in paired),
        trace_id=told.name(),
        scenario=None if scenario is None else str(scenario),
        query=next((one.text() for one in said if one.role == "user"), None),
        answer=_last_word(said),
        run=told.repetition(),
        tags=tuple(told.tags or ()),
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
    content = message.content if message.content is not None else message.text()
    if content is not None:
        yield Message(message.role, content)
    calls = [_call(call) for call in message.tool_calls or ()]
    if message.function_call is not None:
        calls.append(_call(_Call(message.function_call)))
    for call in calls:
        yield replace(call, group=number) if len(calls) > 1 else call


def _call(call: _Call) -> ToolCall:
    if call.function is None:
        assert call.custom is not None
        return ToolCall(call.custom.name, call.id, decoded(call.custom.input))
    arguments = decoded(call.function.arguments)
    if isinstance(arguments, str) and arguments.strip() in ("", "null"):  # how some models write that there are none
        arguments = None
    made = firm(ToolCall(call.function.name, call.id, arguments))
    assert isinstance(made, ToolCall)
    return made


def _result(content: Any) -> Raw:
    """A result as JSON: a text that spells an object or a list is that, any other text a string."""
    text = Message("tool", content).text
    if text is not None and text.lstrip()[:1] in ("{", "["):
        try:
            raw = msgspec.json.decode(text, type=Raw)
            decoded(raw)
        except UNREADABLE:
            pass
        else:
            return raw.copy()
    return Raw(msgspec.json.encode(text or content))


def _last_word(said: list[_Said]) -> str | None:
    """What the assistant said last. Nothing is an answer too, unless a tool was called instead of saying something."""
    for one in reversed(said):
        if one.role == "assistant":
            text = one.text()
            if text or (text is not None and not one.tool_calls and not one.function_call):
                return text
    return None
