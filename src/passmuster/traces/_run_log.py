"""Runs whose records stand in one file: the lines of a session, the messages of a protocol.

A reader adds turns to runs while it goes through the records; the traces are made when the file ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct, field

from passmuster.traces._building import Reading, located_error
from passmuster.traces._conversations import losing, malformed
from passmuster.traces._message_parts import Lose
from passmuster.traces._model import Agent, Fault, Place, Trace
from passmuster.traces._records import MALFORMED, UNREADABLE, BadRecord, Record
from passmuster.traces._turns import Turn, converse

_decode = msgspec.json.Decoder().decode


class RunLog(Struct):
    """One run: its turns so far, and what its records state about it."""

    first: Record
    turns: list[Turn] = field(default_factory=list)
    trace_id: str | None = None
    query: str | None = None
    answer: str | None = None
    agent: Agent | None = None
    error: Fault | None = None
    started_at: str | float | None = None
    total_tokens: int | None = None
    total_llm_calls: int | None = None
    total_duration_ms: float | None = None
    total_cost_usd: float | None = None
    scenario: str | None = None
    run: int | None = None
    inferred: tuple[str, ...] = ()
    calls_unknown: bool = False

    def add(self, turn: Turn, record: Record, index: int = -1) -> Turn:
        """Add a turn that a record, or an element of its list, holds."""
        turn.place = Place(record.offset, record.line, index)
        self.turns.append(turn)
        return turn

    def trace(self, reading: Reading, key: str = "steps") -> Trace:
        """The trace of this run."""
        said = converse(self.turns)
        return Trace(
            steps=said.steps,
            trace_id=self.trace_id,
            scenario=self.scenario,
            query=self.query if self.query is not None else said.query,
            answer=self.answer if self.answer is not None else said.answer,
            run=self.run,
            agent=self.agent,
            error=self.error,
            started_at=self.started_at,
            total_tokens=self.total_tokens,
            total_llm_calls=self.total_llm_calls,
            total_duration_ms=self.total_duration_ms,
            total_cost_usd=self.total_cost_usd,
            inferred=self.inferred,
            origin=reading.origin(self.first, said.places, key),
            calls_unknown=self.calls_unknown,
        )


Runs = dict[object, RunLog]
Add = Callable[[Mapping[str, Any], Record, Lose], None]


def decode_object(record: Record) -> Mapping[str, Any]:
    """The object that a record is. Raises `BadRecord` where it is none."""
    fields = _decode(record.data)
    if not isinstance(fields, Mapping):
        raise BadRecord(record.offset, "is not an object")
    return fields


def each_record(records: Iterator[Record], reading: Reading, add: Add) -> None:
    """Give each record, decoded, to `add`; report those that cannot be read."""
    for record in records:
        try:
            add(decode_object(record), record, losing(reading, record))
        except BadRecord as bad:
            reading.on_bad(bad)
        except UNREADABLE as error:
            reading.on_bad(located_error(record, error))
        except MALFORMED as error:
            reading.on_bad(malformed(record, error))
