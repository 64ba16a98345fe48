"""Results of LangChain's agent executor that were returned with their `intermediate_steps`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from passmuster.traces._building import Fields, Reading
from passmuster.traces._message_parts import Lose, arguments_of, key_of, name_of, outcome
from passmuster.traces._model import ToolCall, Trace
from passmuster.traces._records import BadRecord, Record
from passmuster.traces._run_log import RunLog, each_record
from passmuster.traces._turns import Turn

DESCRIPTION = "Results of LangChain's `AgentExecutor` with their `intermediate_steps`: actions and what they returned."
SHAPE = '{"input": …, "output": …, "intermediate_steps": [[{"tool": …, "tool_input": …}, …]]}'
LACKS = ("errors", "agents", "handoffs", "tokens", "cost", "times")


def detect(record: Fields) -> float:
    """Sure of a list of intermediate steps."""
    return 0.97 if bytes(record.get("intermediate_steps", b""))[:1] == b"[" else 0


def splittable(first: Fields) -> bool:
    """Every record is a run."""
    return False


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """The run of each record."""
    runs: list[RunLog] = []

    def add(fields: Mapping[str, Any], record: Record, lose: Lose) -> None:
        run = RunLog(record)
        if isinstance(fields.get("input"), str):
            run.add(Turn("user", fields["input"]), record)
        asked: Any = None
        for number, step in enumerate(fields["intermediate_steps"], 1):
            action = step[0] if isinstance(step, list) and len(step) == 2 else None
            action = action["kwargs"] if isinstance(action, Mapping) and "lc" in action else action
            if not isinstance(action, Mapping):
                where = f"'intermediate_steps' {number} is no pair of an action and what it returned"
                raise BadRecord(record.offset, f"{where}: write actions as objects (`langchain_core.load.dumps`)")
            # Actions that one output of the model asks for repeat its messages.
            said = action.get("message_log") or None
            if said is None or said != asked:
                run.add(Turn("assistant"), record)
            asked = said
            turn = run.turns[-1]
            key = key_of(action, "tool_call_id") or f"step {number}"
            turn.calls.append(ToolCall(name_of(action, "tool"), key, arguments_of(action, "tool_input")))
            turn.results.append(outcome(step[1], None, key))
        if isinstance(fields.get("output"), str):
            run.add(Turn("assistant", fields["output"]), record)
        runs.append(run)

    each_record(records, reading, add)
    for run in runs:
        yield run.trace(reading)
