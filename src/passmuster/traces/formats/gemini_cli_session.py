"""Session files of Gemini CLI and its forks: a document with `messages`, or a line per message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from passmuster.traces._building import Fields, Reading, located_error
from passmuster.traces._conversations import malformed
from passmuster.traces._message_parts import Lose, account_keys, arguments_of, key_of, name_of, outcome, text_of
from passmuster.traces._model import ToolCall, Trace
from passmuster.traces._records import MALFORMED, UNREADABLE, BadRecord, Record
from passmuster.traces._run_log import RunLog, each_record
from passmuster.traces._turns import Turn
from passmuster.traces._usage import usage_of

DESCRIPTION = "Session files of Gemini CLI (`~/.gemini/tmp/…/chats/session-*`), a document or lines."
SHAPE = '{"sessionId": …, "projectHash": …, "messages": [{"type": "gemini", "toolCalls": […], …}]}'
LACKS = ("agents", "handoffs", "cost")

_KNOWN = frozenset({"toolCalls", "content", "displayContent", "thoughts", "tokens"})
_SPEAKERS = {"user": "user", "gemini": "assistant", "qwen": "assistant"}
_ASIDE = ("info", "error", "warning", "system")
"""Messages of the program to its user."""
_FAILED = ("error", "cancelled")


def detect(record: Fields) -> float:
    """Sure of a session of a project, and of a message with Gemini's type."""
    if "sessionId" in record and "projectHash" in record:
        return 0.99
    if bytes(record.get("type", b"")) == b'"gemini"' and "content" in record:
        return 0.98
    is_line = "timestamp" in record and "id" in record and bytes(record.get("type", b"")) == b'"user"'
    return 0.6 if (is_line and "sessionId" not in record) or "$set" in record or "$rewindTo" in record else 0


def splittable(first: Fields) -> bool:
    """The messages of a session have to be read together."""
    return False


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """The session that each document is, or that the lines of a file are."""
    runs: dict[str, RunLog] = {}
    said: dict[str, dict[str, tuple[Mapping[str, Any], Record, Lose]]] = {}
    now = [""]

    def add(fields: Mapping[str, Any], record: Record, lose: Lose) -> None:
        if not fields.keys() & {"projectHash", "type", "$set", "$rewindTo"}:
            raise BadRecord(
                record.offset, "is no line of a session of Gemini CLI: it has no 'type' and no 'projectHash'"
            )
        if "projectHash" in fields:
            now[0] = str(fields.get("sessionId"))
            account_keys(fields, ("messages",), "a session", lose)
            runs.setdefault(now[0], RunLog(record, trace_id=now[0], started_at=fields.get("startTime")))
        runs.setdefault(now[0], RunLog(record))
        listed = said.setdefault(now[0], {})
        if "$rewindTo" in fields:
            kept = list(listed)
            for key in kept[kept.index(fields["$rewindTo"]) :] if fields["$rewindTo"] in kept else ():
                del listed[key]
            return
        changed = fields.get("$set", fields)
        messages = changed.get("messages")
        if isinstance(messages, list):
            listed.clear()
        for message in messages if isinstance(messages, list) else [fields] if "type" in fields else ():
            named = message.get("id")
            listed[f"#{len(listed)}" if named is None else str(named)] = (message, record, lose)

    each_record(records, reading, add)
    for name, run in runs.items():
        try:
            for message, record, lose in said.get(name, {}).values():
                _add(message, run, record, lose)
        except BadRecord as bad:
            reading.on_bad(bad)
            continue
        except UNREADABLE as error:
            reading.on_bad(located_error(record, error))
            continue
        except MALFORMED as error:
            reading.on_bad(malformed(record, error))
            continue
        yield run.trace(reading)


def _add(message: Mapping[str, Any], run: RunLog, record: Record, lose: Lose) -> None:
    kind = message.get("type")
    if kind in _ASIDE:
        return
    if kind not in _SPEAKERS:
        lose(f"has a message of the unknown type {str(kind)[:60]!r}", True)
        return
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    if kind == "user" and any(isinstance(part, dict) and "functionResponse" in part for part in parts):
        return  # results, which the calls have too
    text = text_of([part for part in parts if "text" in part]) if parts else text_of(content)
    turn = Turn(_SPEAKERS[str(kind)], text or None)
    account_keys(message, _KNOWN, "a message", lose)
    for call in message.get("toolCalls") or ():
        key = key_of(call, "id")
        tool = name_of(call, "name")
        turn.calls.append(ToolCall(tool, key, arguments_of(call, "args")))
        if call.get("result") is not None or call.get("status") in _FAILED:
            turn.results.append(outcome(_returned(call.get("result")), call.get("status") in _FAILED, key, tool))
    tokens = message.get("tokens")
    if turn.role == "assistant" and isinstance(tokens, Mapping):
        made = {"output_tokens": (tokens.get("output") or 0) + (tokens.get("thoughts") or 0)}
        turn.usage = usage_of({"input_tokens": tokens.get("input"), "cached_tokens": tokens.get("cached"), **made})
    turn.model = message["model"] if isinstance(message.get("model"), str) else None
    stamp = message.get("timestamp")
    turn.started_at = stamp if isinstance(stamp, str) else None
    run.add(turn, record)


def _returned(result: Any) -> Any:
    """What a tool returned, out of the part that tells the model."""
    part = result[0] if isinstance(result, list) and len(result) == 1 else None
    response = part.get("functionResponse", {}).get("response") if isinstance(part, dict) else None
    if isinstance(response, dict) and len(response) == 1:
        return next(iter(response.values()))
    return result if response is None else response
