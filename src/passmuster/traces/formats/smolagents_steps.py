"""Steps of smolagents: the memory of an agent, as a list, one step per record, or in the result of a run.

A step of an agent is one model call with its tool calls. What several calls of a step returned is one text, which is
kept as a message, for it does not say which call it is of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from passmuster.traces._building import Fields, Reading
from passmuster.traces._message_parts import Lose, account_keys, entries, outcome
from passmuster.traces._messages import call_of
from passmuster.traces._model import Fault, Trace
from passmuster.traces._records import BadRecord, Record
from passmuster.traces._run_log import RunLog, Runs, each_record
from passmuster.traces._turns import Turn
from passmuster.traces._usage import usage_of

DESCRIPTION = "Steps of smolagents: the memory of an agent, or the result of a run."
SHAPE = '{"step_number": 1, "tool_calls": […], "observations": …}'
LACKS = ("agents", "handoffs", "cost")

_ACTION = ("observations", "model_output", "model_output_message", "action_output", "is_final_answer")
_NO_CALLS = frozenset(
    {"timing", "error", "model_input_messages", "code_action", "token_usage", "agent_memory", *_ACTION}
    - {"model_output_message"}
)
"""What a step may have beside its calls."""
_MARKS = (b'"step_number"', b'"model_output"', b'"observations"')


def detect(record: Fields) -> float:
    """Sure of an action with its number and observations; of a task and a plan beside nothing else, less."""
    if "step_number" in record and any(key in record for key in _ACTION):
        return 1
    if "steps" in record and any(mark in bytes(record["steps"]) for mark in _MARKS[1:]):
        return 0.98 if _MARKS[0] in bytes(record["steps"]) else 0
    if "system_prompt" in record and len(record) == 1:
        return 0.9
    return (
        0.9
        if ("task" in record and set(record) <= {"task", "task_images"}) or ("plan" in record and "timing" in record)
        else 0
    )


def splittable(first: Fields) -> bool:
    """Every record is a run, unless each is a step."""
    return "steps" in first


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """One trace per run; a task begins one."""
    runs: Runs = {}
    key = "steps" if "steps" in reading.first else ""

    def add(fields: Mapping[str, Any], record: Record, lose: Lose) -> None:
        if "steps" not in fields:
            if "task" in fields or not runs:
                runs[len(runs)] = RunLog(record)
            _step(fields, record, -1, lose, runs[len(runs) - 1])
            return
        steps = fields["steps"]
        if not isinstance(steps, list):
            raise BadRecord(record.offset, "is a run whose 'steps' are no list")
        run = runs[len(runs)] = RunLog(record)
        for index, step in enumerate(steps):
            if not isinstance(step, Mapping):
                raise BadRecord(record.offset, f"step {index + 1} is not an object")
            _step(step, record, index, lose, run)
        if isinstance(fields.get("output"), str):
            run.answer = fields["output"]

    each_record(records, reading, add)
    for run in runs.values():
        yield run.trace(reading, key or "steps")


def _step(step: Mapping[str, Any], record: Record, index: int, lose: Lose, run: RunLog) -> None:
    if isinstance(step.get("task"), str):
        run.add(Turn("user", step["task"]), record, index)
    elif isinstance(step.get("system_prompt"), str):
        run.add(Turn("system", step["system_prompt"]), record, index)
    elif "plan" in step:
        turn = run.add(Turn("assistant", None), record, index)
        turn.usage = usage_of(step.get("token_usage"))
    elif "step_number" in step or any(key in step for key in _ACTION):
        _action(step, record, index, lose, run)
    elif "output" in step:
        run.answer = _text(step["output"])
    else:
        lose("is a step of an unknown kind: it has no 'task', no 'step_number' and no 'plan'", True)


def _action(step: Mapping[str, Any], record: Record, index: int, lose: Lose, run: RunLog) -> None:
    turn = Turn("assistant")
    for call in entries(step, "tool_calls", lose):
        turn.calls.append(call_of(call, lose))
    if "tool_calls" not in step:
        account_keys(step, _NO_CALLS, "a step", lose)
    said = step.get("model_output")
    turn.text = said if isinstance(said, str) and not turn.calls else None
    turn.usage = usage_of(step.get("token_usage"))
    timing = step.get("timing")
    lasted = timing.get("duration") if isinstance(timing, Mapping) else step.get("duration")
    turn.duration_ms = lasted * 1000.0 if isinstance(lasted, int | float) and lasted >= 0 else None
    run.add(turn, record, index)
    error, seen = step.get("error"), step.get("observations")
    reason = (error.get("message") or True) if isinstance(error, Mapping) else error
    if len(turn.calls) == 1:
        call = turn.calls[0]
        if seen is not None or reason or step.get("action_output") is not None:
            value = seen if seen not in (None, "") or step.get("action_output") is None else step["action_output"]
            turn.results.append(outcome(value, reason, call.id, call.tool))
    elif turn.calls:
        if isinstance(seen, str):
            run.add(Turn("tool", seen), record, index)
        for call in turn.calls if reason else ():
            turn.results.append(outcome(None, reason, call.id, call.tool))
    elif reason:
        run.error = Fault(str(reason))
    if not reason:
        run.error = None
    if step.get("is_final_answer") or any(call.tool == "final_answer" for call in turn.calls):
        run.answer = _text(step.get("action_output", seen))


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else msgspec.json.encode(value).decode()
