"""One call of `refund` in older and rarer dialects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.traces.spans.recording import Json, agent, read_spans, span

from passmuster._problems import TraceError

QUERY, ANSWER = "Refund 7", "Refunded."
ASKED = {"id": "call_1", "type": "function", "function": {"name": "refund", "arguments": '{"id": 7}'}}
MODEL = {"gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 50, "gen_ai.usage.output_tokens": 5}
CHAT = {"gen_ai.operation.name": "chat", **MODEL}


def text(value: Any) -> str:
    return json.dumps(value)


def constructed(kind: str, /, **fields: Any) -> Json:
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", kind], "kwargs": fields}


AZURE = span(
    *(2, "chat m", None, CHAT),
    events=[
        ("gen_ai.user.message", {"gen_ai.event.content": text({"content": QUERY})}),
        ("gen_ai.choice", {"gen_ai.event.content": text({"message": {"tool_calls": [ASKED]}, "index": 0})}),
    ],
)
SEMANTIC_KERNEL = span(
    *(2, "chat.completions m", None),
    {
        "gen_ai.operation.name": "chat.completions",
        "gen_ai.request.model": "m",
        "gen_ai.response.prompt_tokens": 50,
        "gen_ai.response.completion_tokens": 5,
    },
    events=[
        ("gen_ai.content.prompt", {"gen_ai.prompt": text([{"role": "user", "content": QUERY}])}),
        ("gen_ai.content.completion", {"gen_ai.completion": text([{"role": "assistant", "tool_calls": [ASKED]}])}),
    ],
)
FIRST_OPENLLMETRY = span(
    *(2, "openai.chat", None),
    {
        "llm.request.type": "chat",
        "llm.request.model": "m",
        "llm.prompts.0.role": "user",
        "llm.prompts.0.content": QUERY,
        "llm.completions.0.role": "assistant",
        "llm.completions.0.function_call.name": "refund",
        "llm.completions.0.function_call.arguments": '{"id": 7}',
        "llm.usage.prompt_tokens": 50,
        "llm.usage.completion_tokens": 5,
    },
)
OTHER_OPERATION = span(
    *(2, "infer m", None),
    {
        **MODEL,
        "gen_ai.operation.name": "infer",
        "gen_ai.input.messages": text([{"role": "user", "parts": [{"type": "text", "content": QUERY}]}]),
        "gen_ai.output.messages": text(
            [{"role": "assistant", "parts": [{"type": "tool_call", "name": "refund", "arguments": {"id": 7}}]}]
        ),
    },
)
CALLS = [{"name": "refund", "args": {"id": 7}, "id": "call_1", "type": "tool_call"}]
LANGSMITH = span(
    *(2, "ChatOpenAI", None),
    {
        "langsmith.span.kind": "llm",
        **CHAT,
        "gen_ai.prompt": text({"messages": [[constructed("HumanMessage", content=QUERY)]]}),
        "gen_ai.completion": text(
            {"generations": [[{"message": constructed("AIMessage", content="", tool_calls=CALLS)}]]}
        ),
    },
)
BRAINTRUST = span(
    *(2, "Chat Completion", None),
    {
        "braintrust.span_attributes": text({"type": "llm"}),
        "braintrust.input_json": text([{"role": "user", "content": QUERY}]),
        "braintrust.output_json": text([{"message": {"role": "assistant", "tool_calls": [ASKED]}}]),
        "braintrust.metadata": text({"model": "m"}),
        "braintrust.metrics": text({"prompt_tokens": 50, "completion_tokens": 5}),
    },
)


@pytest.mark.parametrize(
    "recorded",
    [AZURE, SEMANTIC_KERNEL, FIRST_OPENLLMETRY, OTHER_OPERATION, LANGSMITH, BRAINTRUST],
    ids=["azure", "semantic-kernel", "first openllmetry", "unknown operation", "langsmith", "braintrust"],
)
def test_a_model_call(tmp_path: Path, recorded: Json) -> None:
    (trace,) = read_spans(tmp_path, recorded)
    assert trace.query == QUERY
    assert [(call.tool, call.arguments) for call in trace.tool_calls] == [("refund", {"id": 7})]
    assert [(one.model, one.tokens_in, one.tokens_out) for one in trace.model_calls] == [("m", 50, 5)]


GOOGLE = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "refund",
    "code.function.name": "refund",
    "code.function.parameters.id.type": "int",
    "code.function.parameters.id.value": "7",
    "code.function.return.value": "done",
    "code.function.return.type": "str",
}
TOOLS: dict[str, Json] = {
    "google": GOOGLE,
    "langsmith": {
        "langsmith.span.kind": "tool",
        "gen_ai.prompt": text({"input": "{'id': 7}"}),
        "gen_ai.completion": text({"output": "done"}),
    },
    "livekit": {
        "lk.function_tool.name": "refund",
        "lk.function_tool.arguments": '{"id": 7}',
        "lk.function_tool.output": "done",
        "lk.function_tool.is_error": False,
    },
    "braintrust": {
        "braintrust.span_attributes": text({"type": "tool", "name": "refund"}),
        "braintrust.input_json": text({"id": 7}),
        "braintrust.output_json": text("done"),
    },
    "openllmetry with the whole call": {
        "traceloop.span.kind": "tool",
        "traceloop.entity.name": "refund",
        "traceloop.entity.input": text({"name": "refund", "arguments": {"id": 7}}),
        "traceloop.entity.output": text("done"),
    },
}


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool(tmp_path: Path, name: str) -> None:
    (trace,) = read_spans(tmp_path, agent(1, None, "a", end=90), span(2, "refund", 1, TOOLS[name]))
    assert [(call.tool, call.arguments, call.result, call.error) for call in trace.tool_calls] == [
        ("refund", {"id": 7}, "done", None)
    ]


def test_values_of_google_that_are_no_text(tmp_path: Path) -> None:
    more = {
        "code.function.parameters.all.type": "bool",
        "code.function.parameters.all.value": "True",
        "code.function.parameters.items.type": "list",
        "code.function.parameters.items.value": "['a', 1]",
        "code.function.parameters.id.value": "not a number",
    }
    (trace,) = read_spans(tmp_path, span(2, "execute_tool refund", None, {**GOOGLE, **more}))
    assert trace.tool_calls[0].arguments == {"id": "not a number", "all": True, "items": ["a", 1]}


def test_messages_in_a_way_that_nobody_knows(tmp_path: Path) -> None:
    """An answer that cannot be read is not an answer without calls."""
    (trace,) = read_spans(tmp_path, span(2, "chat", None, CHAT, events=[("gen_ai.choice", {"payload": "?"})]))
    assert trace.calls_unknown


@pytest.mark.parametrize("name", ["my.function_tool.title", "acme.tool.name", "acme.tool_arguments", "x.tool_name"])
def test_tools_of_dialects_that_nobody_knows(tmp_path: Path, name: str) -> None:
    with pytest.raises(TraceError, match="could be a tool call"):
        read_spans(tmp_path, agent(1, None, "a", end=90), AZURE, span(3, "work", 1, {name: "refund"}))


# ── Workflows, crews and SDKs that run tools themselves ─────────────────────────────────────────────────────


def test_a_tool_in_a_workflow_of_llama_index(tmp_path: Path) -> None:
    output = {"tool_name": "refund", "tool_id": "call_1", "tool_output": {"raw_output": "declined", "is_error": True}}
    end = {"result": {"response": {"role": "assistant", "blocks": [{"block_type": "text", "text": ANSWER}]}}}
    task = {"traceloop.span.kind": "task", "traceloop.entity.name": "BaseWorkflowAgent.task"}
    spans = [
        span(1, "FunctionAgent.workflow", None, {"traceloop.span.kind": "workflow"}, end=90),
        span(
            *(2, "BaseWorkflowAgent.task", 1),
            {**task, "tool.name": "refund", "tool.arguments": '{"id": 7}', "traceloop.entity.output": text(output)},
            end=30,
        ),
        span(3, "FunctionTool.task", 2, {**task, "traceloop.entity.input": text({"kwargs": {"id": 7}})}, begin=21),
        span(4, "BaseWorkflowAgent.task", 1, {**task, "traceloop.entity.output": text(end)}),
    ]
    (trace,) = read_spans(tmp_path, *spans)
    assert [(one.tool, one.id, one.arguments, one.error) for one in trace.tool_calls] == [
        ("refund", "call_1", {"id": 7}, "declined")
    ]
    assert trace.answer == ANSWER


def test_the_task_of_a_crew_is_the_query(tmp_path: Path) -> None:
    crew = {"gen_ai.operation.name": "invoke_agent", "gen_ai.provider.name": "crewai"}
    prompt = text([{"role": "user", "parts": [{"type": "text", "content": f"Current Task: {QUERY}. Be exact."}]}])
    spans = [
        span(1, "crewai.workflow", None, crew, end=90),
        span(2, "refund.task", 1, {**crew, "crewai.task.description": QUERY}, end=80),
        span(3, "chat m", 2, {**CHAT, "gen_ai.input.messages": prompt}),
    ]
    (trace,) = read_spans(tmp_path, *spans)
    assert trace.query == QUERY


def test_calls_that_googles_sdk_makes_within_a_span(tmp_path: Path) -> None:
    def content(role: str, *parts: Json) -> Json:
        return {"role": role, "parts": list(parts)}

    def called(order: int) -> Json:
        return {"function_call": {"name": "refund", "args": {"id": order}}}

    def returned(**response: str) -> Json:
        return {"function_response": {"name": "refund", "response": response}}

    history = [
        content("user", {"text": QUERY}),
        content("model", called(7), called(8)),
        content("user", returned(result="ok"), returned(error="declined")),
        content("model", called(9)),
        content("user", returned(result="ok")),
    ]
    attributes = {
        "openinference.span.kind": "LLM",
        "llm.model_name": "gemini",
        "llm.token_count.prompt": 50,
        "llm.token_count.completion": 5,
        "input.value": text({"contents": history[:1]}),
        "output.value": text({"candidates": [], "automatic_function_calling_history": history}),
        "llm.output_messages.0.message.role": "model",
        "llm.output_messages.0.message.content": ANSWER,
    }
    (trace,) = read_spans(tmp_path, span(1, "GenerateContent", None, attributes))
    assert [(one.arguments, one.error is not None) for one in trace.tool_calls] == [
        ({"id": 7}, False),
        ({"id": 8}, True),
        ({"id": 9}, False),
    ]
    first, second, third = (one.group for one in trace.tool_calls)
    assert first == second is not None
    assert third is None
    assert trace.answer == ANSWER


@pytest.mark.parametrize(
    ("attributes", "error"),
    [
        ({"tool.status": "error", "gen_ai.tool.call.result": "declined"}, "declined"),
        ({"tool.status": "success", "gen_ai.tool.call.result": "declined"}, None),
        (
            {"gcp.vertex.agent.tool_call_args": "{}", "gcp.vertex.agent.tool_response": '{"error": "declined"}'},
            "declined",
        ),
        ({"gcp.vertex.agent.tool_call_args": "{}", "gcp.vertex.agent.tool_response": '{"error": null}'}, None),
    ],
)
def test_failures_that_the_status_of_a_span_does_not_tell(tmp_path: Path, attributes: Json, error: str | None) -> None:
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "refund"}
    (trace,) = read_spans(tmp_path, span(1, "execute_tool refund", None, {**tool, **attributes}))
    assert [one.error for one in trace.tool_calls] == [error]
