"""Trajectories in the Agent Trajectory Interchange Format (ATIF), versions 1.0 to 1.8.

A step of the agent is one model call with its tool calls and what they returned. Trajectories of sub-agents may be
embedded; those in other files are named as lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from passmuster.traces._building import Fields, Reading, trace_per_record
from passmuster.traces._conversations import losing
from passmuster.traces._message_parts import (
    Lose,
    account_keys,
    arguments_of,
    entries,
    key_of,
    name_of,
    outcome,
    text_of,
)
from passmuster.traces._model import Agent, Key, ToolCall, Trace
from passmuster.traces._records import BadRecord, Record
from passmuster.traces._run_log import RunLog, decode_object
from passmuster.traces._turns import Turn, name_agents
from passmuster.traces._usage import usage_of

DESCRIPTION = "Trajectories in the Agent Trajectory Interchange Format, ATIF 1.0 to 1.8."
SHAPE = '{"schema_version": "ATIF-v1.7", "steps": […]}'
LACKS = ("errors", "handoffs")

_NEWEST = (1, 8)


_KNOWN = frozenset(
    {"step_id", "timestamp", "source", "model_name", "reasoning_effort", "message", "reasoning_content", "tool_calls"}
    | {"observation", "metrics", "extra", "llm_call_count", "is_copied_context"}
)


def detect(record: Fields) -> float:
    """Sure of a version of ATIF."""
    return 1 if bytes(record.get("schema_version", b"")).startswith(b'"ATIF') else 0


def splittable(first: Fields) -> bool:
    """Every record is a trajectory."""
    return True


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """One trace per record."""

    def build(record: Record) -> Trace:
        fields = decode_object(record)
        _check_version(fields, record.offset)
        run = RunLog(record)
        run.trace_id = None if (name := key_of(fields, "session_id", "trajectory_id")) is None else str(name)
        _trajectory(fields, run, losing(reading, record), None)
        agent = fields.get("agent")
        if isinstance(agent, Mapping):
            run.agent = Agent(
                *(value if isinstance(value := agent.get(key), str) else None for key in ("name", "version"))
            )
        _totals(fields, run)
        name_agents(run.turns, run.agent.name if run.agent else None)
        return run.trace(reading)

    return trace_per_record(records, reading, build)


def _check_version(fields: Mapping[str, Any], offset: int) -> None:
    stated = str(fields.get("schema_version"))
    found = re.fullmatch(r"ATIF-v?(\d{1,3})\.(\d{1,3})(?:\.\d{1,3})?", stated)
    if not found or (int(found[1]), int(found[2])) > _NEWEST:
        raise BadRecord(offset, f"is a trajectory of version {stated[:40]!r}: ATIF-v1.0 to ATIF-v1.8 are read")


def _trajectory(
    fields: Mapping[str, Any], run: RunLog, lose: Lose, parent: Key | None, agent: str | None = None
) -> None:
    steps = fields.get("steps")
    if not isinstance(steps, list):
        raise BadRecord(run.first.offset, "is a trajectory without 'steps'")
    inner = {
        str(key): one
        for one in entries(fields, "subagent_trajectories", lose)
        if isinstance(one, Mapping)
        for key in (one.get("session_id"), one.get("trajectory_id"))
        if key is not None
    }
    for index, step in enumerate(steps):
        if not isinstance(step, Mapping):
            raise BadRecord(run.first.offset, f"step {index + 1} is not an object")
        _step(step, index, run, lose, parent, agent, inner)
    for one in {id(one): one for one in inner.values()}.values():
        lose("embeds a trajectory of a sub-agent that no step refers to", bool(one))


def _step(
    step: Mapping[str, Any],
    index: int,
    run: RunLog,
    lose: Lose,
    parent: Key | None,
    agent: str | None,
    inner: dict[str, Mapping[str, Any]],
) -> None:
    source = step.get("source")
    role = "assistant" if source == "agent" else source if source in ("user", "system") else "user"
    turn = Turn(role, text_of(step.get("message")), parent=parent, agent=agent)
    for call in entries(step, "tool_calls", lose):
        if not isinstance(call, Mapping):
            raise BadRecord(run.first.offset, f"step {index + 1} has a tool call that is not an object")
        key = key_of(call, "tool_call_id")
        turn.calls.append(ToolCall(name_of(call, "function_name"), key, arguments_of(call, "arguments")))
    if role == "assistant":
        metrics = step.get("metrics")
        metrics = metrics if isinstance(metrics, Mapping) else {}
        turn.usage = usage_of({key: value for key, value in metrics.items() if key != "extra"})
        turn.cost_usd = metrics["cost_usd"] if isinstance(metrics.get("cost_usd"), int | float) else None
        turn.model = step["model_name"] if isinstance(step.get("model_name"), str) else None
        turn.no_model_call = step.get("llm_call_count") == 0
    account_keys(step, _KNOWN, f"step {index + 1}", lose)
    turn.started_at = step.get("timestamp") if isinstance(step.get("timestamp"), str) else None
    observation = step.get("observation")
    results = observation.get("results") if isinstance(observation, Mapping) else None
    delegated: list[tuple[Any, Key | None]] = []
    for result in results if isinstance(results, list) else ():
        if isinstance(result, Mapping):
            key = key_of(result, "source_call_id")
            if key is None and not turn.calls:
                continue  # what the environment showed, not the result of a call
            turn.results.append(outcome(result.get("content"), _failed(result.get("extra")), key))
            delegated.append((result.get("subagent_trajectory_ref"), key))
    run.add(turn, run.first, index)
    for references, key in delegated:
        for reference in references if isinstance(references, list) else [references] if references else ():
            name = key_of(reference, "session_id", "trajectory_id") if isinstance(reference, Mapping) else None
            one = inner.pop(str(name), None)
            if one is None:
                lose(f"refers to the trajectory of a sub-agent in another file ({str(name)[:60]})", False)
            else:
                about = one.get("agent")
                who = about.get("name") if isinstance(about, Mapping) else None
                _trajectory(one, run, lose, key, who if isinstance(who, str) else None)


def _failed(extra: Any) -> Any:
    """Whether the converter kept that a call failed: a flag somewhere in its extra fields."""
    if not isinstance(extra, Mapping):
        return None
    for key, value in extra.items():
        if key in ("is_error", "isError") and value is True:
            return True
        if key in ("error", "errorText") and isinstance(value, str) and value:
            return value
        if isinstance(value, Mapping) and (found := _failed(value)):
            return found
    return None


def _totals(fields: Mapping[str, Any], run: RunLog) -> None:
    stated = fields.get("final_metrics")
    if isinstance(stated, Mapping):
        given, made, cost = (stated.get(f"total_{name}") for name in ("prompt_tokens", "completion_tokens", "cost_usd"))
        if type(given) is int and type(made) is int:
            run.total_tokens = given + made
        if isinstance(cost, int | float) and cost >= 0:
            run.total_cost_usd = float(cost)
