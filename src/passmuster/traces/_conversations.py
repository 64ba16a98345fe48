"""Records that hold a whole conversation, and records that are one message each, of any API.

Each format of messages says how it is detected; reading is the same for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from passmuster.traces._accounting import report_hidden
from passmuster.traces._building import Fields, Reading, fault_of, located_error, stated, trace_per_record
from passmuster.traces._locate import step_offsets
from passmuster.traces._message_parts import Lose
from passmuster.traces._messages import plain_turn, turns_of, turns_of_message
from passmuster.traces._model import Place, Trace
from passmuster.traces._overlooked import find_calls
from passmuster.traces._records import MALFORMED, UNREADABLE, BadRecord, Record
from passmuster.traces._response_items import joined_items
from passmuster.traces._turns import Turn, converse, name_agents

LISTS = (
    "messages",
    "contents",
    "traj",
    "input",
    "items",
    "conversation",
    "chat_history",
    "history",
    "output",
    "turns",
    "message_thread",
    "data",
)
"""Keys under which a record may list its messages."""
WRAPPERS = (
    *("values", "state", "channel_values", "result", "data", "inputs", "outputs", "body", "thread", "trace"),
    *("chat_message_store_state", "message_store_state", "response"),
)
"""Keys under which a record may hold an object that lists its messages."""
RUN_IDS = ("trace_id", "run_id", "session_id", "conversation_id", "thread_id", "sessionId", "threadId", "chat_id", "id")

_ADVICE = "give it in its message, as the API does"
_decode = msgspec.json.Decoder().decode


def has_messages(record: Fields, marks: tuple[bytes, ...]) -> bool:
    """Whether a record lists messages, itself or one level deeper, with one of these marks in them."""
    if "steps" in record or "jsonrpc" in record or "role" in record:
        return False
    for name in (*LISTS, *WRAPPERS):
        listed = bytes(record.get(name, b""))
        if listed[:1] == (b"[" if name in LISTS else b"{") and any(mark in listed for mark in marks):
            return True
    return False


def losing(reading: Reading, record: Record, key: str = "", index: int = -1) -> Lose:
    """How a reader tells what it does not read of a record, or of this element of its list."""

    def lose(found: str, may_hold_call: bool) -> None:
        place = record.offset
        if index >= 0:
            place += step_offsets(bytes(record.data), {index}, key).get(index, 0)
        reading.lose(place, found, may_hold_call=may_hold_call)

    return lose


def read_conversations(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """One trace per record."""
    return trace_per_record(records, reading, lambda record: conversation_of(record, reading))


def malformed(record: Record, error: Exception) -> BadRecord:
    """The error for a record with a value of a type that its format does not have there."""
    return BadRecord(record.offset, f"has a value of a wrong type ({type(error).__name__}: {str(error)[:100]})")


def conversation_of(record: Record, reading: Reading) -> Trace:
    """The conversation that a record holds."""
    try:
        return _conversation_of(record, reading)
    except UNREADABLE:
        raise
    except MALFORMED as error:
        raise malformed(record, error) from error


def _conversation_of(record: Record, reading: Reading) -> Trace:
    fields = _decode(record.data)
    found = message_list(fields) if isinstance(fields, dict) else None
    if found is None:
        raise BadRecord(record.offset, "is not a conversation: it has no 'messages'")
    key, holder = found
    inside = key if holder is fields else ""
    place = Place(record.offset, record.line)
    turns = turns_of(holder[key], lambda index: losing(reading, record, inside, index), place)
    for other in LISTS:
        if other in holder and other != key and is_messages(holder[other]):
            reading.lose(record.offset, f"has two lists of messages, '{key}' and '{other}'")
    trace = conversation_trace(turns, reading, record, fields, inside)
    if len(fields) > 1 or holder is not fields:  # the messages themselves are accounted for part by part
        others = {name: value for name, value in fields.items() if value is not holder and name != inside}
        if holder is not fields:
            others["others"] = {name: value for name, value in holder.items() if name != key}
        report_hidden(reading, record.offset, "the record", find_calls(others), trace.tool_calls, _ADVICE)
    return trace


def conversation_trace(
    turns: list[Turn], reading: Reading, record: Record, fields: Mapping[str, Any], key: str = "messages"
) -> Trace:
    """The trace of a record's turns, named as the record says."""
    name_agents(turns)
    said = converse(turns)
    scenario = fields.get("scenario", fields.get("task_id"))
    run = fields.get("run", fields.get("trial"))
    tags = fields.get("tags")
    return Trace(
        steps=said.steps,
        trace_id=run_id(fields),
        scenario=str(scenario) if isinstance(scenario, str | int) and not isinstance(scenario, bool) else None,
        query=said.query,
        answer=said.answer,
        run=run if type(run) is int else None,
        tags=tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
        error=fault_of(fields.get("error")),
        origin=reading.origin(record, said.places, key),
        **stated(fields),
    )


def run_id(fields: Mapping[str, Any]) -> str | None:
    """The name of a run, under the keys that exports use for it."""
    for name in RUN_IDS:
        value = fields.get(name)
        if (isinstance(value, str) and value) or type(value) is int:
            return str(value)
    return None


def message_list(fields: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]] | None:
    """The key of the list of messages, and the object that has it."""
    for name in LISTS:
        if name in fields and is_messages(fields[name]):
            return name, fields
    for wrapper in WRAPPERS:
        inner = fields.get(wrapper)
        if isinstance(inner, dict):
            for name in LISTS:
                if is_messages(inner.get(name)):
                    return name, inner
    for name in LISTS:
        if fields.get(name) == []:
            return name, fields
    return None


def is_messages(listed: Any) -> bool:
    """Whether a value is a list of messages: objects that say who speaks, or what kind of item they are."""
    if not isinstance(listed, list) or not listed:
        return False
    if type(listed[0]) is dict and "role" in listed[0]:
        return True
    return all(isinstance(one, dict) for one in listed) and any(
        "role" in one
        or "_role" in one
        or "lc" in one
        or one.get("kind") in ("request", "response")
        or isinstance(one.get("type"), str)
        for one in listed
    )


def read_message_lines(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """The conversations that the messages of a file add up to: one, unless they name theirs."""
    runs: dict[str | None, tuple[Record, list[Turn]]] = {}
    for record in records:
        try:
            message = _decode(record.data)
            if type(message) is not dict:
                raise BadRecord(record.offset, "is no message: expected an object with a 'role'")
            name = _named(message) if len(message) > 2 else None
            here = Place(record.offset, record.line)
            if (turn := plain_turn(message, here)) is not None:
                turns = [turn]
            else:
                turns = turns_of_message(message, losing(reading, record))
                for turn in turns:
                    turn.place = here
        except BadRecord as bad:
            reading.on_bad(bad)
        except UNREADABLE as error:
            reading.on_bad(located_error(record, error))
        except MALFORMED as error:
            reading.on_bad(malformed(record, error))
        else:
            known = runs.get(name)
            if known is None:
                known = runs[name] = (record, [])
            known[1].extend(turns)
    for name, (first, said) in runs.items():
        if said:
            yield conversation_trace(joined_items(said), reading, first, {"trace_id": name})


def _named(message: Mapping[str, Any]) -> str | None:
    """The run that a message names."""
    for key in RUN_IDS[:-1]:
        if key in message and isinstance(value := message[key], str | int):
            return str(value)
    return None
