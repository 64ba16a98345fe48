"""Session files of Codex (`rollout-*.jsonl`), and the events of `codex exec --json`.

A session has items of OpenAI's Responses among events; items that follow each other are one output of the model, and a
count of tokens ends it. Commands that end with another code than 0 failed. Lines of unknown types are counted, and
refused if they could hold a call. Older sessions begin with a line about the session that has no type, and have bare
items.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from passmuster.traces._building import Fields, Reading
from passmuster.traces._message_parts import Lose, could_hold_call, key_of, outcome
from passmuster.traces._messages import turns_of_message
from passmuster.traces._model import Fault, ToolCall, ToolResult, Trace
from passmuster.traces._records import UNREADABLE, BadRecord, Record
from passmuster.traces._response_items import joined_items
from passmuster.traces._run_log import RunLog, Runs, each_record
from passmuster.traces._turns import Turn
from passmuster.traces._usage import usage_of

DESCRIPTION = "Session files of Codex (`rollout-*.jsonl`), and the output of `codex exec --json`."
SHAPE = '{"type": "response_item", "payload": {…}}'
LACKS = ("agents", "handoffs", "cost")
ASKS_ITSELF = True

_LINES = (b'"session_meta"', b'"response_item"', b'"event_msg"', b'"turn_context"', b'"compacted"')
_EVENTS = (b'"thread.', b'"turn.', b'"item.')
_EVENT_NAMES = ("thread.", "turn.", "item.")
_ITEMS = frozenset(
    {"message", "reasoning", "function_call", "function_call_output", "local_shell_call", "local_shell_call_output"}
    | {"custom_tool_call", "custom_tool_call_output", "web_search_call"}
)
"""Items of the model that older sessions have as lines."""
_HEADER = frozenset({"id", "timestamp", "instructions", "git", "cwd", "originator", "cli_version", "source"})
"""The keys of the first line of older sessions."""
_ABOUT_SESSION = frozenset({"ghost_snapshot", "compaction", "compaction_trigger", "context_compaction", "other"})
_CONTEXT = re.compile(
    r"\s*(<(environment_context|user_instructions|permissions|INSTRUCTIONS|turn_aborted)|# AGENTS\.md)"
)
_CODE = re.compile(r"(?:Exit code: |Process exited with code )(-?\d{1,6})")


def detect(record: Fields) -> float:
    """Sure of the lines of a session and of the events of a thread."""
    kind = bytes(record.get("type", b""))
    if kind in _LINES and "payload" in record:
        return 1
    if kind.startswith(_EVENTS) and any(key in record for key in ("thread_id", "item", "usage", "error")):
        return 1
    if record.keys() <= _HEADER and "id" in record and "timestamp" in record:
        return 0.95
    return 0.99 if kind in (b'"turn.started"', b'"thread.started"') or record.keys() == {"record_type"} else 0


def splittable(first: Fields) -> bool:
    """The lines of a session have to be read together."""
    return False


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """One trace per session."""
    sessions: Runs = {}
    used: list[Any] = []
    model: list[Any] = []

    def add(line: Mapping[str, Any], record: Record, lose: Lose) -> None:
        line = _current(line)
        payload, kind = line.get("payload"), line.get("type")
        if kind is None and line.keys() == {"record_type"}:
            return
        known = isinstance(payload, Mapping) or str(kind).startswith(_EVENT_NAMES) or kind == "error"
        if not known and reading.is_elsewhere(record):
            return
        if not isinstance(kind, str):
            raise BadRecord(record.offset, "is no line of a session of Codex: it has no 'type'")
        begins = kind == "thread.started" or (kind == "session_meta" and not sessions)
        if begins or not sessions:
            sessions[len(sessions)] = RunLog(record)
        session = sessions[len(sessions) - 1]
        if isinstance(payload, Mapping):
            if kind == "turn_context":
                model[:] = [payload.get("model")]
            _line(kind, payload, line, record, lose, session, used)
            if model and session.turns and session.turns[-1].role == "assistant":
                session.turns[-1].model = model[0] if isinstance(model[0], str) else None
        else:
            _event(kind, line, record, lose, session)

    each_record(records, reading, add)
    for session in sessions.values():
        _leave_out_told(session)
        session.turns = joined_items(session.turns)
        yield session.trace(reading)


_TOLD = {"user_message": "user", "agent_message": "assistant"}
"""Events that tell what was said. Most sessions have it as items too."""


def _leave_out_told(session: RunLog) -> None:
    """Leave out what events tell, where items say it themselves."""
    for event, role in _TOLD.items():
        items = any(
            turn.role == role and turn.text and not turn.aside and turn.speaker != event for turn in session.turns
        )
        if items:
            session.turns = [turn for turn in session.turns if turn.speaker != event]
    for turn in session.turns:
        if turn.speaker in _TOLD:
            turn.speaker = None


def _current(line: Mapping[str, Any]) -> Mapping[str, Any]:
    """A line as current sessions have it: those of older ones have no type, or are bare items."""
    if "type" not in line and line.keys() <= _HEADER and "id" in line:
        return {"type": "session_meta", "payload": line, "timestamp": line.get("timestamp")}
    if line.get("type") in _ITEMS and "payload" not in line:
        return {"type": "response_item", "payload": line}
    return line


def _line(
    kind: str,
    payload: Mapping[str, Any],
    line: Mapping[str, Any],
    record: Record,
    lose: Lose,
    session: RunLog,
    used: list[Any],
) -> None:
    if kind == "session_meta":
        session.trace_id = None if (name := key_of(payload, "id")) is None else str(name)
        session.started_at = line.get("timestamp") if isinstance(line.get("timestamp"), str) else None
    elif kind == "response_item":
        if str(payload.get("type")) in _ABOUT_SESSION:
            return
        for turn in turns_of_message(payload, lose):
            turn.results = [_with_code(result) for result in turn.results]
            turn.aside = turn.role == "user" and bool(_CONTEXT.match(turn.text or ""))
            turn.started_at = line.get("timestamp") if isinstance(line.get("timestamp"), str) else None
            session.add(turn, record)
    elif kind == "event_msg":
        _count(payload, session, used)
        if payload.get("type") in _TOLD and isinstance(payload.get("message"), str):
            told = str(payload["type"])
            session.add(Turn(_TOLD[told], payload["message"], speaker=told, no_model_call=True), record)
        if payload.get("type") == "error":
            session.error = Fault(str(payload.get("message") or "failed"))
    elif kind not in ("turn_context", "compacted"):
        lose(f"has a line of the unknown type {kind[:60]!r}", could_hold_call(payload))


def _count(payload: Mapping[str, Any], session: RunLog, used: list[Any]) -> None:
    """Give the tokens that were counted to the output before; a count may be repeated."""
    info = payload.get("info")
    if payload.get("type") != "token_count" or not isinstance(info, Mapping):
        return
    total = info.get("total_token_usage")
    if used and used[-1] == total:
        return
    used[:] = [total]
    for turn in reversed(session.turns):
        if turn.role == "assistant" and not turn.no_model_call:
            if turn.usage.tokens_in is None:
                turn.usage = usage_of(info.get("last_token_usage"))
            break
    session.turns.append(Turn("boundary"))


def _with_code(result: ToolResult) -> ToolResult:
    """The result of a command: what it printed, and whether it failed."""
    try:
        value = msgspec.json.decode(bytes(result.result_json))
    except UNREADABLE:
        return result
    if isinstance(value, Mapping):
        about = value.get("metadata")
        code = about.get("exit_code") if isinstance(about, Mapping) else None
        failed = value.get("success") is False or (type(code) is int and code != 0)
        return replace(result, error=value.get("output") or value.get("content") or True) if failed else result
    found = _CODE.search(value[:400]) if isinstance(value, str) else None
    return replace(result, error=value) if found and found[1] != "0" else result


_ITEM_NAMES = {"command_execution": "shell", "file_change": "apply_patch", "web_search": "web_search"}
_OWN = frozenset({"id", "type", "status", "aggregated_output", "exit_code", "result", "error"})


def _event(kind: str, line: Mapping[str, Any], record: Record, lose: Lose, session: RunLog) -> None:
    """An event of `codex exec --json`."""
    item = line.get("item")
    if kind == "thread.started":
        session.trace_id = None if (name := key_of(line, "thread_id")) is None else str(name)
    elif kind == "item.completed" and isinstance(item, Mapping):
        _item(item, record, lose, session)
    elif kind == "turn.completed":
        usage = usage_of(line.get("usage"))
        if usage.tokens_in is not None and usage.tokens_out is not None:
            session.total_tokens = (session.total_tokens or 0) + usage.tokens_in + usage.tokens_out
    elif kind in ("turn.failed", "error"):
        error = line.get("error", line)
        session.error = Fault(str(error.get("message") if isinstance(error, Mapping) else error))
    elif kind not in ("turn.started", "item.started", "item.updated"):
        lose(f"has an event of the unknown type {kind[:60]!r}", could_hold_call(line))


def _item(item: Mapping[str, Any], record: Record, lose: Lose, session: RunLog) -> None:
    kind, key = item.get("type"), key_of(item, "id")
    if kind == "agent_message":
        session.add(Turn("assistant", str(item.get("text") or ""), no_model_call=True), record)
    elif kind == "mcp_tool_call" or kind in _ITEM_NAMES:
        arguments = {name: value for name, value in item.items() if name not in _OWN}
        tool = _ITEM_NAMES.get(str(kind)) or str(item.get("tool") or "mcp_tool_call")
        if kind == "mcp_tool_call":
            given = item.get("arguments")
            arguments = dict(given) if isinstance(given, Mapping) else {}
        code, error = item.get("exit_code"), item.get("error")
        failed = (error.get("message") if isinstance(error, Mapping) else error) or item.get("status") == "failed"
        failed = failed or (type(code) is int and code != 0)
        turn = Turn("assistant", calls=[ToolCall(tool, key, arguments)], no_model_call=True)
        turn.results.append(outcome(item.get("aggregated_output", item.get("result")), failed, key, tool))
        session.add(turn, record)
    elif kind not in ("reasoning", "todo_list", "error", "user_message"):
        lose(f"has an item of the unknown type {str(kind)[:60]!r}", could_hold_call(item))
