"""Updates that a graph of LangGraph streams: one record per step, with the messages of the node that made it.

All updates of a file are one run. A graph inside a graph is named by a path before its updates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from passmuster.traces._building import Fields, Reading
from passmuster.traces._conversations import conversation_trace, is_messages
from passmuster.traces._message_parts import Lose, could_hold_call
from passmuster.traces._messages import turns_of_message
from passmuster.traces._model import Place, Trace
from passmuster.traces._records import BadRecord, Record
from passmuster.traces._run_log import each_record
from passmuster.traces._turns import Turn

DESCRIPTION = "Updates that a graph of LangGraph streams, one record per step; a file is one run."
SHAPE = '{"agent": {"messages": [{"type": "ai", …}]}}'
LACKS = ("agents", "handoffs", "cost", "times")

_MARKS = (b'"type":"ai"', b'"type":"tool"', b'"type":"human"', b'"lc":1', b'"type":"AIMessageChunk"')
_MOST_NODES = 8


def detect(record: Fields) -> float:
    """Sure of objects with typed messages under names that mean nothing else."""
    if not 0 < len(record) <= _MOST_NODES or not all(bytes(one)[:1] in (b"{", b"n") for one in record.values()):
        return 0
    begins = [bytes(one)[:4000].replace(b" ", b"") for one in record.values()]
    found = any(one.startswith(b'{"messages":') and any(mark in one for mark in _MARKS) for one in begins)
    return (
        0.9 if found and not {"values", "state", "channel_values", "data", "inputs", "outputs"} & record.keys() else 0
    )


def splittable(first: Fields) -> bool:
    """The updates of a run have to be read together."""
    return False


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """The run whose updates a file holds."""
    turns: list[Turn] = []
    seen: set[str] = set()
    begun: list[Record] = []

    def add(update: Mapping[str, Any], record: Record, lose: Lose) -> None:
        if not begun:
            begun.append(record)
        for node, change in update.items():
            if change is None:
                continue
            if not isinstance(change, Mapping):
                raise BadRecord(record.offset, f"is no update of LangGraph: '{node[:60]}' is not an object")
            messages = change.get("messages")
            for message in messages if isinstance(messages, list) else [messages] if messages else ():
                _add(message, record, lose, turns, seen)
            others = {key: value for key, value in change.items() if key != "messages" and not is_messages(value)}
            if could_hold_call(others):
                lose(f"has an update of '{node[:60]}' with '{next(iter(others))[:60]}', which is not read", True)

    each_record(records, reading, add)
    if turns:
        yield conversation_trace(turns, reading, begun[0], {})
    elif begun:
        reading.on_bad(BadRecord(begun[0].offset, "is no update of LangGraph: none of its nodes has messages"))


def _add(message: Any, record: Record, lose: Lose, turns: list[Turn], seen: set[str]) -> None:
    """Add a message, unless an earlier update had it: nodes may hand on all that was said so far."""
    key = message.get("id") if isinstance(message, dict) else None
    if isinstance(key, str):
        if key in seen:
            return
        seen.add(key)
    for turn in turns_of_message(message, lose):
        turn.place = Place(record.offset, record.line)
        turns.append(turn)
