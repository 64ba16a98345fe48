"""Calls that stand where no reader looks are refused, and what only resembles them is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.traces.building import Json, call, header, lines, read, read_past, refusal, result, said, tools, trace, write

from passmuster.traces._overlooked import find_calls, may_hold_calls

ASKED = [{"function": {"name": "d"}}]
USED = [{"type": "tool_use", "name": "d", "input": {}}]
MODEL: Json = {"type": "llm_call"}


# ── What tells of calls ─────────────────────────────────────────────────────────────────────────────────────

TELLING: list[tuple[Json, str]] = [
    ({"tool_calls": [{}]}, "tool_calls"),
    ({"toolCalls": [{"name": "d"}]}, "toolCalls"),
    ({"tool_call": {"name": "d"}}, "tool_call"),
    ({"function_call": {"name": "d"}}, "function_call"),
    ({"tools_called": ["d"]}, "tools_called"),
    ({"response": {"choices": [{"message": {"tool_calls": ASKED}}]}}, "tool_calls"),
    ({"response": {"content": USED}}, "tool_use"),
    ({"actions": [{"name": "d", "input": {}}]}, "actions"),
    ({"calls": ["start", {"tool": "d"}]}, "calls"),
    ({"events": [{"tool_name": "d"}]}, "events"),
    ({"spans": [{"type": "function_call"}]}, "spans"),
    ({"trajectory": [{"type": "tool_call"}]}, "trajectory"),
    ({"intermediate_steps": [[{"tool": "d", "tool_input": "x"}, "seen"]]}, "intermediate_steps"),
    ({"events": [{"action": {"tool": "d"}}]}, "events"),
    ({"messages": ASKED}, "messages"),
    ({"traj": [{"name": "d", "parameters": None}]}, "traj"),
]
SILENT: list[Json] = [
    {"tool_calls": 0},
    {"tool_calls": False},
    {"tool_calls": 3},
    {"tool_calls": []},
    {"function_call": "auto"},
    {"function_call": {}},
    {"tool_call": ""},
    {"tools_called": None},
    {"type": ["tool_use"]},
    {"metadata": {"tool_calls": ASKED}, "query": {"tool_calls": ASKED}, "answer": USED},
    {"steps": [{"arguments": {"tool_calls": ASKED}, "result": USED}]},
    {"events": [{"level": "info", "function": "main"}]},
    {"events": [{"name": "start"}, "tool", {"tool_name": ""}]},
    {"spans": [{"name": "llm", "tool": None, "input": {"messages": []}}]},
    {"calls": {"tool": 0, "llm": 2}},
    {"inner": {"actions": [{"tool": "d"}]}},
    {"messages": [{"role": "system", "tools": [{"name": "d", "parameters": {}}]}]},
]


@pytest.mark.parametrize(("record", "name"), TELLING)
def test_what_tells_of_calls(record: Json, name: str) -> None:
    assert find_calls(record) == name
    assert may_hold_calls(json.dumps(record).encode())
    assert may_hold_calls(json.dumps(record, indent=1, separators=(", ", " : ")).encode())


@pytest.mark.parametrize("record", SILENT, ids=json.dumps)
def test_what_tells_of_none(record: Json) -> None:
    assert find_calls(record) is None


def test_a_call_is_not_worth_a_look() -> None:
    assert not may_hold_calls(json.dumps(call("t", arguments={"a": 1}), indent=1).encode())


def test_depth_is_no_hiding_place() -> None:
    deep: Any = {"tool_calls": ASKED}
    for _ in range(10_000):
        deep = [deep]
    assert find_calls({"x": deep}) == "tool_calls"


# ── The native form ─────────────────────────────────────────────────────────────────────────────────────────

HIDDEN_IN_A_TRACE: list[tuple[Json, str]] = [
    (trace(messages=[{"role": "assistant", "tool_calls": ASKED}]), "holds 'tool_calls' and no call in its 'steps'"),
    ({"answer": "x", "actions": [{"name": "d", "input": {}}]}, "holds 'actions' and no call in its 'steps': give each"),
    ({"answer": "x", "toolCalls": ASKED}, "holds 'toolCalls' and"),
    ({"answer": "x", "tools_called": ["d"]}, "holds 'tools_called' and"),
    (trace(MODEL, said("assistant", USED)), "step 2 holds 'tool_use': give each call as a step of its own"),
    (trace({**MODEL, "response": {"tool_calls": [{"id": 1}]}}), "step 1 holds 'tool_calls'"),
    (trace(call(), {**said("assistant", ""), "toolCalls": ASKED}), "step 2 holds 'toolCalls'"),
    (
        trace(result(tool="t"), {**said("assistant", ""), "function_call": {"name": "d"}}),
        "step 2 holds 'function_call'",
    ),
    (trace(result(result=1), {**MODEL, "tool_calls": ASKED}), "step 2 holds 'tool_calls'"),
    (trace({**MODEL, "tool_calls": ASKED}, trace_id=1), "step 1 holds 'tool_calls'"),
]


@pytest.mark.parametrize(("record", "reason"), HIDDEN_IN_A_TRACE)
def test_a_trace_that_hides_calls_is_refused(tmp_path: Path, record: Json, reason: str) -> None:
    path = write(tmp_path / "t.jsonl", lines(trace(), record))
    assert refusal(path).startswith("t.jsonl:2: ")
    assert reason in refusal(path)
    assert read_past(path)[1] == 1


READ_AS_TRACES = [
    '{"answer": "x", "tool_calls": 0}',
    '{"answer": "x", "tool_calls": false}',
    '{"answer": "x", "tool_calls": [ ], "toolCalls": { }}',
    '{"answer": "x", "events": [{"level": "info", "function": "main"}]}',
    '{"answer": "x", "spans": [{"name": "llm", "tool": null}]}',
    '{"answer": "x", "calls": {"tool": 0, "llm": 2}}',
    '{"answer": "x", "metadata": {"tool_calls": [{"tool": "d"}]}}',
    '{"answer": "x", "noise": 1e400, "tool_calls": []}',
    '{"steps": [{"type": "llm_call", "function_call": "auto"}]}',
    '{"steps": [{"type": "message", "role": "assistant", "tool_calls": [ ], "function_call": "none"}]}',
    '{"steps": [{"type": "llm_call", "tool_calls": [{"id": 1}]}, {"type": "tool_result", "id": 1, "tool": "t"}]}',
    '{"steps": [{"type": "llm_call", "tool_calls": [{"id": 1}]}, {"type": "tool_call", "tool": "t"}]}',
    '{"steps": [{"type": "message", "role": "", "content": {"type": "tool_use"}}, {"type": "tool_call", "tool": "t"}]}',
]


@pytest.mark.parametrize("text", READ_AS_TRACES)
def test_a_trace_that_hides_none_is_read(tmp_path: Path, text: str) -> None:
    (found,) = read(write(tmp_path / "t.jsonl", text.encode()))
    assert tools(found) == (["t"] if '"t"' in text else [])


# ── Event lines ─────────────────────────────────────────────────────────────────────────────────────────────

HIDDEN_IN_EVENTS: list[tuple[Json, str]] = [
    (said("assistant", USED), "an event of a trace without tool calls cannot hold 'tool_use'"),
    ({**MODEL, "response": {"tool_calls": [{"id": 1}]}}, "of a trace without tool calls cannot hold 'tool_calls'"),
    ({**MODEL, "actions": [{"tool": "d"}]}, "cannot hold 'actions'"),
    ({"type": "handoff", "to": "b", "tools_called": ["d"]}, "cannot hold 'tools_called'"),
    ({**said("assistant", ""), "toolCalls": ASKED}, "a message cannot hold 'toolCalls'"),
    (header(answer="x", tool_calls=[{"tool": "d"}]), "holds 'tool_calls' and no call in its 'steps'"),
    (header(answer="x", actions=[{"name": "d", "input": {}}]), "holds 'actions' and no call in its 'steps'"),
    (header(steps=[MODEL, said("assistant", USED)]), "step 2 holds 'tool_use'"),
    (header(steps=[{**said("assistant", ""), "tool_calls": [{}]}]), "step 1 holds 'tool_calls'"),
]


@pytest.mark.parametrize(("event", "reason"), HIDDEN_IN_EVENTS)
def test_an_event_that_hides_calls_is_refused(tmp_path: Path, event: Json, reason: str) -> None:
    other, last = call("a", trace_id="a"), {**MODEL, "tool_calls": []}
    path = write(tmp_path / "e.jsonl", lines(other, {**event, "trace_id": "b"}, last))
    assert refusal(path).startswith("e.jsonl:2: ")
    assert reason in refusal(path)
    assert read_past(path)[1] == 1


@pytest.mark.parametrize("event", [said("assistant", USED), {**MODEL, "tool_calls": ASKED}, header(actions=ASKED)])
@pytest.mark.parametrize("made", [call("t"), result(tool="t"), header(steps=[call("t")])])
def test_an_event_may_repeat_what_others_tell(tmp_path: Path, event: Json, made: Json) -> None:
    for number, events in enumerate([(event, made), (made, event)]):
        (found,) = read(write(tmp_path / f"{number}.jsonl", lines(*events)))
        assert tools(found) == ["t"]


@pytest.mark.parametrize("made", [call("t"), header(steps=[call("t")])])
@pytest.mark.parametrize("key", ["tool_calls", "function_call"])
def test_a_message_may_not(tmp_path: Path, made: Json, key: str) -> None:
    message = {**said("assistant", ""), key: {"name": "d"}}
    for number, event in enumerate([message, header(query="q", steps=[message])]):
        assert refusal(write(tmp_path / f"{number}.jsonl", lines(made, event))).startswith(f"{number}.jsonl:2: ")


@pytest.mark.parametrize(
    "event",
    [
        {**MODEL, "function_call": "auto"},
        {**MODEL, "metadata": {"tool_calls": ASKED}},
        {**said("assistant", ""), "tool_calls": [], "function_call": "none"},
        header(answer="x", tool_calls=0, events=[{"level": "info", "function": "main"}]),
        header(steps=[{**MODEL, "tool_calls": []}], calls={"tool": 0, "llm": 2}),
    ],
    ids=json.dumps,
)
def test_an_event_that_hides_none_is_read(tmp_path: Path, event: Json) -> None:
    (found,) = read(write(tmp_path / "e.jsonl", lines(event)))
    assert tools(found) == []
