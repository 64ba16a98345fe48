"""Session files and logs of agents: Claude Code, the Claude agent SDK, Codex, Google's ADK, MCP, ATIF and Inspect."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.traces.building import Json, lines, read, refusal, tools, write

from passmuster.traces._model import Handoff, Trace


def one(tmp_path: Path, data: bytes | Json | list[Json], name: str = "t.jsonl") -> Trace:
    (found,) = read(write(tmp_path / name, data))
    return found


def used(key: str, tool: str, **arguments: Any) -> Json:
    return {"type": "tool_use", "id": key, "name": tool, "input": arguments}


def returned(key: str, content: Any, **fields: Any) -> Json:
    return {"type": "tool_result", "tool_use_id": key, "content": content, **fields}


# ── Claude Code ─────────────────────────────────────────────────────────────────────────────────────────────


def line(kind: str, content: Any, number: int, message: str | None = None, **fields: Any) -> Json:
    inner: Json = {"role": kind, "content": content}
    if kind == "assistant":
        usage = {
            "input_tokens": 10,
            "cache_read_input_tokens": 90,
            "cache_creation_input_tokens": 5,
            "output_tokens": 7,
        }
        inner |= {"id": message or f"m{number}", "model": "m", "usage": usage}
    return {"type": kind, "sessionId": "s", "uuid": f"u{number}", "message": inner} | {"isSidechain": False} | fields


SESSION: list[Json] = [
    {"type": "queue-operation", "operation": "enqueue", "sessionId": "s", "content": "Go."},
    {"type": "file-history-snapshot", "messageId": "x", "snapshot": {"trackedFileBackups": {}}},
    line("user", "<local-command-caveat>", 0, isMeta=True),
    line("user", "Go.", 1),
    line("assistant", [{"type": "thinking", "thinking": "hm"}], 2, "m1"),
    line("assistant", [used("c1", "Read", path="a")], 3, "m1"),
    line("user", [returned("c1", "text")], 4),
    line("assistant", [used("c2", "Read", path="a")], 5, "m1"),
    line("user", [returned("c2", "No such file", is_error=True)], 6),
    line("assistant", [{"type": "text", "text": "Done."}], 7, "m2"),
    {"type": "last-prompt", "lastPrompt": "Go.", "leafUuid": "u7", "sessionId": "s"},
    {"type": "summary", "summary": "A talk", "leafUuid": "u7"},
]


def test_a_response_over_several_lines_is_one_model_call(tmp_path: Path) -> None:
    found = one(tmp_path, lines(*SESSION))
    assert (found.trace_id, found.query, found.answer) == ("s", "Go.", "Done.")
    first, second = found.tool_calls
    assert (first.arguments, second.arguments) == ({"path": "a"}, {"path": "a"})
    assert first.group is not None
    assert first.group == second.group
    assert (first.failed, second.error) == (False, "No such file")
    assert [(call.id, call.tokens_in, call.tokens_out, call.tokens_cached) for call in found.model_calls] == [
        ("m1", 105, 7, 90),
        ("m2", 105, 7, 90),
    ]
    assert {call.agent for call in found.tool_calls} == {None}


def test_lines_that_a_resumed_session_repeats_count_once(tmp_path: Path) -> None:
    found = one(tmp_path, lines(*SESSION, *SESSION))
    assert len(found.tool_calls) == 2


def side(kind: str, content: Any, number: int, **fields: Any) -> Json:
    return line(kind, content, number, isSidechain=True, agentId="a9", **fields)


def test_sub_agents_among_the_lines(tmp_path: Path) -> None:
    found = one(
        tmp_path,
        lines(
            line("user", "Go.", 1),
            line("assistant", [used("t1", "Task", subagent_type="critic", prompt="Look.")], 2),
            side("user", "Look.", 3),
            side("assistant", [used("c1", "Grep", pattern="x")], 4),
            side("user", [returned("c1", "3")], 5),
            side("assistant", [{"type": "text", "text": "It is fine."}], 6),
            line("user", [returned("t1", "It is fine.")], 7),
            line("assistant", "Done.", 8),
        ),
    )
    assert (found.query, found.answer, len(found.model_calls)) == ("Go.", "Done.", 4)
    assert [(call.tool, call.agent, call.parent) for call in found.tool_calls] == [
        ("Task", "main", None),
        ("Grep", "critic", "t1"),
    ]


def test_sub_agents_in_progress_lines(tmp_path: Path) -> None:
    inner = {
        "type": "assistant",
        "uuid": "p1",
        "message": {"role": "assistant", "id": "m9", "content": [used("c1", "Grep")]},
    }
    progress = {
        "type": "progress",
        "sessionId": "s",
        "parentToolUseID": "t1",
        "data": {"type": "agent_progress", "message": inner},
    }
    other = {"type": "progress", "sessionId": "s", "data": {"type": "bash_progress", "output": "x"}}
    task = line("assistant", [used("t1", "Task", subagent_type="critic", prompt="Look.")], 2)
    found = one(tmp_path, lines(line("user", "Go.", 1), task, progress, progress, other))
    assert [(call.tool, call.parent) for call in found.tool_calls] == [("Task", None), ("Grep", "t1")]


def test_the_file_of_a_sub_agent_is_a_trace(tmp_path: Path) -> None:
    found = one(tmp_path, lines(side("user", "Look.", 1), side("assistant", [used("c1", "Grep")], 2)))
    assert (found.trace_id, found.query, tools(found)) == ("s/a9", "Look.", ["Grep"])


@pytest.mark.parametrize(
    ("unknown", "refused"),
    [
        ({"type": "mood", "sessionId": "s", "uuid": "z", "mood": "good"}, False),
        ({"type": "mood", "sessionId": "s", "uuid": "z", "more": {"tool_use": {"name": "Bash"}}}, True),
        ({"type": "mood", "sessionId": "s", "uuid": "z", "more": [{"name": "Bash", "input": {}}]}, True),
    ],
)
def test_lines_of_unknown_types(tmp_path: Path, unknown: Json, refused: bool) -> None:
    path = write(tmp_path / "t.jsonl", lines(*SESSION, unknown))
    if refused:
        assert "unknown type 'mood'" in refusal(path)
    else:
        assert len(read(path)) == 1


def test_an_error_of_the_api_is_no_model_call(tmp_path: Path) -> None:
    failed = line("assistant", [{"type": "text", "text": "API Error: 529"}], 9, isApiErrorMessage=True)
    failed["message"]["model"] = "<synthetic>"
    assert len(one(tmp_path, lines(*SESSION, failed)).model_calls) == 2


# ── The Claude agent SDK ────────────────────────────────────────────────────────────────────────────────────

RESULT: Json = {
    "subtype": "success",
    "is_error": False,
    "session_id": "s",
    "duration_ms": 70,
    "total_cost_usd": 0.5,
    "result": "Done.",
    "usage": {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 40},
}
STREAM: list[Json] = [
    {"type": "system", "subtype": "init", "session_id": "s", "tools": ["Read"]},
    {
        "type": "assistant",
        "session_id": "s",
        "parent_tool_use_id": None,
        "message": {"id": "m1", "role": "assistant", "content": [used("t1", "Task", subagent_type="critic")]},
    },
    {
        "type": "assistant",
        "session_id": "s",
        "parent_tool_use_id": "t1",
        "message": {"id": "m2", "role": "assistant", "content": [used("c1", "Grep")]},
    },
    {
        "type": "user",
        "session_id": "s",
        "parent_tool_use_id": "t1",
        "message": {"role": "user", "content": [returned("c1", "x", is_error=True)]},
    },
    {"type": "result", **RESULT},
]
DUMPED: list[Json] = [
    {"_type": "SystemMessage", "subtype": "init", "data": {"session_id": "s"}},
    {
        "_type": "AssistantMessage",
        "message_id": "m1",
        "model": "m",
        "parent_tool_use_id": None,
        "session_id": "s",
        "usage": {"input_tokens": 10, "output_tokens": 1},
        "content": [
            {"_type": "ToolUseBlock", "id": "t1", "name": "Task", "input": {"subagent_type": "critic"}},
        ],
    },
    {
        "_type": "AssistantMessage",
        "message_id": "m2",
        "parent_tool_use_id": "t1",
        "session_id": "s",
        "content": [{"_type": "ToolUseBlock", "id": "c1", "name": "Grep", "input": {}}],
    },
    {
        "_type": "UserMessage",
        "parent_tool_use_id": "t1",
        "content": [{"_type": "ToolResultBlock", "tool_use_id": "c1", "content": "x", "is_error": True}],
    },
    {"_type": "ResultMessage", **RESULT},
]


@pytest.mark.parametrize("messages", [STREAM, DUMPED])
def test_messages_of_the_sdk(tmp_path: Path, messages: list[Json]) -> None:
    found = one(tmp_path, lines(*messages))
    assert [(call.tool, call.agent, call.parent, call.failed) for call in found.tool_calls] == [
        ("Task", "main", None, False),
        ("Grep", "critic", "t1", True),
    ]
    assert (found.trace_id, found.answer, found.total_tokens, found.total_cost_usd) == ("s", "Done.", 140, 0.5)
    assert [call.tokens_out for call in found.model_calls] == [None, None]


def test_a_session_that_failed(tmp_path: Path) -> None:
    failed = {"type": "result", **RESULT, "is_error": True, "subtype": "error_max_turns", "result": None}
    found = one(tmp_path, lines(*STREAM[:-1], failed))
    assert found.error is not None
    assert found.error.message == "error_max_turns"


# ── Codex ───────────────────────────────────────────────────────────────────────────────────────────────────


def item(**payload: Any) -> Json:
    return {"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": payload}


def counted(tokens: int, total: int) -> Json:
    last = {"input_tokens": tokens, "cached_input_tokens": 5, "output_tokens": 2, "total_tokens": tokens + 2}
    info = {"total_token_usage": {"total_tokens": total}, "last_token_usage": last}
    return {"timestamp": "…", "type": "event_msg", "payload": {"type": "token_count", "info": info}}


def text(role: str, said: str) -> Json:
    kind = "output_text" if role == "assistant" else "input_text"
    return item(type="message", role=role, content=[{"type": kind, "text": said}])


CODEX: list[Json] = [
    {"timestamp": "…", "type": "session_meta", "payload": {"id": "s", "cwd": "/x"}},
    text("user", "<environment_context>…</environment_context>"),
    {"timestamp": "…", "type": "turn_context", "payload": {"model": "m"}},
    text("user", "Go."),
    item(type="reasoning", summary=[]),
    item(type="function_call", name="shell", arguments='{"command": ["ls"]}', call_id="c1"),
    counted(10, 12),
    counted(10, 12),
    item(type="function_call_output", call_id="c1", output='{"output": "no", "metadata": {"exit_code": 2}}'),
    item(type="custom_tool_call", name="apply_patch", input="*** Begin", call_id="c2"),
    item(type="custom_tool_call_output", call_id="c2", output="Exit code: 0\nDone"),
    counted(20, 34),
    text("assistant", "Done."),
    counted(30, 66),
]


def test_a_session_of_codex(tmp_path: Path) -> None:
    found = one(tmp_path, lines(*CODEX))
    assert (found.trace_id, found.query, found.answer) == ("s", "Go.", "Done.")
    assert [(call.tool, call.arguments, call.failed) for call in found.tool_calls] == [
        ("shell", {"command": ["ls"]}, True),
        ("apply_patch", "*** Begin", False),
    ]
    assert [(call.tokens_in, call.tokens_cached) for call in found.model_calls] == [(10, 5), (20, 5), (30, 5)]


def test_events_of_codex(tmp_path: Path) -> None:
    command = {"id": "i1", "type": "command_execution", "command": "ls", "status": "in_progress"}
    ended = {**command, "aggregated_output": "no", "exit_code": 1, "status": "failed"}
    events: list[Json] = [
        {"type": "thread.started", "thread_id": "s"},
        {"type": "turn.started"},
        {"type": "item.started", "item": command},
        {"type": "item.completed", "item": ended},
        {
            "type": "item.completed",
            "item": {"id": "i2", "type": "mcp_tool_call", "tool": "look", "arguments": {"a": 1}, "status": "completed"},
        },
        {"type": "item.completed", "item": {"id": "i3", "type": "agent_message", "text": "Done."}},
        {"type": "turn.completed", "usage": {"input_tokens": 10, "cached_input_tokens": 4, "output_tokens": 2}},
    ]
    found = one(tmp_path, lines(*events))
    assert [(call.tool, call.arguments, call.failed) for call in found.tool_calls] == [
        ("shell", {"command": "ls"}, True),
        ("look", {"a": 1}, False),
    ]
    assert (found.answer, found.total_tokens, found.model_calls) == ("Done.", 12, [])


# ── Google's Agent Development Kit ──────────────────────────────────────────────────────────────────────────


def event(author: str, *parts: Json, **fields: Any) -> Json:
    role = "user" if author == "user" or any("functionResponse" in part for part in parts) else "model"
    return {"author": author, "invocationId": "i", "content": {"role": role, "parts": list(parts)}, **fields}


ADK: list[Json] = [
    event("user", {"text": "Go."}),
    event("triage", {"text": "Let"}, partial=True),
    event(
        "triage",
        {"functionCall": {"id": "c1", "name": "transfer_to_agent", "args": {"agent_name": "billing"}}},
        usageMetadata={
            "promptTokenCount": 10,
            "candidatesTokenCount": 5,
            "thoughtsTokenCount": 2,
            "totalTokenCount": 17,
        },
    ),
    event(
        "triage",
        {"functionResponse": {"id": "c1", "name": "transfer_to_agent", "response": {"result": None}}},
        actions={"transferToAgent": "billing"},
    ),
    event("billing", {"functionCall": {"id": "c2", "name": "refund", "args": {}}}),
    event("billing", {"functionResponse": {"id": "c2", "name": "refund", "response": {"error": "no"}}}),
    event("billing", {"text": "Sorry."}),
]


@pytest.mark.parametrize("whole", [True, False])
def test_a_session_of_adk(tmp_path: Path, whole: bool) -> None:
    session = {"id": "s", "appName": "a", "userId": "u", "state": {}, "events": ADK}
    found = one(tmp_path, lines(session) if whole else lines(*ADK))
    assert (found.query, found.answer, found.trace_id) == ("Go.", "Sorry.", "s" if whole else None)
    assert [(call.tool, call.agent, call.error) for call in found.tool_calls] == [
        ("transfer_to_agent", "triage", None),
        ("refund", "billing", "no"),
    ]
    assert [step for step in found.steps if isinstance(step, Handoff)] == [Handoff("billing", "triage")]
    assert [call.tokens_out for call in found.model_calls] == [7, None, None]


# ── The Model Context Protocol ──────────────────────────────────────────────────────────────────────────────


def rpc(**fields: Any) -> Json:
    return {"jsonrpc": "2.0", **fields}


def asks(key: int | str, tool: str, **arguments: Any) -> Json:
    return rpc(id=key, method="tools/call", params={"name": tool, "arguments": arguments})


def gives(key: int | str, said: str, **fields: Any) -> Json:
    return rpc(id=key, result={"content": [{"type": "text", "text": said}], **fields})


MCP: list[Json] = [
    rpc(id=1, method="initialize", params={}),
    rpc(id=1, result={"capabilities": {}}),
    rpc(method="notifications/initialized"),
    rpc(id=2, method="tools/list"),
    rpc(id=2, result={"tools": [{"name": "look", "inputSchema": {}}]}),
    asks(3, "slow"),
    asks(4, "look", a=1),
    gives(4, '{"x": 1}'),
    gives(3, "late"),
    asks(5, "look", a=1),
    gives(5, "bad", isError=True),
    asks(6, "lost"),
    asks(7, "look", a=2),
    rpc(id=7, error={"code": -32602, "message": "no such tool"}),
]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda message: message,
        lambda message: {"ts": 1.5, "direction": "client->server", "message": message},
        lambda message: {"time": "…", "payload": json.dumps(message)},
        lambda message: {"level": "debug", "data": {"raw": message}},
    ],
)
def test_calls_of_the_model_context_protocol(tmp_path: Path, wrap: Any) -> None:
    found = one(tmp_path, lines(*map(wrap, MCP)))
    assert [(call.tool, call.arguments, call.error) for call in found.tool_calls] == [
        ("slow", {}, None),
        ("look", {"a": 1}, None),
        ("look", {"a": 1}, "bad"),
        ("lost", {}, None),
        ("look", {"a": 2}, "no such tool"),
    ]
    groups = [call.group for call in found.tool_calls]
    assert groups[0] is not None
    assert groups == [groups[0], groups[0], None, None, None]
    assert [call.result for call in found.tool_calls[:2]] == ["late", {"x": 1}]
    assert (found.query, found.answer, found.model_calls) == (None, None, [])


def test_sessions_of_the_protocol(tmp_path: Path) -> None:
    assert [tools(each) for each in read(write(tmp_path / "t.jsonl", lines(*MCP, *MCP)))] == [
        ["slow", "look", "look", "lost", "look"]
    ] * 2


def test_a_result_without_its_request_is_refused(tmp_path: Path) -> None:
    assert "a request that is not there (id 9)" in refusal(write(tmp_path / "t.jsonl", lines(*MCP, gives(9, "x"))))
    assert len(read(write(tmp_path / "u.jsonl", lines(*MCP, rpc(id=9, error={"message": "x"}))))) == 1


# ── ATIF ────────────────────────────────────────────────────────────────────────────────────────────────────

SUB_STEPS: list[Json] = [
    {"step_id": 1, "source": "user", "message": "Look."},
    {
        "step_id": 2,
        "source": "agent",
        "message": "",
        "tool_calls": [{"tool_call_id": "d1", "function_name": "Grep", "arguments": {}}],
    },
]
ATIF: Json = {
    "schema_version": "ATIF-v1.7",
    "session_id": "s",
    "agent": {"name": "coder", "version": "2"},
    "steps": [
        {"step_id": 1, "source": "system", "message": "Be kind."},
        {"step_id": 2, "source": "user", "message": "Go."},
        {
            "step_id": 3,
            "source": "agent",
            "message": "",
            "tool_calls": [
                {"tool_call_id": "c1", "function_name": "Task", "arguments": {"prompt": "Look."}},
                {"tool_call_id": "c2", "function_name": "Read", "arguments": {"path": "a"}},
            ],
            "observation": {
                "results": [
                    {"source_call_id": "c1", "content": "fine", "subagent_trajectory_ref": [{"session_id": "sub"}]},
                    {"source_call_id": "c2", "content": "no", "extra": {"raw": {"is_error": True}}},
                ]
            },
            "metrics": {"prompt_tokens": 10, "cached_tokens": 4, "completion_tokens": 2, "cost_usd": 0.1},
        },
        {"step_id": 4, "source": "agent", "message": "tick", "llm_call_count": 0},
        {"step_id": 5, "source": "agent", "message": [{"type": "text", "text": "Done."}]},
    ],
    "subagent_trajectories": [{"session_id": "sub", "agent": {"name": "critic"}, "steps": SUB_STEPS}],
    "final_metrics": {"total_prompt_tokens": 30, "total_completion_tokens": 6, "total_cost_usd": 0.3},
}


def test_a_trajectory(tmp_path: Path) -> None:
    found = one(tmp_path, ATIF, "t.json")
    assert (found.trace_id, found.query, found.answer) == ("s", "Go.", "Done.")
    assert [(call.tool, call.agent, call.parent, call.failed) for call in found.tool_calls] == [
        ("Task", "coder", None, False),
        ("Read", "coder", None, True),
        ("Grep", "critic", "c1", False),
    ]
    assert len(found.model_calls) == 3
    assert (found.total_tokens, found.total_cost_usd) == (36, 0.3)


@pytest.mark.parametrize("version", ["ATIF-v1.9", "ATIF-v2.0", "ATIF-next"])
def test_a_newer_trajectory_is_refused_by_name(tmp_path: Path, version: str) -> None:
    told = refusal(write(tmp_path / "t.json", {**ATIF, "schema_version": version}))
    assert f"is a trajectory of version {version!r}: ATIF-v1.0 to ATIF-v1.8 are read" in told


# ── Inspect ─────────────────────────────────────────────────────────────────────────────────────────────────


def model_event(span: str, message: Json, key: str) -> Json:
    usage = {"input_tokens": 6, "input_tokens_cache_read": 4, "output_tokens": 2, "total_tokens": 12}
    output = {"model": "m", "choices": [{"message": message}], "usage": usage, "response_id": key, "time": 0.5}
    return {"event": "model", "span_id": span, "output": output}


SAMPLE: Json = {
    "id": "q1",
    "epoch": 2,
    "uuid": "x",
    "input": "attachment://h1",
    "target": "4",
    "attachments": {"h1": "Go."},
    "messages": [{"role": "user", "content": "attachment://h1"}],
    "output": {"choices": [{"message": {"role": "assistant", "content": "Done."}}]},
    "events": [
        {"event": "span_begin", "id": "a", "parent_id": None, "type": "solver", "name": "solve"},
        model_event(
            "a",
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {"id": "c1", "function": "look", "arguments": {"a": 1}, "type": "function"},
                    {"id": "c2", "function": "look", "arguments": {"a": 1}, "type": "function"},
                ],
            },
            "r1",
        ),
        {"event": "span_begin", "id": "t", "parent_id": "a", "type": "tool", "name": "look"},
        {"event": "tool", "span_id": "a", "id": "c1", "function": "look", "arguments": {"a": 1}, "result": "x"},
        model_event("t", {"role": "assistant", "content": "inside"}, "r2"),
        {
            "event": "tool",
            "span_id": "a",
            "id": "c2",
            "function": "look",
            "arguments": {"a": 1},
            "result": "",
            "error": {"type": "timeout", "message": "late"},
        },
        {"event": "tool", "span_id": "a", "id": "c3", "function": "own", "arguments": {"b": 2}, "result": "y"},
        model_event("a", {"role": "assistant", "content": "Done."}, "r3"),
        {"event": "span_begin", "id": "s", "parent_id": None, "type": "scorers", "name": "scorers"},
        model_event("s", {"role": "assistant", "content": "GRADE: C"}, "r4"),
    ],
}
LOG: Json = {"version": 2, "status": "success", "eval": {"task": "t"}, "samples": [SAMPLE]}


def check_sample(found: Trace) -> None:
    assert (found.query, found.answer, found.scenario, found.run) == ("Go.", "Done.", "q1", 2)
    assert [(call.tool, call.arguments, call.error) for call in found.tool_calls] == [
        ("look", {"a": 1}, None),
        ("look", {"a": 1}, "late"),
        ("own", {"b": 2}, None),
    ]
    assert [(call.id, call.parent, call.tokens_in) for call in found.model_calls] == [
        ("r1", None, 10),
        ("r2", "c1", 10),
        ("r3", None, 10),
    ]


def test_a_log_of_inspect(tmp_path: Path) -> None:
    check_sample(one(tmp_path, LOG, "t.json"))


def test_a_log_without_events(tmp_path: Path) -> None:
    call = {"id": "c1", "function": "look", "arguments": {}}
    messages: list[Json] = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "", "error": {"type": "timeout", "message": "late"}},
    ]
    found = one(tmp_path, {**LOG, "samples": [{**SAMPLE, "events": [], "messages": messages}]}, "t.json")
    assert [(made.tool, made.error) for made in found.tool_calls] == [("look", "late")]


def archive(method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as packed:
        packed.writestr("_journal/start.json", "{}")
        packed.writestr("samples/q1_epoch_2.json", json.dumps(SAMPLE))
        packed.writestr("header.json", json.dumps({"version": 2}))
    return buffer.getvalue()


def test_an_archive_of_inspect(tmp_path: Path) -> None:
    check_sample(one(tmp_path, archive(), "t.eval"))


def with_zstd() -> bytes:
    """The archive with its members marked as zstd, which zipfile cannot write."""
    data = bytearray(archive(zipfile.ZIP_STORED))
    for signature, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        start = data.find(signature)
        while start >= 0:
            data[start + place : start + place + 2] = (93).to_bytes(2, "little")
            start = data.find(signature, start + 4)
    return bytes(data)


def test_an_archive_whose_members_need_an_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "t.eval", with_zstd())

    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr("passmuster.traces._zstd.import_module", missing)
    assert "pip install 'passmuster[zstd]'" in refusal(path)


def test_a_damaged_archive(tmp_path: Path) -> None:
    assert "the archive is damaged" in refusal(write(tmp_path / "t.eval", archive()[:300]))
