"""JSON-RPC messages between a client and a server of the Model Context Protocol, bare or in a log that wraps them.

A call is `tools/call` and its answer, which may come late; calls that were sent before another was answered are a
group. The protocol knows neither the query, nor the answer, nor model calls. `initialize` begins a trace, unless the
log names the session of each message.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from passmuster.traces._building import Fields, Reading
from passmuster.traces._message_parts import Lose, arguments_of, key_of, name_of, result_of
from passmuster.traces._model import Key, Place, ToolCall, Trace
from passmuster.traces._records import UNREADABLE, Record
from passmuster.traces._run_log import each_record
from passmuster.traces._turns import result_json

DESCRIPTION = "JSON-RPC messages of the Model Context Protocol, bare or wrapped by a log."
SHAPE = '{"jsonrpc": "2.0", "method": "tools/call", …}'
LACKS = ("query", "answer", "agents", "handoffs", "model calls", "tokens", "cost")

_WRAPPERS = ("message", "payload", "data", "msg", "body", "raw", "frame", "content", "json", "rpc", "line")
_TIMES = ("ts", "timestamp", "time", "at", "started_at")
_SESSIONS = ("session_id", "sessionId", "session", "mcp-session-id", "connection_id", "connectionId")
_MARK = b"jsonrpc"


def detect(record: Fields) -> float:
    """Sure of `jsonrpc`, at the top or inside the one value that a log wraps it with."""
    if "jsonrpc" in record:
        return 1
    return 0.99 if any(_MARK in bytes(record[name]) for name in _WRAPPERS if name in record) else 0


def splittable(first: Fields) -> bool:
    """Answers may come at any later line."""
    return False


class _Session(Struct):
    first: Record
    name: str | None = None
    calls: list[ToolCall] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    pending: dict[str, int] = field(default_factory=dict)
    """Ids of requests without an answer; -1 for those that are no call of a tool."""
    times: dict[int, float] = field(default_factory=dict)
    events: int = 0
    sent: list[int] = field(default_factory=list)
    answered: list[int] = field(default_factory=list)
    """When each call was sent and answered, in messages; 0 for a call that never was."""
    started_at: str | float | None = None


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """One trace per session."""
    sessions: dict[object, _Session] = {}
    begun: dict[object, int] = {}

    def add(line: Mapping[str, Any], record: Record, lose: Lose) -> None:
        name = key_of(line, *_SESSIONS)
        messages = _messages(line)
        if not messages:
            lose("is no message of the Model Context Protocol: it has no 'jsonrpc'", True)
        for message in messages:
            if message.get("method") == "initialize" and (name, begun.get(name, 0)) in sessions:
                begun[name] = begun.get(name, 0) + 1
            key = (name, begun.get(name, 0))
            session = sessions.setdefault(key, _Session(record, None if name is None else str(name)))
            _add(message, line, record, lose, session)

    each_record(records, reading, add)
    for session in sessions.values():
        yield Trace(
            steps=tuple(_grouped(session)),
            trace_id=session.name,
            started_at=session.started_at,
            origin=reading.origin(session.first, tuple(session.places)),
        )


def _grouped(session: _Session) -> list[ToolCall]:
    """The calls, where those that were under way at the same time are a group."""
    groups: list[int] = []
    open_until = 0
    for index, sent in enumerate(session.sent):
        groups.append(groups[-1] if sent < open_until else index)
        open_until = max(open_until if sent < open_until else 0, session.answered[index])
    sizes = Counter(groups)
    return [
        replace(call, group=group) if sizes[group] > 1 else call
        for call, group in zip(session.calls, groups, strict=True)
    ]


def _messages(line: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The protocol's messages in a record: itself, or what it wraps, or a batch."""
    if "jsonrpc" in line:
        return [line]
    for name in _WRAPPERS:
        value = line.get(name)
        if isinstance(value, str) and _MARK.decode() in value:
            try:
                value = msgspec.json.decode(value)
            except UNREADABLE:
                continue
        if isinstance(value, list):
            return [one for one in value if isinstance(one, Mapping) and "jsonrpc" in one]
        if isinstance(value, Mapping):
            return [value] if "jsonrpc" in value else _messages(value)
    return []


def _add(message: Mapping[str, Any], line: Mapping[str, Any], record: Record, lose: Lose, session: _Session) -> None:
    key = message.get("id")
    known = str(key) if isinstance(key, str | int) else None
    time = next((line[name] for name in _TIMES if isinstance(line.get(name), str | int | float)), None)
    method = message.get("method")
    if isinstance(method, str):
        if method == "tools/call":
            params = message.get("params")
            params = params if isinstance(params, Mapping) else {}
            _request(params, key_of(message, "id"), time, record, session)
        elif known is not None:
            session.pending.setdefault(known, -1)
        return
    index = session.pending.pop(known, None) if known is not None else None
    if index is None:
        result = message.get("result")
        of_tool = isinstance(result, Mapping) and isinstance(result.get("content"), list)
        lose(f"has an answer to a request that is not there (id {str(key)[:40]})", of_tool)
    elif index >= 0:
        _answer(message, index, time, session)


def _request(params: Mapping[str, Any], key: Key | None, time: Any, record: Record, session: _Session) -> None:
    arguments = arguments_of(params, "arguments")
    call = ToolCall(name_of(params, "name"), key, {} if arguments is None else arguments, started_at=time)
    index = len(session.calls)
    session.events += 1
    session.sent.append(session.events)
    session.answered.append(0)
    session.calls.append(call)
    session.places.append(Place(record.offset, record.line))
    session.started_at = time if session.started_at is None else session.started_at
    if isinstance(time, int | float):
        session.times[index] = float(time)
    if key is not None:
        session.pending[str(key)] = index


def _answer(message: Mapping[str, Any], index: int, time: Any, session: _Session) -> None:
    call = session.calls[index]
    session.events += 1
    session.answered[index] = session.events
    error: Any = None
    result = message.get("result")
    value = result
    if isinstance(result, Mapping):
        content = result_of(result.get("content"))
        structured = result.get("structuredContent")
        value = structured if structured is not None else content
        error = (content or True) if result.get("isError") else None
    fault = message.get("error")
    if fault:
        error = fault.get("message") or True if isinstance(fault, Mapping) else fault
    began = session.times.get(index)
    lasted = None
    if began is not None and isinstance(time, int | float) and time >= began:
        lasted = (float(time) - began) * (1 if began > 1e11 else 1000)
    session.calls[index] = replace(call, result_json=result_json(value), error=error, duration_ms=lasted)
