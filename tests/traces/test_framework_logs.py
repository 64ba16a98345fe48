"""Logs that frameworks write themselves: smolagents, Agno and Assay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.traces.building import Json, lines, read, refusal, tools, write


def called(key: str, tool: str, arguments: Any) -> Json:
    return {"id": key, "type": "function", "function": {"name": tool, "arguments": arguments}}


# ── smolagents ──────────────────────────────────────────────────────────────────────────────────────────────


def action(number: int, *calls: Json, **fields: Any) -> Json:
    usage = {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}
    return {
        "step_number": number,
        "timing": {"start_time": 1.0, "end_time": 1.5, "duration": 0.5},
        "tool_calls": list(calls),
        "observations": None,
        "error": None,
        "model_output": "hm",
        "token_usage": usage,
        **fields,
    }


SMOL = [
    {"task": "Go.", "task_images": None},
    action(1, called("c1", "look", {"a": 1}), observations="x"),
    action(2, called("c2", "look", {"a": 2}), called("c3", "look", {"a": 2}), observations="x\\ny"),
    action(3, called("c4", "look", {}), error={"type": "AgentToolExecutionError", "message": "bad"}),
    action(4, called("c5", "final_answer", {"answer": "Done."}), action_output="Done.", is_final_answer=True),
]


@pytest.mark.parametrize(
    "data",
    [lines(*SMOL), json.dumps(SMOL, indent=1).encode(), lines({"output": "Done.", "state": "success", "steps": SMOL})],
)
def test_steps_of_smolagents(tmp_path: Path, data: bytes) -> None:
    (found,) = read(write(tmp_path / "t.json", data))
    assert (found.query, found.answer) == ("Go.", "Done.")
    assert tools(found) == ["look", "look", "look", "look", "final_answer"]
    assert [call.error for call in found.tool_calls] == [None, None, None, "bad", None]
    assert [call.group is not None for call in found.tool_calls] == [False, True, True, False, False]
    assert found.tool_calls[0].result == "x"
    assert [(call.tokens_in, call.duration_ms) for call in found.model_calls] == [(10, 500.0)] * 4


def test_each_task_begins_a_run(tmp_path: Path) -> None:
    assert len(read(write(tmp_path / "t.jsonl", lines(*SMOL, *SMOL)))) == 2


# ── Agno ────────────────────────────────────────────────────────────────────────────────────────────────────

AGNO: Json = {
    "run_id": "r1",
    "agent_id": "a",
    "agent_name": "helper",
    "session_id": "s",
    "content": "Done.",
    "status": "COMPLETED",
    "messages": [
        {"role": "user", "content": "Before.", "from_history": True},
        {"role": "assistant", "content": "Yes.", "from_history": True},
        {"role": "user", "content": "Go."},
        {
            "role": "assistant",
            "tool_calls": [called("c1", "look", '{"a": 1}'), called("c2", "look", '{"a": 1}')],
            "metrics": {"input_tokens": 10, "output_tokens": 2},
        },
        {"role": "tool", "content": "x", "tool_call_id": "c1", "tool_name": "look"},
        {"role": "tool", "content": "bad", "tool_call_id": "c2", "tool_name": "look", "tool_call_error": True},
        {"role": "assistant", "content": "Done.", "metrics": {"input_tokens": 20, "output_tokens": 3}},
    ],
    "tools": [
        {"tool_call_id": "c1", "tool_name": "look", "tool_args": {"a": 1}, "result": "x"},
        {"tool_call_id": "c2", "tool_name": "look", "tool_args": {"a": 1}, "result": "bad", "tool_call_error": True},
    ],
}


@pytest.mark.parametrize("data", [AGNO, {"session_id": "s", "runs": [AGNO, {**AGNO, "parent_run_id": "r0"}]}])
def test_a_run_of_agno(tmp_path: Path, data: Json) -> None:
    (found,) = read(write(tmp_path / "t.json", data))
    assert (found.trace_id, found.query, found.answer) == ("r1", "Go.", "Done.")
    assert [(call.arguments, call.failed, call.agent) for call in found.tool_calls] == [
        ({"a": 1}, False, None),
        ({"a": 1}, True, None),
    ]
    assert [call.tokens_in for call in found.model_calls] == [10, 20]


def test_a_run_of_agno_without_messages(tmp_path: Path) -> None:
    (found,) = read(write(tmp_path / "t.json", {**AGNO, "messages": None}))
    assert [(call.arguments, call.failed) for call in found.tool_calls] == [({"a": 1}, False), ({"a": 1}, True)]


def test_members_of_a_team(tmp_path: Path) -> None:
    team = {
        "run_id": "t1",
        "team_id": "t",
        "team_name": "team",
        "content": "All done.",
        "messages": [
            {"role": "user", "content": "Go."},
            {"role": "assistant", "tool_calls": [called("d1", "delegate_task_to_member", "{}")]},
        ],
        "member_responses": [AGNO],
    }
    (found,) = read(write(tmp_path / "t.json", team))
    assert [(call.tool, call.agent, call.parent) for call in found.tool_calls] == [
        ("delegate_task_to_member", "team", None),
        ("look", "helper", "d1"),
        ("look", "helper", "d1"),
    ]
    assert found.answer == "All done."


# ── Assay ───────────────────────────────────────────────────────────────────────────────────────────────────


def event(type_: str, **fields: Any) -> Json:
    return {"type": type_, "episode_id": "e", "timestamp": 1, **fields}


ASSAY = [
    event("episode_start", input={"prompt": "Go."}),
    event("step", step_id="s1", kind="model", content='{"completion": null, "model": "m", "prompt": "Go."}'),
    event("step", step_id="s2", kind="tool", name="look", content=None),
    event("tool_call", step_id="s2", tool_name="look", call_index=0, args={"a": 1}, result={"x": 1}, error=None),
    event("tool_call", step_id="s2", tool_name="look", call_index=1, args={"a": 1}, result=None, error="bad"),
    event("step", step_id="s3", kind="model", content="Done."),
    event("episode_end", outcome="pass", final_output="Done."),
]


def test_an_episode_of_assay(tmp_path: Path) -> None:
    (found,) = read(write(tmp_path / "t.jsonl", lines(*ASSAY)))
    assert (found.trace_id, found.query, found.answer) == ("e", "Go.", "Done.")
    assert [(call.tool, call.arguments, call.result, call.error) for call in found.tool_calls] == [
        ("look", {"a": 1}, {"x": 1}, None),
        ("look", {"a": 1}, None, "bad"),
    ]
    assert len(found.model_calls) == 2


@pytest.mark.parametrize(
    ("record", "arguments"),
    [
        ({"prompt": "Go.", "response": "Done.", "tool_calls": [{"tool_name": "look", "args": {"a": 1}}]}, {"a": 1}),
        ({"prompt": "Go.", "response": "Done.", "function_call": {"name": "look", "arguments": "{}"}}, {}),
        ({"id": "x", "tool": "look", "args": {"a": 1}, "prompt": "Go.", "response": "Done."}, {"a": 1}),
    ],
)
def test_an_answer_of_assay(tmp_path: Path, record: Json, arguments: Json) -> None:
    (found,) = read(write(tmp_path / "t.jsonl", lines(record)))
    assert (found.query, found.answer) == ("Go.", "Done.")
    assert [(call.tool, call.arguments) for call in found.tool_calls] == [("look", arguments)]


def test_calls_of_assay_by_test(tmp_path: Path) -> None:
    records = [
        {"type": "call_tool", "tool": tool, "test_id": test} for tool, test in [("a", "A"), ("b", "A"), ("a", "B")]
    ]
    assert [tools(found) for found in read(write(tmp_path / "t.jsonl", lines(*records)))] == [["a", "b"], ["a"]]
    bare = [{"tool": "look", "args": {"a": 1}}, {"tool": "look", "args": {"a": 1}}]
    (found,) = read(write(tmp_path / "u.jsonl", lines(*bare)))
    assert tools(found) == ["look", "look"]


def test_an_unknown_event_of_assay(tmp_path: Path) -> None:
    odd = event("remote_tool_call", call={"name": "look", "args": {}})
    assert "unknown type 'remote_tool_call'" in refusal(write(tmp_path / "t.jsonl", lines(*ASSAY, odd)))


# ── lists that are something else ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("odd", [5, True, "x", {"a": 1}])
@pytest.mark.parametrize(
    ("record", "holder", "key"),
    [
        (action(1), (), "tool_calls"),
        ({"run_id": "r", "agent_id": "a", "messages": []}, (), "messages"),
        ({"run_id": "r", "agent_id": "a", "messages": [], "tools": []}, (), "tools"),
        ({"run_id": "r", "team_id": "a", "messages": []}, (), "member_responses"),
        ({"schema_version": "ATIF-v1.7", "steps": [{"step_id": 1, "source": "agent"}]}, ("steps", 0), "tool_calls"),
        ({"schema_version": "ATIF-v1.7", "steps": []}, (), "subagent_trajectories"),
        (
            {"data": [{"traceID": "t", "spans": [{"traceID": "t", "spanID": "s"}]}]},
            ("data", 0, "spans", 0),
            "tags",
        ),
    ],
)
def test_a_list_that_is_something_else_is_refused(
    tmp_path: Path, record: Json, holder: tuple[Any, ...], key: str, odd: Any
) -> None:
    damaged: Any = json.loads(json.dumps(record))
    inside = damaged
    for step in holder:
        inside = inside[step]
    inside[key] = odd
    assert key in refusal(write(tmp_path / "t.jsonl", lines(damaged)))
