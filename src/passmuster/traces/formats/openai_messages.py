"""OpenAI chat messages: a conversation as `{"role": …, "content": …}`, with tool calls and their results in it.

A record that holds a conversation (`messages`, or `traj`) is one trace; a file whose records are themselves messages is
one trace too. An assistant message is one model call; several tool calls in one message were made in parallel. The
first user message is the query and the last text of the assistant the answer, whatever else the record says. Results
are paired with calls by id and, since ids may repeat within a run, by order. Errors are not flagged in this format:
`failed_when` in a suite says what one looks like.

Fields and parts of content that are not read are searched for tool calls (`_accounting`), and content that is no text
is refused: the run would be evaluated without them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import repeat
from typing import Any

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import force_setattr

from passmuster.traces._accounting import account, account_content
from passmuster.traces._building import (
    Fields,
    Reading,
    fault_of,
    join_results,
    located_error,
    parse_arguments,
    stated,
    trace_per_record,
)
from passmuster.traces._conversations import conversation_of
from passmuster.traces._locate import step_offsets
from passmuster.traces._model import AnyStep, Key, Message, Place, ToolCall, ToolResult, Trace, decoded
from passmuster.traces._records import UNREADABLE, BadRecord, Record
from passmuster.traces._turns import NO_FIGURES, result_json

DESCRIPTION = "The messages of OpenAI's chat completions: a conversation per record, or a message per record."
SHAPE = '{"messages": […]}'
_ADVICE = "give each call in the 'tool_calls' of its message"
_MEDIA = ("image", "input_image", "input_audio", "audio", "file", "input_file", "video", "thinking", "reasoning")
LACKS = ("errors", "agents", "handoffs", "tokens", "cost", "times")
ASKS_ITSELF = True
_NO_ARGUMENTS = ("", "null")
"""How some models write no arguments."""
_Placed = tuple[tuple[AnyStep, ...], tuple[Place, ...]]


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


class _Function(Struct, gc=False):
    name: str
    arguments: Raw = Raw()


class _Custom(Struct, gc=False):
    name: str
    input: Raw = Raw()


class _Call(Struct, gc=False):
    function: _Function | None = None
    custom: _Custom | None = None
    """A tool that takes free text instead of arguments."""
    id: Key | None = None


class _ChatMessage(Struct, gc=False):
    role: str
    content: Any = None
    refusal: Any = None
    name: str | None = None
    tool_calls: list[_Call] | None = None
    function_call: _Function | None = None
    tool_call_id: Key | None = None

    def text(self) -> str | None:
        """The text of the message; a refusal where there is no other."""
        if type(self.content) is str and self.content:
            return self.content
        if self.content is None:
            return self.refusal if isinstance(self.refusal, str) else None
        text = Message(self.role, self.content).text
        return self.refusal if not text and isinstance(self.refusal, str) else text


_MESSAGE_FIELDS = frozenset(_ChatMessage.__struct_fields__)
_ROLES = {"model": "assistant", "ai": "assistant", "human": "user"}
"""Other words for roles."""
_KNOWN_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})


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
    error: Raw = Raw()
    total_tokens: Raw = Raw()
    total_llm_calls: Raw = Raw()
    total_duration_ms: Raw = Raw()
    total_cost_usd: Raw = Raw()
    behaviors: Raw = Raw()
    query: Raw = Raw()
    answer: Raw = Raw()
    metadata: Raw = Raw()

    def name(self) -> str | None:
        """The id of the run. `id` may be anything, and is taken only if it is text or a whole number."""
        own = self.trace_id if self.trace_id is not None else self.id
        return str(own) if isinstance(own, str) or type(own) is int else None

    def repetition(self) -> int | None:
        """Which repetition this is, where the record numbers them."""
        return next((number for number in (self.run, self.trial) if type(number) is int), None)


_STATED = ("total_tokens", "total_llm_calls", "total_duration_ms", "total_cost_usd", "behaviors")
_RECORD_FIELDS = frozenset(_Conversation.__struct_fields__)


class _DecodedFunction(Struct, gc=False):
    """A function whose arguments are decoded with the conversation. Numbers that no double can hold are refused."""

    name: str
    arguments: Any = None


class _StrictCall(_Call, gc=False):
    function: _DecodedFunction | None = None  # type: ignore[assignment]


class _StrictMessage(_ChatMessage, gc=False, forbid_unknown_fields=True):
    """A message that has no field besides those that are read."""

    tool_calls: list[_StrictCall] | None = None  # type: ignore[assignment]


class _StrictConversation(_Conversation, forbid_unknown_fields=True):
    """A conversation that has no field besides those that are read. Decoding into it shows that none is overlooked."""

    messages: list[_StrictMessage] | None = None  # type: ignore[assignment]
    traj: list[_StrictMessage] | None = None  # type: ignore[assignment]


@cache
def _strict_decoder() -> msgspec.json.Decoder[_StrictConversation]:
    return msgspec.json.Decoder(_StrictConversation)


@cache
def _decoders() -> tuple[msgspec.json.Decoder[_Conversation], msgspec.json.Decoder[_ChatMessage]]:
    return msgspec.json.Decoder(_Conversation), msgspec.json.Decoder(_ChatMessage)


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """One trace per record, or one of all records where these are messages."""
    if _is_message(reading.first):
        return _read_messages(records, reading)
    decode, decode_strictly = _decoders()[0].decode, _strict_decoder().decode

    def build(record: Record) -> Trace | None:
        complete = True
        conversation: _Conversation
        try:
            conversation = decode_strictly(record.data)
        except msgspec.ValidationError:  # it has fields that are not read
            complete = False
            if reading.is_elsewhere(record):
                return None
            try:
                conversation = decode(record.data)
            except msgspec.ValidationError:
                if b'"role"' in bytes(record.data):
                    raise
                return conversation_of(record, reading)  # messages that say in other words who speaks
        else:
            if (conversation.answer or not conversation.messages) and reading.is_elsewhere(record):
                return None  # the format is sure of all others, see `detect`
        if conversation.messages and conversation.traj:
            reading.lose(record.offset, "has two lists of messages, 'messages' and 'traj'; the second is not read")
        key = "traj" if conversation.traj and not conversation.messages else "messages"
        messages: list[_ChatMessage] | None = getattr(conversation, key)
        if messages is None:
            raise BadRecord(record.offset, "is not a conversation: it has no 'messages'")
        plain = complete
        for index, message in enumerate(messages):
            if message.role not in _KNOWN_ROLES:
                message.role = _ROLES.get(message.role, message.role)
                plain = plain and message.role in _KNOWN_ROLES
            content = message.content
            if content is not None and type(content) is not str:
                plain = False
                if type(content) is list and not _is_plain(content):
                    return conversation_of(record, reading)
            if message.tool_calls is not None and (problem := _problem(message)):
                place = step_offsets(bytes(record.data), {index}, key).get(index, 0)
                raise BadRecord(record.offset + place, f"{problem} - at `$.{key}[{index}]`")
        offset, line = record.offset, record.line
        places = list(map(Place, repeat(offset), repeat(line), range(len(messages))))
        trace = _trace(messages, places, record, reading, conversation, key)
        if plain:
            return trace
        unread: list[Fields] = []
        if not complete:
            fields = msgspec.json.decode(record.data, type=Fields)
            unread = msgspec.json.decode(fields[key], type=list[Fields])
            others = {name: value for name, value in fields.items() if name not in _RECORD_FIELDS}
            account(reading, offset, "the record", others, trace.tool_calls, _ADVICE)
        _account_messages(messages, unread, [offset] * len(messages), trace, reading)
        return trace

    return trace_per_record(records, reading, build, _hint)


def _read_messages(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    decode = _decoders()[1].decode
    messages: list[_ChatMessage] = []
    places: list[Place] = []
    unread: list[Fields] = []
    first: Record | None = None
    for record in records:
        if reading.is_elsewhere(record):
            continue
        first = first or record
        try:
            message = decode(record.data)
            message.role = _ROLES.get(message.role, message.role)
            if problem := _problem(message):
                raise BadRecord(record.offset, problem)
        except BadRecord as bad:
            reading.on_bad(bad)
        except UNREADABLE as error:
            reading.on_bad(located_error(record, error, _hint))
        else:
            messages.append(message)
            places.append(Place(record.offset, record.line))
            unread.append(msgspec.json.decode(record.data, type=Fields))
    if first is not None and messages:
        trace = _trace(messages, places, first, reading, _Conversation(), "messages")
        try:
            _account_messages(messages, unread, [place.offset for place in places], trace, reading)
        except BadRecord as bad:
            reading.on_bad(bad)
        else:
            yield trace


def _account_messages(
    messages: list[_ChatMessage], unread: list[Fields], offsets: list[int], trace: Trace, reading: Reading
) -> None:
    """Refuse, or report, what is not read of messages: calls, content that is no text, roles nobody knows."""
    calls = trace.tool_calls
    for number, fields in enumerate(unread):
        others = {name: value for name, value in fields.items() if name not in _MESSAGE_FIELDS}
        account(reading, offsets[number], f"message {number + 1}", others, calls, _ADVICE)
    for number, message in enumerate(messages):
        if message.role not in _KNOWN_ROLES:
            what = f"message {number + 1} has the role '{message.role[:40]}', which is none of OpenAI's"
            reading.lose(offsets[number], what)
        content = message.content
        if content is None or type(content) is str or message.role in ("tool", "function"):
            continue
        account_content(reading, offsets[number], f"message {number + 1}", content, calls, _ADVICE)
        if not message.text() and content not in ([], {}) and not _is_media(content):
            reading.lose(offsets[number], f"message {number + 1} has content without a text")


def _is_media(content: Any) -> bool:
    """Whether content is parts that are known to be no text: images, audio and files."""
    parts = content if isinstance(content, list) else [content]
    return all(isinstance(part, dict) and str(part.get("type")).startswith(_MEDIA) for part in parts)


def _hint(message: str, data: bytes) -> str:
    missing = "required field `role`" in message
    return " (who speaks: system, developer, user, assistant or tool)" if missing else ""


_FOREIGN = ("tool", "function", "server_", "mcp_")


def _is_plain(content: list[Any]) -> bool:
    """Whether no part of a content is in the words of another API, whose calls are parts."""
    kinds = (part.get("type", "text") for part in content if isinstance(part, dict))
    return all(isinstance(kind, str) and not kind.startswith(_FOREIGN) for kind in kinds) and not any(
        "toolUse" in part or "toolResult" in part for part in content if isinstance(part, dict)
    )


def _problem(message: _ChatMessage) -> str | None:
    """Why a message that decodes cannot be read."""
    for call in message.tool_calls or ():
        if call.function is None and call.custom is None:
            return "Object missing required field `function`, the name and arguments of a tool call"
    if type(message.content) is not list:
        return None
    for part in message.content:
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
    steps, step_places = _joined_by_id(messages, places) or _joined(messages, places)
    totals = {name: decoded(value) for name in _STATED if (value := getattr(conversation, name))}
    scenario = conversation.scenario if conversation.scenario is not None else conversation.task_id
    return Trace(
        steps=steps,
        trace_id=conversation.name(),
        scenario=None if scenario is None else str(scenario),
        query=next((message.text() for message in messages if message.role == "user"), None),
        answer=_answer(messages),
        run=conversation.repetition(),
        tags=tuple(conversation.tags or ()),
        error=fault_of(decoded(conversation.error)),
        origin=reading.origin(first, step_places, key),
        **(stated(totals) if totals else {}),
    )


def _joined_by_id(messages: list[_ChatMessage], places: list[Place]) -> _Placed | None:
    """The steps of a conversation where each result has the id of one call before it; None where it is another."""
    found: list[AnyStep] = []
    found_at: list[Place] = []
    waiting: dict[Key | None, ToolCall | None] = {}
    """The calls by id; None for those whose result was found."""
    for number, message in enumerate(messages):
        role, content = message.role, message.content
        if role == "tool":
            key = message.tool_call_id
            answered = waiting.get(key)
            if answered is None or (message.name is not None and message.name != answered.tool):
                return None
            waiting[key] = None
            force_setattr(answered, "result_json", _result(content))
            continue
        if role == "function" or message.function_call is not None:
            return None
        place = places[number]
        if role == "assistant":
            found.append(NO_FIGURES)
            found_at.append(place)
        if content is None:
            content = message.text() if message.refusal is not None else None
        if content is not None:
            found.append(Message(role, content))
            found_at.append(place)
        if message.tool_calls:
            group = number if len(message.tool_calls) > 1 else None
            for call in message.tool_calls:
                key = call.id
                if type(key) is not str or key in waiting or call.function is None:
                    return None
                step = waiting[key] = _call(call, group)
                found.append(step)
                found_at.append(place)
    return tuple(found), tuple(found_at)


def _joined(messages: list[_ChatMessage], places: list[Place]) -> _Placed:
    """The steps of any conversation, with results paired by id and order."""
    found: list[AnyStep] = []
    found_at: list[Place] = []
    for number, message in enumerate(messages):
        for step in _steps(message, number):
            found.append(step)
            found_at.append(places[number])
    return join_results(found, found_at)


def _steps(message: _ChatMessage, number: int) -> Iterator[AnyStep]:
    if message.role in ("tool", "function"):
        yield ToolResult(message.tool_call_id, message.name, _result(message.content))
        return
    if message.role == "assistant":
        yield NO_FIGURES
    content = message.content if message.content is not None else message.text()
    if content is not None:
        yield Message(message.role, content)
    made = message.tool_calls or []
    if message.function_call is not None:
        made = [*made, _Call(message.function_call)]
    group = number if len(made) > 1 else None
    for call in made:
        yield _call(call, group)


def _call(call: _Call, group: int | None) -> ToolCall:
    function = call.function
    if function is None:
        assert call.custom is not None
        return ToolCall(call.custom.name, call.id, decoded(call.custom.input), group=group)
    arguments: Any = function.arguments
    if type(arguments) is Raw:
        arguments = decoded(arguments)
    if type(arguments) is str:
        nothing = not arguments.startswith("{") and arguments.strip() in _NO_ARGUMENTS
        arguments = {} if nothing else parse_arguments(arguments)
    return ToolCall(function.name, call.id, arguments, group=group)


def _result(content: Any) -> Raw:
    """A result as JSON: text that holds a JSON object or list is that value, any other text a string."""
    if type(content) is str:
        return result_json(content)
    return result_json(Message("tool", content).text or content)


def _answer(messages: list[_ChatMessage]) -> str | None:
    """The last text of the assistant. An empty text counts, unless a tool was called instead of saying something."""
    for message in reversed(messages):
        if message.role == "assistant":
            text = message.text()
            if text or (text is not None and not message.tool_calls and not message.function_call):
                return text
    return None
