"""Runs of Agno: what an agent or a team returned, or a session with its runs.

Messages that a run repeats from earlier ones (`from_history`) belong to those. What members of a team did stands inside
the run of the team.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from passmuster.traces._building import Fields, Reading
from passmuster.traces._message_parts import Lose, arguments_of, entries, key_of, name_of, outcome
from passmuster.traces._messages import turns_of_message
from passmuster.traces._model import Fault, ToolCall, Trace
from passmuster.traces._records import BadRecord, Record
from passmuster.traces._run_log import RunLog, each_record
from passmuster.traces._turns import Turn, name_agents

DESCRIPTION = "Runs of Agno: what an agent or a team returned, or a session with its `runs`."
SHAPE = '{"run_id": …, "agent_id": …, "messages": […]}'
LACKS = ("handoffs", "cost", "times")

_WHO = ("agent_id", "agent_name", "team_id", "team_name", "member_responses")
_DEEPEST = 20


def detect(record: Fields) -> float:
    """Sure of a run of an agent or a team with messages or tools."""
    if "run_id" in record and any(key in record for key in _WHO) and ("messages" in record or "tools" in record):
        return 0.99
    runs = bytes(record.get("runs", b""))
    return 0.98 if runs[:1] == b"[" and b'"run_id"' in runs and "session_id" in record else 0


def splittable(first: Fields) -> bool:
    """Every record is a run or a session."""
    return True


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """One trace per run."""
    found: list[RunLog] = []

    def add(fields: Mapping[str, Any], record: Record, lose: Lose) -> None:
        listed = fields.get("runs")
        for one in listed if isinstance(listed, list) else [fields]:
            if not isinstance(one, Mapping) or not ("messages" in one or "tools" in one or "content" in one):
                raise BadRecord(record.offset, "is no run of Agno: it has no 'messages' and no 'tools'")
            if one.get("parent_run_id") is None:  # a member's run also stands inside that of its team
                found.append(_run(one, record, lose))

    each_record(records, reading, add)
    for run in found:
        yield run.trace(reading)


def _run(fields: Mapping[str, Any], record: Record, lose: Lose) -> RunLog:
    run = RunLog(record)
    run.trace_id = None if (name := key_of(fields, "run_id")) is None else str(name)
    _add(fields, record, lose, run, None, 0)
    name_agents(run.turns)
    asked = fields.get("input")
    asked = asked.get("input_content") if isinstance(asked, Mapping) else asked
    run.query = asked if isinstance(asked, str) else None
    run.answer = fields["content"] if isinstance(fields.get("content"), str) else None
    if str(fields.get("status")).upper().endswith("ERROR"):
        run.error, run.answer = Fault(run.answer or "the run failed"), None
    return run


def _add(fields: Mapping[str, Any], record: Record, lose: Lose, run: RunLog, parent: Any, depth: int) -> None:
    if depth > _DEEPEST:
        lose("nests members of teams too deeply", True)
        return
    who = next(
        (
            name
            for key in ("agent_name", "team_name", "agent_id", "team_id")
            if isinstance(name := fields.get(key), str)
        ),
        None,
    )
    for message in entries(fields, "messages", lose):
        if isinstance(message, Mapping) and message.get("from_history"):
            continue
        for turn in turns_of_message(message, lose):
            turn.agent, turn.parent = who, parent
            run.add(turn, record)
    known = {call.id for turn in run.turns for call in turn.calls}
    answered = {result.id for turn in run.turns for result in turn.results}
    for tool in entries(fields, "tools", lose):
        if isinstance(tool, Mapping) and "tool_name" in tool:
            _tool(tool, record, run, who, parent, known, answered)
    for member in entries(fields, "member_responses", lose):
        if isinstance(member, Mapping):
            inside = [
                call.id
                for turn in run.turns
                for call in turn.calls
                if "delegate" in call.tool or "transfer" in call.tool
            ]
            _add(member, record, lose, run, inside[-1] if inside else "team", depth + 1)


def _tool(
    tool: Mapping[str, Any],
    record: Record,
    run: RunLog,
    who: str | None,
    parent: Any,
    known: set[Any],
    answered: set[Any],
) -> None:
    """A tool that ran: the result of a call in the messages, or a call that these do not have."""
    key, name = key_of(tool, "tool_call_id"), name_of(tool, "tool_name")
    result = outcome(tool.get("result"), tool.get("tool_call_error"), key, name)
    if key is not None and key in known:
        if key not in answered:
            run.add(Turn("tool", results=[result]), record)
        return
    turn = Turn("assistant", no_model_call=True, agent=who, parent=parent)
    turn.calls.append(ToolCall(name, key, arguments_of(tool, "tool_args")))
    turn.results.append(result)
    run.add(turn, record)
