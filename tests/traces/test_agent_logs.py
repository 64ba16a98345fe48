"""Logs of benchmarks, coding agents and executors: one call of `refund`, and what each of them is known for."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.fuzzing.mutation import mutated
from tests.traces.building import Json, lines, read, refusal, write
from tests.traces.test_other_versions import paths_of

from passmuster._problems import TraceError
from passmuster.traces._model import Trace

QUERY, ANSWER = "Refund 7", "Refunded."
ASKED = {"id": "call_1", "type": "function", "function": {"name": "refund", "arguments": '{"id": 7}'}}

# ── tau2-bench ──────────────────────────────────────────────────────────────────────────────────────────────


def tau(role: str, content: str | None, **fields: Any) -> Json:
    return {"role": role, "content": content, "turn_idx": 0, "timestamp": "2026-01-01T00:00:00", "cost": 0.0, **fields}


TAU_CALL = {"id": "call_1", "name": "refund", "arguments": {"id": 7}, "requestor": "assistant"}
TAU: Json = {
    "timestamp": "2026-01-01",
    "info": {"num_trials": 1},
    "tasks": [{"id": "0", "evaluation_criteria": {"actions": [{"name": "refund", "arguments": {"id": 7}}]}}],
    "simulations": [
        {
            "id": "sim-1",
            "task_id": "0",
            "trial": 2,
            "duration": 1.5,
            "reward_info": {"reward": 1.0, "action_checks": [{"action": TAU_CALL, "action_match": True}]},
            "messages": [
                tau("user", QUERY),
                tau(
                    "assistant",
                    None,
                    tool_calls=[TAU_CALL],
                    cost=0.25,
                    usage={"prompt_tokens": 50, "completion_tokens": 5},
                    raw_data={"message": {"role": "assistant", "tool_calls": [ASKED]}},
                ),
                tau("tool", "ok", id="call_1", requestor="assistant", error=False),
                tau("assistant", ANSWER, usage={"prompt_tokens": 70, "completion_tokens": 3}),
            ],
        }
    ],
}

# ── SWE-agent ───────────────────────────────────────────────────────────────────────────────────────────────


SWE_INFO = {"exit_status": "submitted", "model_stats": {"instance_cost": 0.5, "tokens_sent": 120, "tokens_received": 8}}
SWE: Json = {
    "environment": "swe_main",
    "trajectory": [{"action": "refund", "observation": "ok", "response": "", "thought": ""}],
    "history": [
        {"role": "system", "content": "Be kind.", "agent": "main", "message_type": "system_prompt"},
        {"role": "user", "content": [{"type": "text", "text": QUERY}], "agent": "main"},
        {
            "role": "assistant",
            "content": "",
            "thought": "",
            "action": "refund",
            "agent": "main",
            "tool_calls": [ASKED],
            "message_type": "action",
        },
        {"role": "tool", "content": [{"type": "text", "text": "ok"}], "agent": "main", "tool_call_ids": ["call_1"]},
        {"role": "assistant", "content": ANSWER, "thought": ANSWER, "action": "", "agent": "main"},
    ],
    "info": SWE_INFO,
}


# ── OpenHands ───────────────────────────────────────────────────────────────────────────────────────────────


def openhands(number: int, source: str, **fields: Any) -> Json:
    return {"id": number, "timestamp": f"2026-01-01T00:00:0{number}", "source": source, "message": "", **fields}


METADATA: Json = {
    "function_name": "refund",
    "tool_call_id": "call_1",
    "model_response": {
        "id": "c1",
        "model": "m",
        "choices": [{"message": {"role": "assistant", "tool_calls": [ASKED]}}],
        "usage": {"prompt_tokens": 50, "completion_tokens": 5},
    },
    "total_calls_in_response": 1,
}
OPENHANDS: list[Json] = [
    openhands(0, "user", action="message", args={"content": QUERY, "image_urls": None}),
    openhands(1, "environment", observation="agent_state_changed", content="", extras={"agent_state": "running"}),
    openhands(
        2, "agent", action="call_tool_mcp", args={"name": "refund", "arguments": {}}, tool_call_metadata=METADATA
    ),
    openhands(3, "agent", observation="mcp", content="ok", cause=2, extras={}, tool_call_metadata=METADATA),
    openhands(4, "agent", action="message", args={"content": ANSWER, "wait_for_response": True}),
]


def sdk(kind: str, source: str, **fields: Any) -> Json:
    return {"id": f"{kind}-1", "timestamp": "2026-01-01T00:00:00", "source": source, "kind": kind, **fields}


OPENHANDS_SDK: list[Json] = [
    sdk("MessageEvent", "user", llm_message={"role": "user", "content": [{"type": "text", "text": QUERY}]}),
    sdk(
        "ActionEvent",
        "agent",
        thought=[],
        action={"kind": "MCPToolAction", "data": {"id": 7}},
        tool_name="refund",
        tool_call_id="call_1",
        tool_call={"id": "call_1", "name": "refund", "arguments": '{"id": 7}', "origin": "completion"},
        llm_response_id="c1",
    ),
    sdk(
        "ObservationEvent",
        "environment",
        observation={"content": [{"type": "text", "text": "ok"}], "is_error": False, "kind": "MCPToolObservation"},
        action_id="ActionEvent-1",
        tool_name="refund",
        tool_call_id="call_1",
    ),
    sdk("MessageEvent", "agent", llm_message={"role": "assistant", "content": [{"type": "text", "text": ANSWER}]}),
]

# ── AgentDojo, LangChain's executor, Gemini CLI, Goose, opencode ────────────────────────────────────────────


DOJO_CALL = {"function": "refund", "args": {"id": 7}, "id": "call_1", "placeholder_args": None}
AGENTDOJO: Json = {
    "suite_name": "banking",
    "pipeline_name": "m",
    "user_task_id": "user_task_0",
    "injection_task_id": None,
    "injections": {},
    "messages": [
        {"role": "user", "content": [{"type": "text", "content": QUERY}]},
        {"role": "assistant", "content": [{"type": "text", "content": ""}], "tool_calls": [DOJO_CALL]},
        {
            "role": "tool",
            "content": [{"type": "text", "content": "ok"}],
            "tool_call_id": "call_1",
            "tool_call": DOJO_CALL,
            "error": None,
        },
        {"role": "assistant", "content": [{"type": "text", "content": ANSWER}], "tool_calls": []},
    ],
    "utility": True,
}
ACTION = {"tool": "refund", "tool_input": {"id": 7}, "log": "", "type": "AgentAction", "tool_call_id": "call_1"}
EXECUTOR: Json = {"input": QUERY, "output": ANSWER, "intermediate_steps": [[ACTION, "ok"]]}
CONSTRUCTED = {
    "lc": 1,
    "type": "constructor",
    "id": ["langchain", "schema", "agent", "ToolAgentAction"],
    "kwargs": ACTION,
}
GEMINI_CALL: Json = {
    "id": "call_1",
    "name": "refund",
    "args": {"id": 7},
    "status": "success",
    "result": [{"functionResponse": {"id": "call_1", "name": "refund", "response": {"output": "ok"}}}],
}
GEMINI_SAID: list[Json] = [
    {"id": "1", "timestamp": "2026-01-01T00:00:00Z", "type": "user", "content": [{"text": QUERY}]},
    {
        "id": "2",
        "timestamp": "2026-01-01T00:00:01Z",
        "type": "gemini",
        "content": "",
        "toolCalls": [GEMINI_CALL],
        "tokens": {"input": 50, "output": 3, "cached": 0, "thoughts": 2, "tool": 0, "total": 55},
        "model": "m",
    },
    {"id": "3", "timestamp": "2026-01-01T00:00:02Z", "type": "gemini", "content": ANSWER, "model": "m"},
]
GEMINI_SESSION = {"sessionId": "s", "projectHash": "h", "startTime": "2026-01-01T00:00:00Z"}
GOOSE_CALL = {"status": "success", "value": {"name": "refund", "arguments": {"id": 7}}}
GOOSE_RESULT = {"status": "success", "value": [{"type": "text", "text": "ok"}]}


def goose(role: str, **part: Any) -> Json:
    return {"role": role, "created": 1_790_000_000, "content": [part]}


GOOSE: list[Json] = [
    {"working_dir": "/home", "description": "d", "message_count": 4, "total_tokens": 128},
    goose("user", type="text", text=QUERY),
    goose("assistant", type="toolRequest", id="call_1", toolCall=GOOSE_CALL),
    goose("user", type="toolResponse", id="call_1", toolResult=GOOSE_RESULT),
    goose("assistant", type="text", text=ANSWER),
]
OPENCODE_TOOL: Json = {
    "type": "tool",
    "callID": "call_1",
    "tool": "refund",
    "state": {"status": "completed", "input": {"id": 7}, "output": "ok"},
}
OPENCODE_TOKENS: Json = {"input": 40, "output": 3, "reasoning": 2, "cache": {"read": 10, "write": 0}}
OPENCODE: Json = {
    "info": {"id": "ses_1", "title": "t"},
    "messages": [
        {"info": {"id": "m1", "role": "user"}, "parts": [{"type": "text", "text": QUERY}]},
        {
            "info": {"id": "m2", "role": "assistant", "modelID": "m", "cost": 0.25, "tokens": OPENCODE_TOKENS},
            "parts": [{"type": "step-start"}, OPENCODE_TOOL, {"type": "step-finish"}],
        },
        {"info": {"id": "m3", "role": "assistant"}, "parts": [{"type": "text", "text": ANSWER}]},
    ],
}

LOGS: dict[str, Json | list[Json]] = {
    "tau2-bench": TAU,
    "SWE-agent": SWE,
    "OpenHands": OPENHANDS,
    "OpenHands, a result": {"instance_id": "a-1", "instruction": QUERY, "history": OPENHANDS},
    "OpenHands 1": OPENHANDS_SDK,
    "AgentDojo": AGENTDOJO,
    "executor": EXECUTOR,
    "executor, constructors": {**EXECUTOR, "intermediate_steps": [[CONSTRUCTED, "ok"]]},
    "Gemini CLI": {**GEMINI_SESSION, "messages": GEMINI_SAID},
    "Goose": GOOSE,
    "opencode": OPENCODE,
}


def read_log(folder: Path, log: Json | list[Json]) -> list[Trace]:
    return read(write(folder / "t.json", json.dumps(log).encode()))


@pytest.mark.parametrize("name", LOGS)
def test_the_run(tmp_path: Path, name: str) -> None:
    (trace,) = read_log(tmp_path, LOGS[name])
    assert (trace.query, trace.answer, len(trace.model_calls)) == (QUERY, ANSWER, 2)
    assert [(one.tool, one.id, one.arguments, one.result, one.error) for one in trace.tool_calls] == [
        ("refund", "call_1", {"id": 7}, "ok", None)
    ]


@pytest.mark.parametrize("name", ["OpenHands", "OpenHands 1", "Goose"])
def test_the_same_as_lines(tmp_path: Path, name: str) -> None:
    (trace,) = read(write(tmp_path / "t.jsonl", lines(*LOGS[name])))
    assert [one.tool for one in trace.tool_calls] == ["refund"]


@pytest.mark.parametrize("name", LOGS)
def test_a_key_that_nobody_knows_hides_no_call(tmp_path: Path, name: str) -> None:
    for path in paths_of(LOGS[name]):
        changed = json.loads(json.dumps(LOGS[name]))
        holder = changed
        for key in path[:-1]:
            holder = holder[key]
        holder[f"x_{path[-1]}"] = holder.pop(path[-1])
        try:
            traces = read_log(tmp_path, changed)
        except TraceError:
            continue
        assert any(one.tool_calls or one.calls_unknown for one in traces), path


@pytest.mark.parametrize("name", LOGS)
def test_a_damaged_log_is_read_or_refused(tmp_path: Path, name: str) -> None:
    rng = Random(name)
    for _ in range(40):
        with contextlib.suppress(TraceError):
            read_log(tmp_path, mutated(LOGS[name], rng))


@pytest.mark.parametrize("name", ["tau2-bench", "OpenHands", "Gemini CLI", "opencode"])
def test_tokens(tmp_path: Path, name: str) -> None:
    (trace,) = read_log(tmp_path, LOGS[name])
    assert (trace.model_calls[0].tokens_in, trace.model_calls[0].tokens_out) == (50, 5)


def test_what_tau_says_of_a_simulation(tmp_path: Path) -> None:
    (trace,) = read_log(tmp_path, TAU)
    assert (trace.trace_id, trace.scenario, trace.run, trace.total_duration_ms) == ("sim-1", "0", 2, 1500.0)
    assert [one.cost_usd for one in trace.model_calls] == [0.25, 0.0]


def test_tools_of_the_simulated_user_are_not_the_agents(tmp_path: Path) -> None:
    own = {**TAU_CALL, "id": "call_2", "name": "restart_phone", "requestor": "user"}
    messages = TAU["simulations"][0]["messages"]
    asked = [tau("user", None, tool_calls=[own]), tau("tool", "done", id="call_2", requestor="user", error=False)]
    log = {**TAU, "simulations": [{**TAU["simulations"][0], "messages": [*messages[:1], *asked, *messages[1:]]}]}
    (trace,) = read_log(tmp_path, log)
    assert [one.tool for one in trace.tool_calls] == ["refund"]


def test_several_results_in_one_message_of_tau(tmp_path: Path) -> None:
    messages = TAU["simulations"][0]["messages"]
    both = [TAU_CALL, {**TAU_CALL, "id": "call_2"}]
    returned = [messages[2], {**messages[2], "id": "call_2", "content": "no", "error": True}]
    said = [messages[0], {**messages[1], "tool_calls": both}, {"role": "tool", "tool_messages": returned}, messages[3]]
    (trace,) = read_log(tmp_path, {**TAU, "simulations": [{**TAU["simulations"][0], "messages": said}]})
    assert [one.error for one in trace.tool_calls] == [None, "no"]
    assert trace.tool_calls[0].group == trace.tool_calls[1].group is not None


COMMAND: list[Json] = [
    {"role": "assistant", "content": "Look\n```bash\nls -a\n```", "action": "ls -a\n", "agent": "main"}
]
SEEN: list[Json] = [{"role": "user", "content": "a.py", "agent": "main"}]
ASK: list[Json] = [{"role": "user", "content": QUERY, "agent": "main"}]
DEMO = [{**one, "is_demo": True} for one in (*ASK, *COMMAND, *SEEN)]


@pytest.mark.parametrize(
    "log",
    [
        {"trajectory": [], "history": [*DEMO, *ASK, *COMMAND, *SEEN], "info": SWE_INFO},
        {"trajectory_format": "mini-swe-agent-1", "messages": [*ASK, *COMMAND, *SEEN], "info": SWE_INFO},
    ],
)
def test_commands_in_the_text_of_the_model(tmp_path: Path, log: Json) -> None:
    (trace,) = read_log(tmp_path, log)
    assert [(one.tool, one.arguments, one.result) for one in trace.tool_calls] == [
        ("bash", {"command": "ls -a"}, "a.py")
    ]
    assert (trace.query, trace.total_cost_usd, trace.total_tokens) == (QUERY, 0.5, 128)


def test_actions_of_openhands_before_it_kept_the_models_response(tmp_path: Path) -> None:
    run = openhands(2, "agent", action="run", args={"command": "ls", "thought": "Look.", "hidden": False})
    seen = openhands(3, "agent", observation="run", content="a.py", cause=2, extras={}, success=False)
    (trace,) = read_log(tmp_path, [OPENHANDS[0], run, seen])
    assert [(one.tool, one.arguments, one.error) for one in trace.tool_calls] == [("run", {"command": "ls"}, "a.py")]


def test_parallel_calls_of_openhands(tmp_path: Path) -> None:
    second = {**ASKED, "id": "call_2"}
    response = {**METADATA["model_response"], "choices": [{"message": {"tool_calls": [ASKED, second]}}]}
    both = [{**METADATA, "tool_call_id": key, "model_response": response} for key in ("call_1", "call_2")]
    events = [OPENHANDS[0], *({**OPENHANDS[2], "id": 2 + n, "tool_call_metadata": one} for n, one in enumerate(both))]
    (trace,) = read_log(tmp_path, events)
    assert len(trace.model_calls) == 1
    assert trace.tool_calls[0].group == trace.tool_calls[1].group is not None


def test_the_lines_of_gemini_cli(tmp_path: Path) -> None:
    """A message is written again when its tools are done; what was taken back is gone."""
    before = {**GEMINI_SAID[1], "toolCalls": [{"id": "call_1", "name": "refund", "args": {"id": 7}}]}
    wrong = {**GEMINI_SAID[1], "id": "9", "toolCalls": [{**GEMINI_CALL, "id": "call_9", "name": "delete_all"}]}
    records = [GEMINI_SESSION, GEMINI_SAID[0], wrong, {"$rewindTo": "9"}, before, {"$set": {"lastUpdated": "x"}}]
    (trace,) = read(write(tmp_path / "t.jsonl", lines(*records, *GEMINI_SAID[1:])))
    assert [(one.tool, one.result) for one in trace.tool_calls] == [("refund", "ok")]
    assert (trace.trace_id, trace.answer) == ("s", ANSWER)


@pytest.mark.parametrize(
    ("log", "error"),
    [
        ({**GEMINI_SESSION, "messages": [{**GEMINI_SAID[1], "toolCalls": [{**GEMINI_CALL, "status": "error"}]}]}, "ok"),
        (
            [
                *GOOSE[:3],
                goose("user", type="toolResponse", id="call_1", toolResult={"status": "error", "error": "no"}),
            ],
            "no",
        ),
        (
            {
                **OPENCODE,
                "messages": [
                    {
                        "info": {"role": "assistant"},
                        "parts": [{**OPENCODE_TOOL, "state": {"status": "error", "input": {"id": 7}, "error": "no"}}],
                    }
                ],
            },
            "no",
        ),
    ],
)
def test_failed_calls(tmp_path: Path, log: Any, error: str) -> None:
    (trace,) = read_log(tmp_path, log)
    assert [one.error for one in trace.tool_calls] == [error]


def test_actions_of_one_output_of_an_executor(tmp_path: Path) -> None:
    log = [{"type": "ai", "content": "", "id": "m1"}]
    steps = [[{**ACTION, "tool_call_id": key, "message_log": log}, "ok"] for key in ("call_1", "call_2")]
    (trace,) = read_log(tmp_path, {**EXECUTOR, "intermediate_steps": steps})
    assert trace.tool_calls[0].group == trace.tool_calls[1].group is not None


def test_actions_that_were_written_as_text(tmp_path: Path) -> None:
    log = {**EXECUTOR, "intermediate_steps": [["tool='refund' tool_input={'id': 7}", "ok"]]}
    assert "write actions as objects" in refusal(write(tmp_path / "t.json", log))


@pytest.mark.parametrize(
    ("record", "product"),
    [
        ({"sessionId": "s", "agentId": "a", "trace": {}}, "Bedrock's agents"),
        ({"id": "1", "date": "2026", "message_type": "tool_call_message"}, "Letta"),
        ({"evalId": "e", "results": {}}, "promptfoo"),
        ({"test_cases": []}, "DeepEval"),
        ({"requesterUsername": "u", "requests": []}, "GitHub Copilot"),
    ],
)
def test_a_product_is_named(tmp_path: Path, record: Json, product: str) -> None:
    assert product in refusal(write(tmp_path / "t.json", record))
