"""Calls that stand where no reader looks are refused, and what only resembles them is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from tests.traces.building import Json, call, header, lines, read, read_past, refusal, result, said, tools, trace, write

from passmuster._problems import TraceError
from passmuster.traces._model import ToolCall
from passmuster.traces._overlooked import find_calls, hidden_calls, unaccounted

ASKED = [{"function": {"name": "d"}}]
USED = [{"type": "tool_use", "name": "d", "input": {}}]
MODEL: Json = {"type": "llm_call"}


# ── What tells of calls ─────────────────────────────────────────────────────────────────────────────────────

TELLING: list[tuple[Json, str]] = [
    ({"tool_calls": [{}]}, "tool_calls"),
    ({"toolCalls": [{"name": "d"}]}, "toolCalls"),
    ({"tool_call": {"name": "d"}}, "tool_call"),
    ({"function_call": {"name": "d"}}, "function_call"),
    ({"functionCall": {"name": "d", "args": {}}}, "functionCall"),
    ({"toolUse": {"name": "d", "input": {}}}, "toolUse"),
    ({"tools_called": ["d"]}, "tools_called"),
    ({"tool_calls": '[{"name": "d"}]'}, "tool_calls"),
    ({"tool_results": [{"name": "d"}]}, "tool_results"),
    ({"response": {"choices": [{"message": {"tool_calls": ASKED}}]}}, "tool_calls"),
    ({"additional_kwargs": {"tool_calls": ASKED}}, "tool_calls"),
    ({"response": {"content": USED}}, "tool_use"),
    ({"response": {"content": [{"type": "mcp_tool_use", "name": "d"}]}}, "mcp_tool_use"),
    ({"parts": [{"type": "tool-call", "toolName": "d"}]}, "tool-call"),
    ({"output": [{"type": "web_search_call", "id": "1"}]}, "web_search_call"),
    ({"actions": [{"name": "d", "input": {}}]}, "actions"),
    ({"action": {"action": "d", "action_input": "x"}}, "action"),
    ({"calls": ["start", {"tool": "d"}]}, "calls"),
    ({"events": [{"tool_name": "d"}]}, "events"),
    ({"spans": [{"type": "function_call"}]}, "function_call"),
    ({"trajectory": [{"type": "tool_call"}]}, "tool_call"),
    ({"children": [{"children": [{"type": "tool_call", "tool": "d"}]}]}, "tool_call"),
    ({"turns": [{"steps": [{"type": "tool_call", "tool": "d"}]}]}, "tool_call"),
    ({"intermediate_steps": [[{"tool": "d", "tool_input": "x"}, "seen"]]}, "intermediate_steps"),
    ({"events": [{"action": {"tool": "d", "args": {}}}]}, "action"),
    ({"inner": {"actions": [{"tool": "d"}]}}, "actions"),
    ({"messages": ASKED}, "messages"),
    ({"traj": [{"name": "d", "parameters": None}]}, "traj"),
]
SILENT: list[Json] = [
    {"tool_calls": 0},
    {"tool_calls": False},
    {"tool_calls": 3},
    {"tool_calls": []},
    {"tool_calls": "none"},
    {"function_call": "auto"},
    {"function_call": {}},
    {"tool_call": ""},
    {"tools_called": None},
    {"type": ["tool_use"]},
    {"metadata": {"tool_calls": ASKED}},
    {"expected_tool_calls": ASKED, "reference": {"actions": ASKED}},
    {"info": {"task": {"actions": [{"name": "d", "kwargs": {}}]}, "reward_info": {"actions": [{"name": "d"}]}}},
    {"events": [{"level": "info", "function": "main"}]},
    {"events": [{"name": "start"}, "tool", {"tool_name": ""}]},
    {"spans": [{"name": "llm", "tool": None, "input": {"messages": []}}]},
    {"calls": {"tool": 0, "llm": 2}},
    {"messages": [{"role": "system", "tools": [{"name": "d", "parameters": {}}]}]},
    {"config": [{"name": "d", "parameters": {"type": "object", "properties": {}}}]},
    {"usage": {"input_tokens": 3}, "images": [{"type": "image_url", "url": "x"}]},
]


def found(record: Json) -> list[str]:
    return [one.name for one in hidden_calls({name: Raw(json.dumps(value).encode()) for name, value in record.items()})]


@pytest.mark.parametrize(("record", "name"), TELLING)
def test_what_tells_of_calls(record: Json, name: str) -> None:
    assert found(record)[:1] == [name]


@pytest.mark.parametrize("record", SILENT, ids=json.dumps)
def test_what_tells_of_none(record: Json) -> None:
    assert found(record) == []


def test_depth_is_no_hiding_place() -> None:
    deep: Any = {"tool_calls": ASKED}
    for _ in range(10_000):
        deep = [deep]
    assert [one.tool for one in find_calls({"x": deep})] == ["d"]


REPEATS: list[tuple[Json, bool]] = [
    ({"name": "d"}, True),
    ({"name": "other"}, False),
    ({"name": "d", "id": "c1"}, True),
    ({"name": "d", "id": "c2"}, False),
    ({"id": "c1"}, True),
    ({"id": "c2"}, False),
    ({"name": "d", "arguments": {"a": 1}}, True),
    ({"name": "d", "arguments": '{"a": 1}'}, True),
    ({"name": "d", "arguments": {"a": 2}}, False),
    ({"name": "d", "arguments": "broken {"}, False),
]


@pytest.mark.parametrize(("hidden", "repeats"), REPEATS)
def test_calls_of_the_trace_may_be_repeated(hidden: Json, repeats: bool) -> None:
    recorded = [ToolCall("a", "c0"), ToolCall("d", "c1", {"a": 1})]
    assert list(unaccounted(find_calls([hidden], "tool_calls"), recorded)) == (
        [] if repeats else [*find_calls([hidden], "tool_calls")]
    )


# ── The native form ─────────────────────────────────────────────────────────────────────────────────────────

NESTED = {"type": "tool_call", "tool": "d", "arguments": {}}
HIDDEN_IN_A_TRACE: list[tuple[Json, str]] = [
    (trace(messages=[{"role": "assistant", "tool_calls": ASKED}]), "the trace holds a call of 'd' in 'tool_calls'"),
    (
        {"answer": "x", "actions": [{"name": "d", "input": {}}]},
        "in 'actions', which is not read: give each call as a step",
    ),
    ({"answer": "x", "toolCalls": ASKED}, "in 'toolCalls'"),
    ({"answer": "x", "tools_called": ["d"]}, "in 'tools_called'"),
    (trace(MODEL, said("assistant", USED)), "a message of the assistant holds a call of 'd' in 'tool_use'"),
    (trace({**MODEL, "response": {"tool_calls": [{"id": 1}]}}), "step 1 holds a tool call in 'tool_calls'"),
    (trace(call(), {**said("assistant", ""), "toolCalls": ASKED}), "step 2 holds a call of 'd' in 'toolCalls'"),
    (trace(result(tool="t"), {**said("assistant", ""), "function_call": {"name": "d"}}), "step 2 holds a call of 'd'"),
    (trace(result(result=1), {**MODEL, "tool_calls": ASKED}), "step 2 holds"),
    (trace({**MODEL, "tool_calls": ASKED}, trace_id=1), "step 1 holds"),
    (trace(call(), {**MODEL, "steps": [NESTED]}), "step 2 holds a call of 'd'"),
    (trace(call(), {**MODEL, "children": [{"children": [NESTED]}]}), "step 2 holds a call of 'd'"),
    (trace(call(), {"type": "handoff", "to": "b", "steps": [NESTED]}), "step 2 holds a call of 'd'"),
    (trace({**call(), "children": [NESTED]}), "step 1 holds a call of 'd'"),
    (trace(call(), turns=[{"steps": [NESTED]}]), "the trace holds a call of 'd'"),
    (trace(call(), agent={"name": "a", "steps": [NESTED]}), "'agent' holds a call of 'd'"),
    (trace(call(), error={"message": "", "tool_calls": [NESTED]}), "'error' holds a call of 'd'"),
    (trace({**call(), "input": {"a": 1}}), "the call of 'look' has 'input' where its 'arguments' are expected"),
    (trace({**call(arguments={}), "input": {"a": 1}}), "has 'input' beside its 'arguments', and they differ"),
    (trace({**call(arguments={"a": 2}), "toolInput": '{"a": 1}'}), "has 'toolInput' beside its 'arguments'"),
    (trace({**call(), "tool_arguments": {"a": 1}}), "has 'tool_arguments' where"),
    (trace({**call(), "payload": {"a": 1}}), "has 'payload' where"),
    (trace({**result(tool="t"), "args": {"a": 1}}), "the result of 't' has 'args' where"),
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
    '{"steps": [{"type": "tool_call", "tool": "t", "arguments": {"a": 1}, "args": {"a": 1}, "input": {}}]}',
    '{"steps": [{"type": "tool_call", "tool": "t", "arguments": {}, "note": "x", "took": 3}], "extra": [1]}',
]


@pytest.mark.parametrize("text", READ_AS_TRACES)
def test_a_trace_that_hides_none_is_read(tmp_path: Path, text: str) -> None:
    (one,) = read(write(tmp_path / "t.jsonl", text.encode()))
    assert tools(one) == (["t"] if '"t"' in text else [])


# ── Event lines ─────────────────────────────────────────────────────────────────────────────────────────────

HIDDEN_IN_EVENTS: list[tuple[Json, str]] = [
    (said("assistant", USED), "a message of the assistant holds a call of 'd' in 'tool_use'"),
    ({**MODEL, "response": {"tool_calls": [{"id": 1}]}}, "the event holds a tool call in 'tool_calls'"),
    ({**MODEL, "actions": [{"tool": "d"}]}, "the event holds a call of 'd' in 'actions'"),
    ({"type": "handoff", "to": "b", "tools_called": ["d"]}, "in 'tools_called'"),
    ({"type": "handoff", "to": "b", "steps": [NESTED]}, "the event holds a call of 'd'"),
    ({**said("assistant", ""), "toolCalls": ASKED}, "in 'toolCalls'"),
    (header(answer="x", tool_calls=[{"tool": "d"}]), "the trace holds a call of 'd' in 'tool_calls'"),
    (header(answer="x", actions=[{"name": "d", "input": {}}]), "in 'actions'"),
    (header(steps=[MODEL, said("assistant", USED)]), "in 'tool_use'"),
    (header(steps=[{**said("assistant", ""), "tool_calls": [{}]}]), "step 1 holds a tool call in 'tool_calls'"),
    ({**call(), "kwargs": {"a": 1}}, "the call of 'look' has 'kwargs' where"),
]


@pytest.mark.parametrize(("event", "reason"), HIDDEN_IN_EVENTS)
def test_an_event_that_hides_calls_is_refused(tmp_path: Path, event: Json, reason: str) -> None:
    other, last = call("a", trace_id="a"), {**MODEL, "tool_calls": []}
    path = write(tmp_path / "e.jsonl", lines(other, {**event, "trace_id": "b"}, last))
    assert refusal(path).startswith("e.jsonl:2: ")
    assert reason in refusal(path)
    assert read_past(path)[1] == 1


@pytest.mark.parametrize("event", [said("assistant", USED), {**MODEL, "tool_calls": ASKED}, header(actions=ASKED)])
@pytest.mark.parametrize("made", [call("d"), result(tool="d"), header(steps=[call("d")])])
def test_an_event_may_repeat_what_others_tell(tmp_path: Path, event: Json, made: Json) -> None:
    for number, events in enumerate([(event, made), (made, event)]):
        (one,) = read(write(tmp_path / f"{number}.jsonl", lines(*events)))
        assert tools(one) == ["d"]


@pytest.mark.parametrize("made", [call("t"), header(steps=[call("t")])])
@pytest.mark.parametrize("key", ["tool_calls", "function_call"])
def test_but_no_other_call(tmp_path: Path, made: Json, key: str) -> None:
    message = {**said("assistant", ""), key: {"name": "d"}}
    for number, event in enumerate([message, header(query="q", steps=[message] if made["type"] != "trace" else None)]):
        if event.get("steps", True) is not None:
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
    (one,) = read(write(tmp_path / "e.jsonl", lines(event)))
    assert tools(one) == []


# ── Inside messages ─────────────────────────────────────────────────────────────────────────────────────────

INSIDE: list[Json] = [
    {"role": "assistant", "content": "ok", "additional_kwargs": {"tool_calls": [{"id": "1", **ASKED[0]}]}},
    {"role": "assistant", "content": "ok", "additional_kwargs": {"function_call": {"name": "d", "arguments": "{}"}}},
    {"role": "assistant", "content": "ok", "invalid_tool_calls": [{"name": "d", "args": "{"}]},
    {"role": "assistant", "content": "ok", "function_call": USED},
    {"role": "assistant", "content": "ok", "provider_specific_fields": {"tool_calls": ASKED}},
    {"role": "assistant", "content": "ok", "reasoning_details": USED},
    {"role": "assistant", "content": [{"type": "text", "text": "ok"}], "parts": USED},
    {"role": "assistant", "content": [{"type": "text", "text": "ok", "toolUse": {"name": "d", "input": {}}}]},
    {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "content": USED}]},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "a", "input": {}, "children": USED}]},
    {"role": "assistant", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "x", "steps": USED}]},
    {"role": "model", "parts": [{"functionCall": {"name": "a", "args": {}, "steps": USED}}]},
    {"role": "tool", "tool_call_id": "1", "name": "a", "content": "x", "children": USED},
    {"type": "human", "content": "x", "tool_calls": [{"name": "d", "args": {}, "id": "1"}]},
    {"type": "ai", "content": "x", "response_metadata": {"message": {"tool_calls": ASKED}}},
    {"type": "tool", "tool_call_id": "1", "content": "x", "events": USED},
]


@pytest.mark.parametrize("message", INSIDE, ids=range(len(INSIDE)))
def test_a_call_inside_a_message_is_read_or_refused(tmp_path: Path, message: Json) -> None:
    path = write(tmp_path / "t.json", {"messages": [{"role": "user", "content": "q"}, message]})
    try:
        found = tools(read(path)[0])
    except TraceError:  # refused, with the place; what it says is tested above
        found = ["d"]
    assert "d" in found


def test_what_only_resembles_a_call_inside_a_message_is_read(tmp_path: Path) -> None:
    """Figures, edits of the context, and calls that the message has anyway."""
    beside = {
        "usage": {"input_tokens": 1, "server_tool_use": {"web_search_requests": 1}},
        "context_management": {"applied_edits": [{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 2}]},
        "metadata": {"tool_calls": ASKED},
        "annotations": [{"type": "url_citation", "url": "https://example.org"}],
        "additional_kwargs": {"tool_calls": [{"id": "1", "function": {"name": "a", "arguments": "{}"}}]},
        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "a", "arguments": "{}"}}],
    }
    message = {"role": "assistant", "content": "ok", **beside}
    path = write(tmp_path / "t.json", {"messages": [{"role": "user", "content": "q"}, message]})
    assert [tools(one) for one in read(path)] == [["a"]]


def test_a_wrapper_without_a_name_is_searched(tmp_path: Path) -> None:
    """It does not merely repeat a call of the trace if it holds another one."""
    assert "a call of 'd'" in refusal(write(tmp_path / "t.json", trace(call("a"), toolUse={"tool_calls": ASKED})))
    repeated = trace(call("a", arguments={}), tool_output={"text": "done"})
    assert [tools(one) for one in read(write(tmp_path / "u.json", repeated))] == [["a"]]


@pytest.mark.parametrize(
    "other", [{"tool_name": "d"}, {"toolName": "d"}, {"function": "d"}, {"function": {"name": "d"}}, {"Tool": "d"}]
)
def test_a_call_that_names_two_tools_is_refused(tmp_path: Path, other: Json) -> None:
    assert "names two tools" in refusal(write(tmp_path / "t.json", trace(call("a", **other))))
    assert "names two tools" in refusal(write(tmp_path / "t.jsonl", lines(header(), call("a", **other))))


@pytest.mark.parametrize("other", [{"tool_name": "a"}, {"tool_name": "shop.a"}, {"name": "first step"}])
def test_a_label_beside_the_tool_may_be_there(tmp_path: Path, other: Json) -> None:
    assert [tools(one) for one in read(write(tmp_path / "t.json", trace(call("a", **other))))] == [["a"]]
