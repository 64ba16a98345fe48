"""Traces of Assay: events of episodes (its second version), or a record per answer or per tool call (the first)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from passmuster.traces._building import Fields, Reading
from passmuster.traces._message_parts import Lose, arguments_of, could_hold_call, entries, key_of, name_of, outcome
from passmuster.traces._messages import call_of
from passmuster.traces._model import Fault, Key, ToolCall, Trace
from passmuster.traces._records import UNREADABLE, BadRecord, Record
from passmuster.traces._run_log import RunLog, Runs, each_record
from passmuster.traces._turns import Turn

DESCRIPTION = "Traces of Assay: events of episodes, or a record per answer or per tool call."
SHAPE = '{"type": "tool_call", "episode_id": …, "tool_name": …}'
LACKS = ("agents", "handoffs", "tokens", "cost", "times")

_EVENTS = (b'"episode_start"', b'"step"', b'"tool_call"', b'"episode_end"')
_ANSWERS = (b'"assay.trace"', b'"verdict.trace"')


def detect(record: Fields) -> float:
    """Sure of the events of an episode, and of the type of an answer."""
    kind = bytes(record.get("type", b""))
    if "episode_id" in record and kind in _EVENTS:
        return 1
    if kind in _ANSWERS:
        return 1
    if kind == b'"call_tool"' and "tool" in record:
        return 0.9
    if not kind and "prompt" in record and "response" in record and bytes(record["response"])[:1] == b'"':
        return 0.7
    return 0.6 if not kind and "tool" in record and "args" in record and "steps" not in record else 0


def splittable(first: Fields) -> bool:
    """The events of an episode have to be read together."""
    return False


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """One trace per episode, per answer, or of all calls of a test."""
    runs: Runs = {}
    steps: dict[tuple[object, str], Turn] = {}

    def add(line: Mapping[str, Any], record: Record, lose: Lose) -> None:
        if "episode_id" in line:
            name: Key | None = key_of(line, "episode_id")
            run = runs.setdefault(("episode", name), RunLog(record, trace_id=str(name)))
            _event(line, record, lose, run, steps, name)
        elif "response" in line and "prompt" in line:
            run = runs.setdefault(record.offset, RunLog(record))
            _answer(line, record, lose, run)
        elif isinstance(line.get("tool"), str):
            name = key_of(line, "test_id", "trace_id")
            run = runs.setdefault(("calls", name), RunLog(record, trace_id=None if name is None else str(name)))
            _call(line, record, run)
        else:
            raise BadRecord(record.offset, "is no line of a trace of Assay: it has no 'episode_id' and no 'response'")

    each_record(records, reading, add)
    for run in runs.values():
        yield run.trace(reading)


def _event(
    line: Mapping[str, Any],
    record: Record,
    lose: Lose,
    run: RunLog,
    steps: dict[tuple[object, str], Turn],
    name: Key | None,
) -> None:
    kind = line.get("type")
    if kind == "episode_start":
        given = line.get("input")
        asked = given.get("prompt") if isinstance(given, Mapping) else given
        run.query = asked if isinstance(asked, str) else run.query
    elif kind == "step":
        turn = _step(line, run)
        steps[(name, str(line.get("step_id")))] = run.add(turn, record)
    elif kind == "tool_call":
        step = str(line.get("step_id"))
        known = steps.get((name, step))
        if known is None or known.role != "assistant":
            known = steps[(name, step)] = run.add(Turn("assistant", no_model_call=True), record)
        key = key_of(line, "tool_call_id") or f"{step}/{line.get('call_index') or len(known.calls)}"
        tool = name_of(line, "tool_name")
        known.calls.append(ToolCall(tool, key, arguments_of(line, "args")))
        if line.get("result") is not None or line.get("error"):
            known.results.append(outcome(line.get("result"), line.get("error"), key, tool))
    elif kind == "episode_end":
        final = line.get("final_output")
        run.answer = final if isinstance(final, str) else run.answer
        if line.get("outcome") == "error":
            run.error = Fault(str(final or "the episode ended with an error"))
    else:
        lose(f"has an event of the unknown type {str(kind)[:60]!r}", could_hold_call(line))


def _step(line: Mapping[str, Any], run: RunLog) -> Turn:
    if line.get("kind") not in ("model", "llm"):
        return Turn("assistant", no_model_call=True)
    content = line.get("content")
    turn = Turn("assistant", content if isinstance(content, str) and content else None)
    if isinstance(content, str) and content.startswith("{"):
        try:
            inner = msgspec.json.decode(content)
        except UNREADABLE:
            return turn
        if isinstance(inner, dict) and "completion" in inner:
            said, asked = inner.get("completion"), inner.get("prompt")
            turn.text = said if isinstance(said, str) else None
            turn.model = inner["model"] if isinstance(inner.get("model"), str) else None
            if run.query is None and isinstance(asked, str):
                run.query = asked
    return turn


def _answer(line: Mapping[str, Any], record: Record, lose: Lose, run: RunLog) -> None:
    run.trace_id = None if (name := key_of(line, "request_id", "id")) is None else str(name)
    run.query = line["prompt"] if isinstance(line["prompt"], str) else None
    run.answer = line["response"] if isinstance(line["response"], str) else None
    meta = line.get("meta")
    holders = [line, meta if isinstance(meta, Mapping) else {}]
    turn = Turn("assistant")
    for holder in holders:
        for call in entries(holder, "tool_calls", lose):
            turn.calls.append(call_of(call, lose))
            if isinstance(call, Mapping) and (call.get("result") is not None or call.get("error")):
                made = turn.calls[-1]
                turn.results.append(outcome(call.get("result"), call.get("error"), made.id, made.tool))
    if isinstance(single := line.get("function_call"), Mapping):
        turn.calls.append(call_of(single, lose))
    if isinstance(line.get("tool"), str):
        turn.calls.append(ToolCall(line["tool"], None, arguments_of(line, "args", "arguments")))
    run.add(turn, record)


def _call(line: Mapping[str, Any], record: Record, run: RunLog) -> None:
    turn = Turn("assistant", no_model_call=True)
    turn.calls.append(ToolCall(line["tool"], key_of(line, "id"), arguments_of(line, "args", "arguments", "params")))
    if line.get("result") is not None or line.get("error"):
        turn.results.append(outcome(line.get("result"), line.get("error"), key_of(line, "id"), line["tool"]))
    run.add(turn, record)
