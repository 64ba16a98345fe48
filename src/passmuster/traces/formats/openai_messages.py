"""OpenAI chat messages: a conversation as `{"role": …, "content": …}`, with tool calls and their results in it.

A record that holds a conversation (`messages`, or `traj`) is one trace; a file whose records are themselves messages is
one trace too. An assistant message is one model call; several tool calls in one message were made in parallel. The
first user message is the query and the last text of the assistant the answer, whatever else the record says. Results
are paired with calls by id and, since ids may repeat within a run, by order. Errors are not flagged in this format:
`failed_when` in a suite says what one looks like.

Unknown fields are ignored, with one exception: a tool call in the content of a message, as another vendor writes it,
is refused, for the run would be evaluated without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from passmuster.traces._building import Fields, Reading, join_results, located_error, parse_arguments, trace_per_record
from passmuster.traces._locate import step_offsets
from passmuster.traces._model import AnyStep, Key, LlmCall, Message, Place, ToolCall, ToolResult, Trace, decoded
from passmuster.traces._records import UNREADABLE, BadRecord, Record

DESCRIPTION = "The messages of OpenAI's chat completions: a conversation per record, or a message per record."
SHAPE = '{"messages": […]}'


def detect(record: Fields) -> float:
    """Sure of a list of messages, less so of a record that is a message; `steps` and `type` are of other formats."""
    if "steps" in record or "type" in record:
        return 0
    lists = [listed for key in ("messages", "traj") if (listed := bytes(record.get(key, b"")))[:1] == b"["]
    if lists and ("answer" not in record or any(b'"role"' in listed for listed in lists)):
        return 0.9
    return 0.4 if "role" in record else 0


def splittable(first: Fields) -> bool:
    """Every record is a trace, unless each is a message."""
    return not _is_message(first)


def _is_message(record: Fields) -> bool:
    return "role" in record and detect(record) < 0.9


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


class _ChatMessage(Struct):
    role: str
    content: Any = None
    refusal: Any = None
    name: str | None = None
    tool_calls: list[_Call] | None = None
    function_call: _Function | None = None
    tool_call_id: Key | None = None

    def text(self) -> str | None:
        """The text of the message; a refusal where there is no other."""
        text = Message(self.role, self.content).text
        return self.refusal if not text and isinstance(self.refusal, str) else text


class _Conversation(Struct):
    messages: list[_ChatMessage] | None = None
    traj: list[_ChatMessage] | None = None
    trace_id: Key | None = None
    id: Any = None
    scenario: Key | None = None
    task_id: Key | None = None
    trial: Any = None
    run: Any = None
    tags: list[str] | None = None

    def name(self) -> str | None:
        """The id of the run. `id` may be anything, and is taken only if it is text or a whole number."""
        own = self.trace_id if self.trace_id is not None else self.id
        return str(own) if isinstance(own, str) or type(own) is int else None

    def repetition(self) -> int | None:
        """Which repetition this is, where the record numbers them."""
        return next((number for number in (self.run, self.trial) if type(number) is int), None)


@cache
def _decoders() -> tuple[msgspec.json.Decoder[_Conversation], msgspec.json.Decoder[_ChatMessage]]:
    return msgspec.json.Decoder(_Conversation), msgspec.json.Decoder(_ChatMessage)


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """One trace per record, or one of all records where these are messages."""
    if _is_message(reading.first):
        return _read_messages(records, reading)
    decode = _decoders()[0].decode

    def build(record: Record) -> Trace:
        conversation = decode(record.data)
        key = "messages" if conversation.messages is not None else "traj"
        messages: list[_ChatMessage] | None = getattr(conversation, key)
        if messages is None:
            raise BadRecord(record.offset, "is not a conversation: it has no 'messages'")
        for index, message in enumerate(messages):
            if problem := _problem(message):
                place = step_offsets(bytes(record.data), {index}, key).get(index, 0)
                raise BadRecord(record.offset + place, f"{problem} - at `$.{key}[{index}]`")
        places = [Place(record.offset, record.line, index) for index in range(len(messages))]
        return _trace(messages, places, record, reading, conversation, key)

    return trace_per_record(records, reading, build, _hint)


def _read_messages(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    decode = _decoders()[1].decode
    messages: list[_ChatMessage] = []
    places: list[Place] = []
    first: Record | None = None
    for record in records:
        first = first or record
        try:
            message = decode(record.data)
            if problem := _problem(message):
                raise BadRecord(record.offset, problem)
        except BadRecord as bad:
            reading.on_bad(bad)
        except UNREADABLE as error:
            reading.on_bad(located_error(record, error, _hint))
        else:
            messages.append(message)
            places.append(Place(record.offset, record.line))
    if first is not None and messages:
        yield _trace(messages, places, first, reading, _Conversation(), "messages")


def _hint(message: str, data: bytes) -> str:
    missing = "required field `role`" in message
    return " (who speaks: system, developer, user, assistant or tool)" if missing else ""


def _problem(message: _ChatMessage) -> str | None:
    """Why a message that decodes cannot be read."""
    if any(call.function is None and call.custom is None for call in message.tool_calls or ()):
        return "Object missing required field `function`, the name and arguments of a tool call"
    for part in message.content if isinstance(message.content, list) else ():
        if isinstance(part, dict) and part.get("type") in ("tool_use", "tool_result"):
            return f"has a '{part['type']}' in its content, where OpenAI messages have 'tool_calls' and the role 'tool'"
    return None


def _trace(
    messages: list[_ChatMessage],
    places: list[Place],
    first: Record,
    reading: Reading,
    conversation: _Conversation,
    key: str,
) -> Trace:
    found: list[AnyStep] = []
    found_at: list[Place] = []
    for number, (message, place) in enumerate(zip(messages, places, strict=True)):
        for step in _steps(message, number):
            found.append(step)
            found_at.append(place)
    steps, step_places = join_results(found, found_at)
    scenario = conversation.scenario if conversation.scenario is not None else conversation.task_id
    return Trace(
        steps=steps,
        trace_id=conversation.name(),
        scenario=None if scenario is None else str(scenario),
        query=next((message.text() for message in messages if message.role == "user"), None),
        answer=_answer(messages),
        run=conversation.repetition(),
        tags=tuple(conversation.tags or ()),
        origin=reading.origin(first, step_places, key),
    )


def _steps(message: _ChatMessage, number: int) -> Iterator[AnyStep]:
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
    if isinstance(arguments, str) and arguments.strip() in ("", "null"):  # how some models write no arguments
        arguments = None
    return ToolCall(call.function.name, call.id, parse_arguments(arguments))


def _result(content: Any) -> Raw:
    """A result as JSON: text that holds a JSON object or list is that value, any other text a string."""
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


def _answer(messages: list[_ChatMessage]) -> str | None:
    """The last text of the assistant. An empty text counts, unless a tool was called instead of saying something."""
    for message in reversed(messages):
        if message.role == "assistant":
            text = message.text()
            if text or (text is not None and not message.tool_calls and not message.function_call):
                return text
    return None
