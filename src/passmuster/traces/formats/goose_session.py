"""Session files of Goose: a line about the session, and a line per message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from passmuster.traces._building import Fields, Reading
from passmuster.traces._message_parts import Lose, could_hold_call
from passmuster.traces._messages import turns_of_message
from passmuster.traces._model import Trace
from passmuster.traces._records import BadRecord, Record
from passmuster.traces._run_log import RunLog, each_record

DESCRIPTION = "Session files of Goose: a line about the session, and a line per message."
SHAPE = '{"working_dir": …, "description": …} and {"role": …, "created": …, "content": […]}'
LACKS = ("agents", "handoffs", "cost", "times")


def detect(record: Fields) -> float:
    """Sure of the first line; its messages look like those of others."""
    if "role" in record:
        return 0.6 if "created" in record and "content" in record else 0
    return 0.95 if {"working_dir", "description"} <= record.keys() and "messages" not in record else 0


def splittable(first: Fields) -> bool:
    """The messages of a session have to be read together."""
    return False


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """The session of a file."""
    runs: list[RunLog] = []

    def add(fields: Mapping[str, Any], record: Record, lose: Lose) -> None:
        if not fields.keys() & {"role", "working_dir", "conversation"}:
            raise BadRecord(record.offset, "is no line of a session of Goose: it has no 'role' and no 'working_dir'")
        if not runs:
            runs.append(RunLog(record))
        if isinstance(fields.get("conversation"), list):
            messages = fields["conversation"]
        elif "role" in fields:
            messages = [fields]
        else:
            messages = []
            if could_hold_call(fields):
                lose("has a line about the session that could hold a tool call", True)
        for message in messages:
            for turn in turns_of_message(message, lose):
                runs[0].add(turn, record)

    each_record(records, reading, add)
    for run in runs:
        yield run.trace(reading)
