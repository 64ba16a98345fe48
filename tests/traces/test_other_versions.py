"""The same run, one call of `refund`, as other versions of products write it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.traces.building import Json, lines, read, write

from passmuster._problems import TraceError
from passmuster.traces._model import Message

QUERY, ANSWER = "Refund 7", "Refunded."
ASKED = {"id": "call_1", "type": "function", "function": {"name": "refund", "arguments": '{"id": 7}'}}
CALL: Json = {"role": "assistant", "content": None, "tool_calls": [ASKED]}
HISTORY: list[Json] = [
    {"role": "user", "content": QUERY},
    CALL,
    {"role": "tool", "tool_call_id": "call_1", "content": '{"ok": true}'},
]


# ── LangSmith ───────────────────────────────────────────────────────────────────────────────────────────────


def constructed(kind: str, /, **fields: Any) -> Json:
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", kind], "kwargs": fields}


HUMAN = constructed("HumanMessage", content=QUERY)
CALLS: list[Json] = [{"name": "refund", "args": {"id": 7}, "id": "call_1", "type": "tool_call"}]
ASKING = constructed(
    "AIMessage",
    content="",
    tool_calls=CALLS,
    additional_kwargs={"tool_calls": [ASKED]},
    response_metadata={"model_name": "m"},
    usage_metadata={"input_tokens": 50, "output_tokens": 5, "total_tokens": 55},
)
RETURNED = constructed("ToolMessage", content='{"ok": true}', tool_call_id="call_1", name="refund", status="success")
ANSWERING = constructed(
    "AIMessage",
    content=ANSWER,
    response_metadata={"model_name": "m"},
    usage_metadata={"input_tokens": 70, "output_tokens": 3, "total_tokens": 73},
)


def run(key: str, parent: str | None, kind: str, second: int, inputs: Json, outputs: Json) -> Json:
    return {
        "id": key,
        "trace_id": "r0",
        "parent_run_id": parent,
        "name": "refund" if kind == "tool" else kind,
        "run_type": kind,
        "start_time": f"2026-01-01T00:00:{second:02d}",
        "end_time": f"2026-01-01T00:00:{second + 1:02d}",
        "inputs": inputs,
        "outputs": outputs,
        "extra": {"metadata": {}},
    }


def generated(message: Json) -> Json:
    return {"generations": [[{"text": "", "type": "ChatGeneration", "message": message}]], "llm_output": None}


RUNS = [
    {**run("r0", None, "chain", 0, {"messages": [HUMAN]}, {"messages": [HUMAN, ASKING, RETURNED, ANSWERING]})},
    run("r1", "r0", "llm", 1, {"messages": [[HUMAN]]}, generated(ASKING)),
    run("r2", "r0", "tool", 3, {"input": "{'id': 7}"}, {"output": RETURNED}),
    run("r3", "r0", "llm", 5, {"messages": [[HUMAN, ASKING, RETURNED]]}, generated(ANSWERING)),
]
TEXTS = ("inputs", "outputs", "extra")

# ── Langfuse ────────────────────────────────────────────────────────────────────────────────────────────────


def observation(key: str, kind: str, second: int, given: Any, made: Any, **more: Any) -> Json:
    return {
        "id": key,
        "traceId": "t",
        "name": "refund" if kind == "tool" else kind,
        "startTime": f"2026-01-01T00:00:{second:02d}Z",
        "endTime": f"2026-01-01T00:00:{second + 1:02d}Z",
        "input": given,
        "output": made,
        **more,
    }


def event(kind: str, body: Json) -> Json:
    return {"id": f"e-{body['id']}", "type": kind, "timestamp": "2026-01-01T00:00:00Z", "body": body}


FIRST = observation("o1", "generation", 1, HISTORY[:1], None, model="m")
BATCH: Json = {
    "batch": [
        event("trace-create", {"id": "t", "name": "agent", "input": QUERY}),
        event("generation-create", FIRST),
        event("generation-update", {"id": "o1", "output": CALL, "usageDetails": {"input": 50, "output": 5}}),
        event("tool-create", observation("o2", "tool", 3, {"id": 7}, {"ok": True})),
        event(
            "generation-create",
            observation(
                *("o3", "generation", 5, HISTORY, {"role": "assistant", "content": ANSWER}),
                model="m",
                usageDetails={"input": 40, "input_cached_tokens": 30, "output": 3},
            ),
        ),
        event("score-create", {"id": "s", "traceId": "t", "value": 1}),
    ]
}

# ── MLflow, before it counted tokens itself ─────────────────────────────────────────────────────────────────


def completion(message: Json, given: int, made: int) -> Json:
    return {"id": f"c{given}", "model": "m", "choices": [{"message": message}], "usage": used(given, made)}


def used(given: int, made: int) -> Json:
    return {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}


def mlflow_span(number: int, name: str, kind: str, given: Any, made: Any) -> Json:
    return {
        "name": name,
        "context": {"span_id": f"0x{number}", "trace_id": "0x1"},
        "parent_id": None if number == 1 else "0x1",
        "start_time": number * 10**9,
        "end_time": (number + (20 if number == 1 else 1)) * 10**9,
        "status_code": "OK",
        "attributes": {
            "mlflow.spanType": json.dumps(kind),
            "mlflow.spanInputs": json.dumps(given),
            "mlflow.spanOutputs": json.dumps(made),
        },
        "events": [],
    }


MLFLOW: Json = {
    "info": {"request_id": "t", "status": "OK"},
    "data": {
        "spans": [
            mlflow_span(1, "agent", "AGENT", {"query": QUERY}, ANSWER),
            mlflow_span(2, "Completions_1", "CHAT_MODEL", {"messages": HISTORY[:1]}, completion(CALL, 50, 5)),
            mlflow_span(4, "refund", "TOOL", {"id": 7}, {"ok": True}),
            mlflow_span(
                *(6, "Completions_2", "CHAT_MODEL", {"messages": HISTORY}),
                completion({"role": "assistant", "content": ANSWER}, 70, 3),
            ),
        ]
    },
}

# ── Results of Vercel's AI SDK ──────────────────────────────────────────────────────────────────────────────

VERCEL_CALL = {"toolCallId": "call_1", "toolName": "refund"}
VERCEL_4: Json = {
    "prompt": QUERY,
    "text": ANSWER,
    "steps": [
        {
            "text": "",
            "toolCalls": [{**VERCEL_CALL, "args": {"id": 7}}],
            "toolResults": [{**VERCEL_CALL, "args": {"id": 7}, "result": {"ok": True}}],
            "finishReason": "tool-calls",
            "usage": {"promptTokens": 50, "completionTokens": 5},
            "response": {"id": "c1", "modelId": "m"},
        },
        {
            "text": ANSWER,
            "toolCalls": [],
            "toolResults": [],
            "finishReason": "stop",
            "usage": {"promptTokens": 70, "completionTokens": 3},
            "response": {"id": "c2", "modelId": "m"},
        },
    ],
}
VERCEL_5: Json = {
    "prompt": QUERY,
    "text": ANSWER,
    "steps": [
        {
            **VERCEL_4["steps"][0],
            "content": [
                {"type": "tool-call", **VERCEL_CALL, "input": {"id": 7}},
                {"type": "tool-result", **VERCEL_CALL, "input": {"id": 7}, "output": {"ok": True}},
            ],
            "usage": {"inputTokens": 50, "outputTokens": 5},
        },
        {
            **VERCEL_4["steps"][1],
            "content": [{"type": "text", "text": ANSWER}],
            "usage": {"inputTokens": 70, "outputTokens": 3},
        },
    ],
}

# ── Haystack, LlamaIndex, semantic-kernel, Google ───────────────────────────────────────────────────────────────


HAYSTACK_CALL: Json = {"tool_name": "refund", "arguments": {"id": 7}, "id": "call_1"}


def haystack(before: str) -> Json:
    """What an agent returns; before 2.9 the keys of a message began with an underscore."""

    def said(role: str, content: Json, tokens: tuple[int, int] | None = None) -> Json:
        usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]} if tokens else None
        fields = {"role": role, "content": [content], "meta": {"model": "m", "usage": usage} if tokens else {}}
        return {before + key: value for key, value in fields.items()}

    returned = {"result": '{"ok": true}', "origin": HAYSTACK_CALL, "error": False}
    return {
        "messages": [
            said("user", {"text": QUERY}),
            said("assistant", {"tool_call": HAYSTACK_CALL}, (50, 5)),
            said("tool", {"tool_call_result": returned}),
            said("assistant", {"text": ANSWER}, (70, 3)),
        ]
    }


def semantic_kernel(kind: str, role: str, tokens: tuple[int, int] | None = None, /, **fields: Any) -> Json:
    usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]} if tokens else None
    items = [{"content_type": kind, "metadata": {}, **fields}]
    about = {"ai_model_id": "m", "metadata": {"usage": usage}} if tokens else {"metadata": {}}
    return {"content_type": "message", "role": role, **about, "items": items}


SEMANTIC_KERNEL = {
    "messages": [
        semantic_kernel("text", "user", text=QUERY),
        semantic_kernel("function_call", "assistant", (50, 5), id="call_1", name="refund", arguments='{"id": 7}'),
        semantic_kernel("function_result", "tool", id="call_1", name="refund", result='{"ok": true}'),
        semantic_kernel("text", "assistant", (70, 3), text=ANSWER),
    ]
}
FIRST_PYDANTIC_AI = [
    {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": QUERY}]},
    {
        "kind": "response",
        "model_name": "m",
        "usage": {"requests": 1, "request_tokens": 50, "response_tokens": 5},
        "parts": [{"part_kind": "tool-call", "tool_name": "refund", "args": '{"id": 7}', "tool_call_id": "call_1"}],
    },
    {
        "kind": "request",
        "parts": [
            {"part_kind": "tool-return", "tool_name": "refund", "content": {"ok": True}, "tool_call_id": "call_1"}
        ],
    },
    {
        "kind": "response",
        "model_name": "m",
        "usage": {"requests": 1, "request_tokens": 70, "response_tokens": 3},
        "parts": [{"part_kind": "text", "content": ANSWER}],
    },
]


def block(kind: str, /, **fields: Any) -> Json:
    return {"block_type": kind, **fields}


LLAMA_INDEX: list[Json] = [
    {"role": "user", "additional_kwargs": {}, "blocks": [block("text", text=QUERY)]},
    {
        "role": "assistant",
        "additional_kwargs": {"tool_calls": [ASKED]},
        "blocks": [
            block("text", text=""),
            block("tool_call", tool_call_id="call_1", tool_name="refund", tool_kwargs='{"id": 7}'),
        ],
    },
    {
        "role": "tool",
        "additional_kwargs": {"tool_call_id": "call_1"},
        "blocks": [block("text", text='{"ok": true}')],
    },
    {"role": "assistant", "additional_kwargs": {}, "blocks": [block("text", text=ANSWER)]},
]
LLAMA_INDEX_BEFORE = [
    {**{key: one[key] for key in ("role", "additional_kwargs")}, "content": one["blocks"][0]["text"]}
    for one in LLAMA_INDEX
]


@pytest.mark.parametrize(
    "document",
    [
        LLAMA_INDEX,
        {"messages": LLAMA_INDEX},
        LLAMA_INDEX_BEFORE,
        {"messages": LLAMA_INDEX_BEFORE},
        {"store": {"user-1": LLAMA_INDEX}, "class_name": "SimpleChatStore"},
    ],
)
def test_messages_of_llama_index(tmp_path: Path, document: Json | list[Json]) -> None:
    (trace,) = read(write(tmp_path / "t.json", document))
    assert (trace.query, trace.answer, len(trace.model_calls)) == (QUERY, ANSWER, 2)
    (call,) = trace.tool_calls
    assert (call.tool, call.id, call.arguments, call.result) == ("refund", "call_1", {"id": 7}, {"ok": True})


def test_a_chat_store_of_llama_index_holds_a_conversation_per_key(tmp_path: Path) -> None:
    store = {"store": {"a": LLAMA_INDEX, "b": LLAMA_INDEX[:1], "c": []}, "class_name": "SimpleChatStore"}
    traces = read(write(tmp_path / "t.json", store))
    assert [(one.trace_id, len(one.tool_calls)) for one in traces] == [("a", 1), ("b", 0)]


def test_a_chat_store_of_llama_index_with_something_else(tmp_path: Path) -> None:
    store = {"store": {"a": LLAMA_INDEX, "b": [{"tool": "refund"}]}, "class_name": "SimpleChatStore"}
    with pytest.raises(TraceError, match="'b' is no list of messages"):
        read(write(tmp_path / "t.json", store))


def test_a_failed_call_of_haystack(tmp_path: Path) -> None:
    document = haystack("")
    document["messages"][2]["content"][0]["tool_call_result"] |= {"error": True, "result": "no such order"}
    (trace,) = read(write(tmp_path / "t.json", document))
    assert trace.tool_calls[0].error == "no such order"


@pytest.mark.parametrize("key", ["automatic_function_calling_history", "automaticFunctionCallingHistory"])
def test_calls_that_googles_sdk_makes_by_itself(tmp_path: Path, key: str) -> None:
    call = {"function_call": {"name": "refund", "args": {"id": 7}}}
    failed = {"function_response": {"name": "refund", "response": {"error": "declined"}}}
    returned = {"function_response": {"name": "refund", "response": {"result": "ok"}}}
    response = {
        "candidates": [{"content": {"role": "model", "parts": [{"text": ANSWER}]}}],
        key: [
            {"role": "user", "parts": [{"text": QUERY}]},
            {"role": "model", "parts": [call]},
            {"role": "user", "parts": [failed]},
            {"role": "model", "parts": [call]},
            {"role": "user", "parts": [returned]},
        ],
    }
    (trace,) = read(write(tmp_path / "t.json", response))
    assert (trace.query, trace.answer) == (QUERY, ANSWER)
    assert [(one.tool, one.arguments, one.error, one.group) for one in trace.tool_calls] == [
        ("refund", {"id": 7}, "declined", None),
        ("refund", {"id": 7}, None, None),
    ]


@pytest.mark.parametrize("place", ["record", "response"])
def test_a_call_beside_what_the_model_says(tmp_path: Path, place: str) -> None:
    record: Json = {
        "request": {"messages": HISTORY[:1]},
        "response": {"choices": [{"message": {"role": "assistant", "content": ANSWER}}]},
    }
    (record if place == "record" else record["response"])["executed"] = [{"tool_name": "refund", "args": {"id": 7}}]
    with pytest.raises(TraceError, match="has a tool call in 'executed', which is not read"):
        read(write(tmp_path / "t.json", record))


def without(fields: Json, *names: str) -> Json:
    return {key: value for key, value in fields.items() if key not in names}


WHOLE = {
    "haystack": haystack(""),
    "haystack before 2.9": haystack("_"),
    "semantic-kernel": SEMANTIC_KERNEL,
    "pydantic-ai 0": {"messages": FIRST_PYDANTIC_AI},
    "langsmith, runs with their children": {**RUNS[0], "child_runs": RUNS[1:]},
    "langsmith, a list of traces": {"export": {}, "traces": [{**RUNS[0], "child_runs": RUNS[1:]}]},
    "langsmith, texts": [{**one, **{name: json.dumps(one[name]) for name in TEXTS}} for one in RUNS],
    "langfuse, a batch of a client": BATCH,
    "mlflow": MLFLOW,
    "vercel 4": VERCEL_4,
    "vercel 5": VERCEL_5,
    "vercel 5, as JSON": {
        **VERCEL_5,
        "steps": [without(step, "toolCalls", "toolResults") for step in VERCEL_5["steps"]],
    },
}


@pytest.mark.parametrize("name", WHOLE)
def test_the_whole_run(tmp_path: Path, name: str) -> None:
    (trace,) = read(write(tmp_path / "t.json", json.dumps(WHOLE[name]).encode()))
    assert (trace.query, trace.answer) == (QUERY, ANSWER)
    (call,) = trace.tool_calls
    assert (call.tool, call.id, call.arguments, call.result) == ("refund", "call_1", {"id": 7}, {"ok": True})
    assert [(one.model, one.tokens_in, one.tokens_out) for one in trace.model_calls] == [("m", 50, 5), ("m", 70, 3)]


@pytest.mark.parametrize("events", range(1, 4))
def test_batches_of_a_client_of_langfuse(tmp_path: Path, events: int) -> None:
    """What one batch creates, another may update."""
    parts = [BATCH["batch"][place : place + events] for place in range(0, len(BATCH["batch"]), events)]
    (trace,) = read(write(tmp_path / "t.jsonl", lines(*({"batch": part} for part in parts))))
    assert (trace.query, trace.answer) == (QUERY, ANSWER)
    assert [(one.tool, one.result) for one in trace.tool_calls] == [("refund", {"ok": True})]
    assert [one.tokens_in for one in trace.model_calls] == [50, 70]


def test_errors_of_vercels_steps(tmp_path: Path) -> None:
    failed = {"type": "tool-error", **VERCEL_CALL, "input": {"id": 7}, "error": "boom"}
    step = {**VERCEL_5["steps"][0], "content": [VERCEL_5["steps"][0]["content"][0], failed]}
    (trace,) = read(write(tmp_path / "t.json", json.dumps({"steps": [step]}).encode()))
    assert [call.error for call in trace.tool_calls] == ["boom"]


@pytest.mark.parametrize("step", [{"toolCalls": {}}, {"toolCalls": [], "actions": [{"name": "a"}]}])
def test_steps_of_vercel_that_nobody_writes(tmp_path: Path, step: Json) -> None:
    with pytest.raises(TraceError):
        read(write(tmp_path / "t.json", json.dumps({"steps": [{"toolResults": [], **step}]}).encode()))


# ── What an object is not ───────────────────────────────────────────────────────────────────────────────────


def test_parts_whose_other_kinds_are_null(tmp_path: Path) -> None:
    """Google's SDK for Python writes every field that a part can have."""
    none = {"text": None, "function_call": None, "function_response": None, "inline_data": None, "thought": None}
    contents = [
        {"role": "user", "parts": [{**none, "text": QUERY}]},
        {"role": "model", "parts": [{**none, "function_call": {"id": None, "name": "refund", "args": {"id": 7}}}]},
        {"role": "user", "parts": [{**none, "function_response": {"name": "refund", "response": {"ok": True}}}]},
        {"role": "model", "parts": [{**none, "text": ANSWER}]},
    ]
    (trace,) = read(write(tmp_path / "t.json", json.dumps({"contents": contents}).encode()))
    assert [(call.tool, call.arguments, call.result) for call in trace.tool_calls] == [
        ("refund", {"id": 7}, {"ok": True})
    ]
    assert (trace.query, trace.answer) == (QUERY, ANSWER)


def test_results_of_autogen_before_its_events(tmp_path: Path) -> None:
    responses = [{"tool_call_id": "call_1", "role": "tool", "content": "ok"}]
    messages = [*HISTORY[:2], {"content": "ok", "role": "tool", "name": "user_proxy", "tool_responses": responses}]
    (trace,) = read(write(tmp_path / "t.json", json.dumps(messages).encode()))
    assert [(call.tool, call.id, call.result) for call in trace.tool_calls] == [("refund", "call_1", "ok")]


# ── Messages in other wrappings ─────────────────────────────────────────────────────────────────────────────

TYPED_CALL: Json = {
    "type": "ai",
    "id": "a1",
    "content": "",
    "tool_calls": CALLS,
    "usage_metadata": {"input_tokens": 50, "output_tokens": 5, "total_tokens": 55},
}
TYPED_RESULT: Json = {"type": "tool", "id": "t1", "content": "ok", "tool_call_id": "call_1", "name": "refund"}
FUNCTION_CALL: Json = {"type": "function_call", "call_id": "call_1", "name": "refund", "arguments": '{"id": 7}'}
SAID: Json = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER}]}


def test_updates_of_langgraph(tmp_path: Path) -> None:
    """A node may hand on what was said before."""
    data = lines(
        {"agent": {"messages": [TYPED_CALL]}},
        {"tools": {"messages": [TYPED_RESULT]}, "log": None},
        {
            "agent": {
                "messages": [TYPED_CALL, TYPED_RESULT, {"type": "ai", "id": "a2", "content": ANSWER}],
                "next": "end",
            }
        },
    )
    (trace,) = read(write(tmp_path / "t.jsonl", data))
    assert [(call.tool, call.arguments, call.result) for call in trace.tool_calls] == [("refund", {"id": 7}, "ok")]
    assert (trace.answer, len(trace.model_calls)) == (ANSWER, 2)


@pytest.mark.parametrize("update", [{"plan": {"tool_calls": [{"name": "pay"}]}}, {"plan": 5}])
def test_updates_of_langgraph_that_are_not_read(tmp_path: Path, update: Json) -> None:
    with pytest.raises(TraceError):
        read(write(tmp_path / "t.jsonl", lines({"agent": {"messages": [TYPED_CALL]}}, update)))


def test_responses_that_name_the_one_before(tmp_path: Path) -> None:
    def response(key: str, before: str | None, output: list[Json]) -> Json:
        counts = {"input_tokens": 50, "output_tokens": 5, "total_tokens": 55}
        about = {"id": key, "object": "response", "model": "m", "usage": counts}
        return {**about, "previous_response_id": before, "output": output}

    data = lines(response("r1", None, [FUNCTION_CALL]), response("r2", "r1", [SAID]))
    (trace,) = read(write(tmp_path / "t.jsonl", data))
    assert [(call.model, call.tokens_in, call.tokens_out) for call in trace.model_calls] == [("m", 50, 5)] * 2
    assert [(call.tool, call.arguments) for call in trace.tool_calls] == [("refund", {"id": 7})]
    assert (trace.answer, trace.inferred) == (ANSWER, ("run",))


def test_items_of_a_conversation_as_the_api_lists_them(tmp_path: Path) -> None:
    given = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": QUERY}]}
    made = {"type": "function_call_output", "call_id": "call_1", "output": "ok"}
    document = {"object": "list", "data": [given, FUNCTION_CALL, made, SAID], "has_more": False}
    (trace,) = read(write(tmp_path / "t.json", json.dumps(document).encode()))
    assert (trace.query, trace.answer) == (QUERY, ANSWER)
    assert [(call.tool, call.result) for call in trace.tool_calls] == [("refund", "ok")]


def test_the_output_of_a_batch(tmp_path: Path) -> None:
    body = {"object": "chat.completion", "model": "m", "choices": [{"message": CALL}], "usage": used(50, 5)}
    (trace,) = read(
        write(tmp_path / "t.jsonl", lines({"custom_id": "r", "response": {"status_code": 200, "body": body}}))
    )
    assert [(call.tool, call.arguments) for call in trace.tool_calls] == [("refund", {"id": 7})]
    assert [(one.model, one.tokens_in) for one in trace.model_calls] == [("m", 50)]


# ── Sessions of Codex ───────────────────────────────────────────────────────────────────────────────────────


def test_older_sessions_of_codex(tmp_path: Path) -> None:
    """They begin with a line that has no type, and have items as lines."""
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": QUERY}]}
    shell = {"type": "function_call", "name": "shell", "arguments": '{"command": ["ls"]}', "call_id": "c1"}
    failed = json.dumps({"output": "no", "metadata": {"exit_code": 1}})
    data = lines(
        {"id": "s", "timestamp": "2025-07-04T05:06:07Z", "instructions": None, "git": {}},
        {"record_type": "state"},
        said,
        {"type": "reasoning", "summary": []},
        shell,
        {"record_type": "state"},
        {"type": "function_call_output", "call_id": "c1", "output": failed},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER}]},
    )
    (trace,) = read(write(tmp_path / "rollout.jsonl", data))
    assert (trace.trace_id, trace.query, trace.answer) == ("s", QUERY, ANSWER)
    assert [(call.tool, call.arguments, call.error) for call in trace.tool_calls] == [
        ("shell", {"command": ["ls"]}, "no")
    ]


def test_the_model_of_a_session_of_codex(tmp_path: Path) -> None:
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ANSWER}]}
    data = lines(
        {"type": "session_meta", "payload": {"id": "s"}},
        {"type": "turn_context", "payload": {"model": "gpt-5-codex"}},
        {"type": "response_item", "payload": message},
    )
    (trace,) = read(write(tmp_path / "rollout.jsonl", data))
    assert [call.model for call in trace.model_calls] == ["gpt-5-codex"]


def test_what_only_events_of_codex_tell(tmp_path: Path) -> None:
    """Where items say it too, it is not said twice."""

    def told(kind: str, message: str) -> Json:
        return {"type": "event_msg", "payload": {"type": kind, "message": message}}

    begins = {"type": "session_meta", "payload": {"id": "s"}}
    call = {"type": "response_item", "payload": FUNCTION_CALL}
    events = [begins, told("user_message", QUERY), call, told("agent_message", ANSWER)]
    (trace,) = read(write(tmp_path / "rollout.jsonl", lines(*events)))
    assert (trace.query, trace.answer, len(trace.model_calls), len(trace.tool_calls)) == (QUERY, ANSWER, 1, 1)
    both = [*events, {"type": "response_item", "payload": SAID}]
    (trace,) = read(write(tmp_path / "rollout.jsonl", lines(*both)))
    texts = [step.text for step in trace.steps if isinstance(step, Message)]
    assert (texts, len(trace.model_calls)) == ([QUERY, ANSWER], 1)


# ── Files of known products that are not read ───────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("record", "product"),
    [
        ({"conversations": [{"from": "human", "value": "hi"}]}, "training data"),
        ({"id": "1", "op_name": "x", "project_id": "p", "started_at": "2026-01-01"}, "W&B Weave"),
        ({"id": "1", "span_attributes": {"type": "llm"}, "root_span_id": "1", "span_id": "1"}, "Braintrust"),
        ({"eval_set_id": "s", "eval_cases": []}, "an eval set of Google's ADK"),
    ],
)
def test_a_product_is_named(tmp_path: Path, record: Json, product: str) -> None:
    with pytest.raises(TraceError, match=r"this looks like .*: ") as refused:
        read(write(tmp_path / "t.jsonl", lines(record)))
    assert product in str(refused.value)


# ── Nothing disappears ──────────────────────────────────────────────────────────────────────────────────────


def paths_of(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The path of each key in a document."""
    if isinstance(value, list):
        return [found for index, one in enumerate(value) for found in paths_of(one, (*path, index))]
    if not isinstance(value, dict):
        return []
    return [found for key, one in value.items() for found in ((*path, key), *paths_of(one, (*path, key)))]


SMOLAGENTS: Json = {
    "steps": [
        {"task": QUERY},
        {
            "step_number": 1,
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "refund", "arguments": {"id": 7}}}
            ],
            "observations": "ok",
        },
    ]
}
ATIF: Json = {
    "schema_version": "ATIF-v1.7",
    "steps": [
        {"source": "user", "message": QUERY},
        {
            "source": "agent",
            "message": "",
            "tool_calls": [{"tool_call_id": "call_1", "function_name": "refund", "arguments": {"id": 7}}],
        },
    ],
}
CLAUDE: Json = {
    "type": "assistant",
    "session_id": "s",
    "message": {"id": "m", "content": [{"type": "tool_use", "id": "call_1", "name": "refund", "input": {"id": 7}}]},
}


LANGCHAIN: Json = {"messages": [{"type": "human", "content": QUERY}, TYPED_CALL, TYPED_RESULT]}


@pytest.mark.parametrize("name", [*WHOLE, "smolagents", "atif", "claude", "langchain"])
def test_a_key_that_nobody_knows_hides_no_call(tmp_path: Path, name: str) -> None:
    document = {**WHOLE, "smolagents": SMOLAGENTS, "atif": ATIF, "claude": CLAUDE, "langchain": LANGCHAIN}[name]
    for path in paths_of(document):
        changed = json.loads(json.dumps(document))
        holder = changed
        for key in path[:-1]:
            holder = holder[key]
        holder[f"x_{path[-1]}"] = holder.pop(path[-1])
        try:
            traces = read(write(tmp_path / "t.json", json.dumps(changed).encode()))
        except TraceError:
            continue
        assert any(one.tool_calls or one.calls_unknown for one in traces), path
