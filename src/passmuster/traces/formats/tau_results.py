"""Results of tau2-bench: a simulation of a customer and an agent per run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from passmuster.traces._building import Fields, Reading
from passmuster.traces._message_parts import Lose, account_keys
from passmuster.traces._messages import turns_of_message
from passmuster.traces._model import Trace
from passmuster.traces._records import BadRecord, Record
from passmuster.traces._run_log import RunLog, each_record

DESCRIPTION = "Results of tau2-bench, a trace per simulation; calls of the simulated user are left out."
SHAPE = '{"tasks": […], "simulations": [{"task_id": …, "messages": […]}]}'
LACKS = ("agents", "handoffs", "times")

_SAID = ("role", "content", "tool_calls", "usage", "error")
_KNOWN = frozenset({"tool_calls", "raw_data"})
"""What a message has that could look like a call; `raw_data` repeats it as the model's API wrote it."""


def detect(record: Fields) -> float:
    """Sure of simulations with messages."""
    listed = bytes(record.get("simulations", b""))
    return 0.98 if listed[:1] == b"[" and (b'"messages"' in listed or "tasks" in record) else 0


def splittable(first: Fields) -> bool:
    """A record holds several runs."""
    return False


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """The simulations of each record."""
    runs: list[RunLog] = []

    def add(fields: Mapping[str, Any], record: Record, lose: Lose) -> None:
        simulations = fields.get("simulations")
        if not isinstance(simulations, list):
            raise BadRecord(record.offset, "is no result of tau2-bench: expected a list 'simulations'")
        runs.extend([_run(one, record, lose) for one in simulations])

    each_record(records, reading, add)
    for run in runs:
        yield run.trace(reading)


def _run(simulation: Mapping[str, Any], record: Record, lose: Lose) -> RunLog:
    task, trial, lasted = simulation.get("task_id"), simulation.get("trial"), simulation.get("duration")
    run = RunLog(
        record,
        trace_id=str(simulation["id"]) if simulation.get("id") is not None else None,
        scenario=str(task) if task is not None else None,
        run=trial if type(trial) is int else None,
        total_duration_ms=lasted * 1000.0 if isinstance(lasted, int | float) and lasted >= 0 else None,
    )
    for message in simulation["messages"]:
        for one in message.get("tool_messages") or [message]:
            _add(one, run, record, lose)
    return run


def _add(message: Mapping[str, Any], run: RunLog, record: Record, lose: Lose) -> None:
    calls = message.get("tool_calls") or []
    if message.get("requestor") == "user" or any(call.get("requestor") == "user" for call in calls):
        return  # the simulated user's own tools
    account_keys(message, _KNOWN, "a message", lose)
    said = {key: message[key] for key in _SAID if message.get(key) is not None}
    if message.get("role") == "tool":
        said["tool_call_id"] = message.get("id")
    for turn in turns_of_message(said, lose):
        cost = message.get("cost")
        turn.cost_usd = cost if turn.role == "assistant" and isinstance(cost, int | float) and cost >= 0 else None
        run.add(turn, record)
