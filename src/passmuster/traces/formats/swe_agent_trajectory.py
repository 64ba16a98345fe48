"""Trajectories of SWE-agent (`.traj`) and of mini-swe-agent: tool calls, or commands in the text of the model.

A command that the text holds is a call of `bash`; what the environment says next is its result.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from passmuster.traces._building import Fields, Reading
from passmuster.traces._message_parts import Lose, outcome, text_of
from passmuster.traces._messages import turns_of_message
from passmuster.traces._model import Fault, ToolCall, Trace
from passmuster.traces._records import BadRecord, Record
from passmuster.traces._run_log import RunLog, each_record
from passmuster.traces._turns import Turn

DESCRIPTION = (
    "Trajectories of SWE-agent (`.traj`) and mini-swe-agent; a command in the model's text is a call of `bash`."
)
SHAPE = '{"trajectory": [{"action": …, "observation": …}], "history": […], "info": {…}}'
LACKS = ("errors", "agents", "handoffs", "times")

_SAID = ("role", "content", "tool_calls", "thinking_blocks")
_BLOCK = re.compile(r"```(?:bash|mswea_bash_command)[ \t]*\n(.*?)\n```", re.DOTALL)
"""How mini-swe-agent expects the one command of an answer."""


def detect(record: Fields) -> float:
    """Sure of steps with an action and an observation, and of what mini-swe-agent calls its format."""
    steps = bytes(record.get("trajectory", b""))
    if steps[:1] == b"[" and "info" in record and ("history" in record or b'"observation"' in steps):
        return 0.98
    return 0.99 if bytes(record.get("trajectory_format", b"")).startswith(b'"mini-swe-agent') else 0


def splittable(first: Fields) -> bool:
    """Every record is a run."""
    return False


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """The run of each record."""
    runs: list[RunLog] = []

    def add(fields: Mapping[str, Any], record: Record, lose: Lose) -> None:
        run = RunLog(record)
        said = fields.get("messages", fields.get("history"))
        if isinstance(said, list) and said:
            for message in said:
                if not message.get("is_demo"):
                    _add(message, "trajectory_format" in fields, run, record, lose)
        elif isinstance(fields.get("trajectory"), list):
            for step in fields["trajectory"]:
                _command(step.get("response"), step.get("action"), run, record)
                _result(step.get("observation"), run, record)
        else:
            raise BadRecord(record.offset, "is no trajectory of SWE-agent: expected a list 'history' or 'trajectory'")
        _state(fields.get("info"), run)
        runs.append(run)

    each_record(records, reading, add)
    for run in runs:
        yield run.trace(reading)


def _add(message: Mapping[str, Any], is_mini: bool, run: RunLog, record: Record, lose: Lose) -> None:
    role, text = message.get("role"), text_of(message.get("content"))
    awaited = bool(run.turns and run.turns[-1].calls and run.turns[-1].calls[-1].id is None)
    if role == "assistant" and not message.get("tool_calls"):
        found = _BLOCK.findall(text or "") if is_mini else [message.get("action")]
        _command(text, found[0] if len(found) == 1 else None, run, record)
    elif role == "user" and awaited:
        _result(text, run, record)
    elif role != "exit":
        said = {key: message[key] for key in _SAID if message.get(key) is not None}
        answered = message.get("tool_call_ids")
        if role == "tool":
            said["tool_call_id"] = answered[0] if answered else message.get("tool_call_id")
        for turn in turns_of_message(said, lose):
            run.add(turn, record)


def _command(text: Any, action: Any, run: RunLog, record: Record) -> None:
    turn = Turn("assistant", text if isinstance(text, str) else None)
    if isinstance(action, str) and action.strip():
        turn.calls.append(ToolCall("bash", None, {"command": action.strip("\n")}))
    run.add(turn, record)


def _result(observation: Any, run: RunLog, record: Record) -> None:
    if run.turns and run.turns[-1].calls:
        turn = Turn("tool")
        turn.results.append(outcome(observation, None, None, "bash"))
        run.add(turn, record)


def _state(info: Any, run: RunLog) -> None:
    if not isinstance(info, Mapping):
        return
    figures = info.get("model_stats")
    figures = figures if isinstance(figures, Mapping) else {}
    cost = figures.get("instance_cost", figures.get("total_cost"))
    run.total_cost_usd = cost if isinstance(cost, int | float) and cost >= 0 else None
    sent, received = figures.get("tokens_sent"), figures.get("tokens_received")
    run.total_tokens = sent + received if type(sent) is int and type(received) is int else None
    status = info.get("exit_status")
    if isinstance(status, str) and status.startswith("exit_"):
        run.error = Fault(status)
