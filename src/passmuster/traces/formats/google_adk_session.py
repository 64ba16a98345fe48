"""Sessions of Google's Agent Development Kit: a session with its events, or one event per record.

An event has an author, which is the user or an agent, and content in the words of Gemini. Partial events of a stream
repeat what the whole event says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from passmuster.traces._building import Fields, Reading
from passmuster.traces._message_parts import Lose, key_of
from passmuster.traces._messages import turns_of_message
from passmuster.traces._model import Fault, Handoff, Trace
from passmuster.traces._records import BadRecord, Record
from passmuster.traces._run_log import RunLog, Runs, each_record
from passmuster.traces._turns import Turn, name_agents
from passmuster.traces._usage import usage_of

DESCRIPTION = "Sessions of Google's Agent Development Kit: a session with its `events`, or one event per record."
SHAPE = '{"appName": …, "events": [{"author": …, "content": {"parts": …}}]}'
LACKS = ("cost",)

_EVENT = (b'"author"', b'"invocationId"', b'"invocation_id"')


def detect(record: Fields) -> float:
    """Sure of events with an author and an invocation."""
    if "author" in record and ("invocationId" in record or "invocation_id" in record):
        return 1
    events = bytes(record.get("events", b""))
    if events[:1] == b"[" and ("appName" in record or "app_name" in record):
        return 1
    return 0.95 if events[:1] == b"[" and _EVENT[0] in events and any(mark in events for mark in _EVENT[1:]) else 0


def splittable(first: Fields) -> bool:
    """Every record is a session, unless each is an event."""
    return "events" in first


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """One trace per session."""
    sessions: Runs = {}
    whole = "events" in reading.first

    def add(fields: Mapping[str, Any], record: Record, lose: Lose) -> None:
        if "events" not in fields and "author" not in fields:
            raise BadRecord(record.offset, "is no session and no event of ADK: it has no 'events' and no 'author'")
        name = key_of(fields, "session_id", "sessionId") if "events" not in fields else record.offset
        session = sessions.setdefault(name, RunLog(record))
        if "events" not in fields:
            _event(fields, record, -1, lose, session)
            return
        events = fields["events"]
        if not isinstance(events, list):
            raise BadRecord(record.offset, "is a session whose 'events' are no list")
        session.trace_id = None if (own := key_of(fields, "id", "session_id")) is None else str(own)
        for index, event in enumerate(events):
            if not isinstance(event, Mapping):
                raise BadRecord(record.offset, f"event {index + 1} is not an object")
            _event(event, record, index, lose, session)

    each_record(records, reading, add)
    for session in sessions.values():
        name_agents(session.turns)
        yield session.trace(reading, "events" if whole else "steps")


def _event(event: Mapping[str, Any], record: Record, index: int, lose: Lose, session: RunLog) -> None:
    if event.get("partial"):
        return
    author = event.get("author")
    content = event.get("content")
    session.started_at = event.get("timestamp") if session.started_at is None else session.started_at
    turns: list[Turn] = []
    if isinstance(content, Mapping):
        role = "user" if author == "user" else content.get("role") or "model"
        turns = turns_of_message({**content, "role": role}, lose)
    for turn in turns:
        turn.agent = author if isinstance(author, str) and author != "user" else None
        if turn.role == "assistant":
            turn.usage = usage_of(event.get("usageMetadata", event.get("usage_metadata")))
            model = event.get("modelVersion", event.get("model_version"))
            turn.model = model if isinstance(model, str) else None
        elif turn.agent:
            turn.aside = True
        turn.started_at = event.get("timestamp") if isinstance(event.get("timestamp"), int | float | str) else None
        session.add(turn, record, index)
    actions = event.get("actions")
    to = actions.get("transferToAgent", actions.get("transfer_to_agent")) if isinstance(actions, Mapping) else None
    if isinstance(to, str) and to:
        handed = Turn("handoff", handoffs=[Handoff(to, author if isinstance(author, str) else None)])
        session.add(handed, record, index)
    code = event.get("errorCode", event.get("error_code"))
    if code and not turns:
        session.error = Fault(str(event.get("errorMessage", event.get("error_message")) or code))
