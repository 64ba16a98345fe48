"""Dialects: the same run, `refund` asked for and carried out once, as each instrumentation names it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.traces.spans.recording import (
    Json,
    agent,
    chat,
    log,
    otlp,
    read_documents,
    read_spans,
    said,
    span,
    tool,
    words,
)

from passmuster._problems import TraceError
from passmuster.traces._model import Handoff
from passmuster.traces._totals import total_tokens

ARGUMENTS = {"id": 7, "amount": 2.5}
ASKED = {"id": "c1", "type": "function", "function": {"name": "refund", "arguments": json.dumps(ARGUMENTS)}}
QUERY, ANSWER = "Refund order 7.", "Refunded."


def flat(prefix: str, *messages: Json) -> Json:
    """Messages as OpenInference numbers them."""
    found: Json = {}
    for number, message in enumerate(messages):
        for key, one in message.items():
            found[f"{prefix}.{number}.message.{key}"] = one
    return found


CALL = {
    "role": "assistant",
    "tool_calls.0.tool_call.id": "c1",
    "tool_calls.0.tool_call.function.name": "refund",
    "tool_calls.0.tool_call.function.arguments": json.dumps(ARGUMENTS),
}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "{'ok': True}"}


def llm(number: int, parent: int, given: list[Json], made: Json, **more: Any) -> Json:
    counts = {"llm.token_count.prompt": 100, "llm.token_count.completion": 10}
    attributes = {"openinference.span.kind": "LLM", **counts, **flat("llm.input_messages", *given)}
    return span(number, "ChatOpenAI", parent, {**attributes, **flat("llm.output_messages", made), **more})


OPENINFERENCE = [
    span(
        1,
        "support.run",
        None,
        {"openinference.span.kind": "AGENT", "input.value": '{"task": "Refund order 7."}'},
        end=99,
    )
    | {"name": "support.run"},
    llm(2, 1, [{"role": "user", "content": f"New task:\n{QUERY}"}], CALL),
    span(
        3,
        "SimpleTool",
        1,
        {
            "openinference.span.kind": "TOOL",
            "tool.name": "refund",
            "input.value": json.dumps({"args": [7], "kwargs": {"amount": 2.5}, "sanitize_inputs_outputs": True}),
            "tool.parameters": json.dumps({"id": {"type": "integer"}, "amount": {}}),
            "output.value": "{'ok': True}",
        },
    ),
    llm(4, 1, [{"role": "user", "content": QUERY}, CALL, RESULT], {"role": "assistant", "content": ANSWER}),
]

OLD_OPENLLMETRY = [
    span(1, "support.workflow", None, {"traceloop.span.kind": "workflow"}, end=99),
    span(
        2,
        "openai.chat",
        1,
        {
            "llm.request.type": "chat",
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": QUERY,
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.tool_calls.0.id": "c1",
            "gen_ai.completion.0.tool_calls.0.name": "refund",
            "gen_ai.completion.0.tool_calls.0.arguments": json.dumps(ARGUMENTS),
            "gen_ai.usage.prompt_tokens": 100,
            "gen_ai.usage.completion_tokens": 10,
        },
    ),
    span(
        3,
        "refund.tool",
        1,
        {
            "traceloop.span.kind": "tool",
            "traceloop.entity.name": "refund",
            "traceloop.entity.input": json.dumps({"input_str": str(ARGUMENTS), "tags": [], "metadata": {}}),
            "traceloop.entity.output": json.dumps(
                {
                    "output": {
                        "lc": 1,
                        "type": "constructor",
                        "id": ["langchain", "schema", "messages", "ToolMessage"],
                        "kwargs": {"content": '{"ok": true}', "tool_call_id": "c1", "status": "success"},
                    },
                    "kwargs": {},
                }
            ),
        },
    ),
    span(
        4,
        "openai.chat",
        1,
        {
            "llm.request.type": "chat",
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": QUERY,
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.content": ANSWER,
            "gen_ai.usage.prompt_tokens": 100,
            "gen_ai.usage.completion_tokens": 10,
        },
    ),
]

USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 5}}


def observation(number: int, name: str, kind: str, parent: int | None, given: Any, made: Any, **more: Any) -> Json:
    own = {"type": kind, "input": json.dumps(given), "output": made if isinstance(made, str) else json.dumps(made)}
    own |= {"usage_details": json.dumps(USAGE)} if kind == "generation" else {}
    attributes = {f"langfuse.observation.{key}": one for key, one in own.items()}
    return span(number, name, parent, attributes, **more)


MESSAGES = [{"role": "user", "content": QUERY}]
LANGFUSE = [
    observation(1, "support", "agent", None, {"query": QUERY}, ANSWER, end=99),
    observation(2, "gpt", "generation", 1, {"messages": MESSAGES}, {"role": "assistant", "tool_calls": [ASKED]}),
    observation(3, "refund", "tool", 1, ARGUMENTS, {"ok": True}),
    observation(4, "gpt", "generation", 1, {"messages": MESSAGES}, {"role": "assistant", "content": ANSWER}),
]

STRANDS = [
    agent(1, None, "support", end=99),
    span(
        2,
        "chat",
        1,
        {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 10},
        events=[
            ("gen_ai.user.message", {"content": json.dumps([{"text": QUERY}])}),
            (
                "gen_ai.choice",
                {"message": json.dumps([{"toolUse": {"toolUseId": "c1", "name": "refund", "input": ARGUMENTS}}])},
            ),
        ],
    ),
    span(
        3,
        "execute_tool refund",
        1,
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "refund", "gen_ai.tool.call.id": "c1"},
        events=[
            ("gen_ai.tool.message", {"content": json.dumps(ARGUMENTS), "id": "c1"}),
            ("gen_ai.choice", {"message": json.dumps([{"text": '{"ok": true}'}]), "id": "c1"}),
        ],
    ),
    span(
        4,
        "chat",
        1,
        {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 10},
        events=[
            ("gen_ai.user.message", {"content": json.dumps([{"text": QUERY}])}),
            ("gen_ai.choice", {"message": json.dumps([{"text": ANSWER}])}),
        ],
    ),
]

OLD_ADK = [
    agent(1, None, "support", end=99),
    span(
        2,
        "call_llm",
        1,
        {
            "gen_ai.system": "gcp.vertex.agent",
            "gcp.vertex.agent.llm_request": json.dumps({"contents": [{"role": "user", "parts": [{"text": QUERY}]}]}),
            "gcp.vertex.agent.llm_response": json.dumps(
                {
                    "content": {
                        "role": "model",
                        "parts": [{"function_call": {"id": "c1", "name": "refund", "args": ARGUMENTS}}],
                    },
                    "usage_metadata": {
                        "prompt_token_count": 100,
                        "candidates_token_count": 7,
                        "thoughts_token_count": 3,
                    },
                }
            ),
        },
        end=35,
    ),
    span(
        3,
        "execute_tool refund",
        2,
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "refund",
            "gen_ai.tool.call.id": "c1",
            "gcp.vertex.agent.tool_call_args": json.dumps(ARGUMENTS),
            "gcp.vertex.agent.tool_response": '{"ok": true}',
            "gcp.vertex.agent.llm_request": "{}",
        },
        begin=30,
        end=32,
    ),
    span(
        9,
        "execute_tool (merged)",
        2,
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "(merged tools)"},
        begin=33,
        end=34,
    ),
    span(
        4,
        "call_llm",
        1,
        {
            "gcp.vertex.agent.llm_request": json.dumps({"contents": [{"role": "user", "parts": [{"text": QUERY}]}]}),
            "gcp.vertex.agent.llm_response": json.dumps(
                {
                    "content": {"role": "model", "parts": [{"text": "thinking", "thought": True}, {"text": ANSWER}]},
                    "usage_metadata": {"prompt_token_count": 100, "candidates_token_count": 10},
                }
            ),
        },
    ),
]

OLD_PYDANTIC_AI = [
    span(
        1,
        "agent run",
        None,
        {
            "agent_name": "support",
            "final_result": ANSWER,
            "gen_ai.usage.input_tokens": 200,
            "all_messages_events": json.dumps(
                [{"event.name": "gen_ai.user.message", "role": "user", "content": QUERY}]
            ),
        },
        end=99,
    ),
    span(
        2,
        "chat m",
        1,
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "m",
            "gen_ai.usage.input_tokens": 100,
            "gen_ai.usage.output_tokens": 10,
            "events": json.dumps(
                [
                    {"event.name": "gen_ai.user.message", "role": "user", "content": QUERY},
                    {
                        "event.name": "gen_ai.choice",
                        "index": 0,
                        "message": {"role": "assistant", "tool_calls": [ASKED]},
                    },
                ]
            ),
        },
    ),
    span(5, "running tools", 1, {"tools": ["refund"]}, begin=28, end=39),
    span(
        3,
        "running tool",
        5,
        {
            "gen_ai.tool.name": "refund",
            "gen_ai.tool.call.id": "c1",
            "tool_arguments": json.dumps(ARGUMENTS),
            "tool_response": '{"ok": true}',
        },
    ),
    span(
        4,
        "chat m",
        1,
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "m",
            "gen_ai.usage.input_tokens": 100,
            "gen_ai.usage.output_tokens": 10,
            "events": json.dumps(
                [
                    {"event.name": "gen_ai.user.message", "role": "user", "content": QUERY},
                    {"event.name": "gen_ai.choice", "index": 0, "message": {"role": "assistant", "content": ANSWER}},
                ]
            ),
        },
    ),
]

VERCEL = [
    span(
        1,
        "ai.generateText",
        None,
        {"ai.operationId": "ai.generateText", "ai.prompt": json.dumps({"prompt": QUERY})},
        end=99,
    ),
    span(
        2,
        "ai.generateText.doGenerate",
        1,
        {
            "ai.operationId": "ai.generateText.doGenerate",
            "ai.prompt.messages": json.dumps([{"role": "user", "content": [{"type": "text", "text": QUERY}]}]),
            "ai.response.toolCalls": json.dumps(
                [{"toolCallType": "function", "toolCallId": "c1", "toolName": "refund", "args": json.dumps(ARGUMENTS)}]
            ),
            "ai.response.finishReason": "tool-calls",
            "ai.usage.promptTokens": 100,
            "ai.usage.completionTokens": 10,
            "gen_ai.usage.input_tokens": 100,
        },
    ),
    span(
        3,
        "ai.toolCall",
        1,
        {
            "ai.operationId": "ai.toolCall",
            "ai.toolCall.name": "refund",
            "ai.toolCall.id": "c1",
            "ai.toolCall.args": json.dumps(ARGUMENTS),
            "ai.toolCall.result": '{"ok": true}',
        },
    ),
    span(
        4,
        "ai.generateText.doGenerate",
        1,
        {
            "ai.operationId": "ai.generateText.doGenerate",
            "ai.response.text": ANSWER,
            "ai.usage.inputTokens": 100,
            "ai.usage.outputTokens": 10,
        },
    ),
]

LITELLM = [
    span(1, "handle", None, {}, end=99),
    *(
        one
        for number, inner, made, choices, function in (
            (2, 3, [], [{"message": {"role": "assistant", "tool_calls": [ASKED]}}], True),
            (4, 5, [said("assistant", words(ANSWER))], [{"message": {"role": "assistant", "content": ANSWER}}], False),
        )
        for one in (
            chat(
                number,
                1,
                [said("user", words(QUERY))]
                + ([] if function else [{"role": "assistant", "parts": [], "tool_calls": [ASKED]}])
                + (
                    []
                    if function
                    else [
                        {"role": "tool", "parts": [{"type": "text", "content": '{"ok": true}'}], "tool_call_id": "c1"}
                    ]
                ),
                made or [said("assistant")],
                attributes={
                    "gen_ai.completion.0.function_call.name": "refund" if function else None,
                    "gen_ai.completion.0.function_call.arguments": json.dumps(ARGUMENTS) if function else None,
                },
            ),
            span(
                inner,
                "raw_gen_ai_request",
                number,
                {
                    "llm.openai.id": f"resp-0af7-{number}",
                    "llm.openai.choices": str(choices),
                    "llm.openai.messages": str(MESSAGES),
                    "llm.openai.usage": str(USAGE),
                },
                begin=number * 10 + 1,
                end=number * 10 + 2,
            ),
        )
    ),
]

CLAUDE_CODE = [
    span(1, "claude_code.interaction", None, {"user_prompt": QUERY, "span.type": "interaction"}, end=99),
    span(
        2,
        "claude_code.llm_request",
        1,
        {
            "input_tokens": 60,
            "cache_read_tokens": 30,
            "cache_creation_tokens": 10,
            "output_tokens": 10,
            "span.type": "llm_request",
        },
    ),
    span(
        3,
        "claude_code.tool",
        1,
        {"tool_name": "refund", "tool_use_id": "c1", "tool_input": json.dumps(ARGUMENTS), "span.type": "tool"},
        events=[("tool.output", {"output": '{"ok": true}'})],
    ),
    span(7, "claude_code.tool.execution", 3, {"success": True, "span.type": "tool.execution"}, begin=31, end=33),
    span(4, "claude_code.llm_request", 1, {"input_tokens": 100, "output_tokens": 10, "span.type": "llm_request"}),
]

DIALECTS = {
    "OpenInference": OPENINFERENCE,
    "older OpenLLMetry": OLD_OPENLLMETRY,
    "Langfuse": LANGFUSE,
    "strands": STRANDS,
    "older ADK": OLD_ADK,
    "older pydantic-ai": OLD_PYDANTIC_AI,
    "Vercel": VERCEL,
    "litellm": LITELLM,
    "Claude Code": CLAUDE_CODE,
}
ANSWERLESS = ("Claude Code",)


@pytest.mark.parametrize("name", DIALECTS)
def test_the_same_run_in_every_dialect(tmp_path: Path, name: str) -> None:
    (found,) = read_spans(tmp_path, *DIALECTS[name])
    (made,) = found.tool_calls
    assert (made.tool, made.arguments, made.result, made.error) == ("refund", ARGUMENTS, {"ok": True}, None)
    assert made.id in ("c1", None)
    assert (len(found.model_calls), total_tokens(found)) == (2, 220)
    assert found.query == QUERY
    assert found.answer == (None if name in ANSWERLESS else ANSWER)
    assert not found.calls_unknown


@pytest.mark.parametrize("name", DIALECTS)
def test_a_failed_call_in_every_dialect(tmp_path: Path, name: str) -> None:
    spans = [
        {**one, "status": {"code": 2, "message": "no money"}} if one["spanId"].endswith("3") else one
        for one in DIALECTS[name]
    ]
    (found,) = read_spans(tmp_path, *spans)
    assert found.tool_calls[0].failed == (name != "litellm")


def test_the_arguments_of_claude_code_are_in_log_records(tmp_path: Path) -> None:
    spans = [
        {**one, "attributes": [pair for pair in one["attributes"] if pair["key"] != "tool_input"]}
        for one in CLAUDE_CODE
    ]
    told = {"tool_use_id": "c1", "tool_name": "refund", "success": "false", "error": "no money"}
    told["tool_input"] = json.dumps(ARGUMENTS)
    record = log(1, "claude_code.tool_result", "claude_code.tool_result", attributes=told)
    answer = log(1, "claude_code.assistant_response", "", attributes={"response": ANSWER})
    (found,) = read_documents(tmp_path, record, otlp(*spans), answer)
    (made,) = found.tool_calls
    assert (made.tool, made.arguments, made.error, found.answer) == ("refund", ARGUMENTS, "no money", ANSWER)


# ── Traps ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_call_of_a_model_in_two_instrumentations(tmp_path: Path) -> None:
    """Anthropic's SDK records each call itself, beside or inside the span of an instrumentation."""
    inner = {"gen_ai.output.messages": None, "gen_ai.input.messages": None, "gen_ai.response.id": "resp-0af7-2"}
    question, answer = [said("user", words(QUERY))], [said("assistant", words(ANSWER))]
    beside = chat(3, 1, [], None, begin=21, end=24, attributes=inner, scope="sdk")
    inside = chat(4, 2, [], None, begin=22, end=23, attributes={**inner, "gen_ai.response.id": None})
    nameless = chat(5, 1, [], None, begin=22, end=24, attributes={**inner, "gen_ai.response.id": None}, scope="other")
    for doubles in ([beside], [inside], [nameless], [beside, inside, nameless]):
        (found,) = read_spans(tmp_path, agent(1, None, "a", end=99), chat(2, 1, question, answer), *doubles)
        assert (len(found.model_calls), total_tokens(found), found.answer) == (1, 110, ANSWER)


def test_sums_on_an_agent_are_not_counted(tmp_path: Path) -> None:
    summed = {"gen_ai.usage.input_tokens": 900, "gen_ai.usage.output_tokens": 90}
    root = span(1, "invoke_agent a", None, {"gen_ai.operation.name": "invoke_agent", **summed}, end=99)
    (found,) = read_spans(tmp_path, root, chat(2, 1, [], [said("assistant", words(ANSWER))]))
    assert total_tokens(found) == 110


def test_the_preparation_of_a_model_call_is_none(tmp_path: Path) -> None:
    """llama-index records how it prepares a call as another span of a model."""
    prepares = {
        "openinference.span.kind": "LLM",
        "output.value": json.dumps({"messages": ["ChatMessage(role='user')"]}),
    }
    spans = [*OPENINFERENCE, span(8, "OpenAI._prepare_chat_with_tools", 1, prepares, begin=18, end=19)]
    (found,) = read_spans(tmp_path, *spans)
    assert (len(found.model_calls), total_tokens(found)) == (2, 220)


def test_a_tool_in_two_instrumentations(tmp_path: Path) -> None:
    """autogen's own span of a tool lies inside that of OpenInference, which has no id."""
    outer = {
        "openinference.span.kind": "TOOL",
        "tool.name": "refund",
        "input.value": json.dumps(ARGUMENTS),
        "output.value": "ok",
    }
    (found,) = read_spans(
        tmp_path,
        agent(1, None, "a", end=99),
        span(2, "a.refund", 1, outer, begin=20, end=30),
        tool(3, 2, "refund", "c1", begin=21, end=29),
        span(4, "a.refund", 1, outer, begin=21, end=31),
        tool(5, 4, "refund", "c2", begin=22, end=30),
    )
    assert [(call.tool, call.id, call.arguments) for call in found.tool_calls] == [
        ("refund", "c1", ARGUMENTS),
        ("refund", "c2", ARGUMENTS),
    ]


def test_a_tool_that_is_taken_for_an_agent(tmp_path: Path) -> None:
    """OpenInference takes LangChain's tools for agents if their names say so."""
    named = {**CALL, "tool_calls.0.tool_call.function.name": "ask_agent"}
    like = {"openinference.span.kind": "AGENT", "input.value": json.dumps(ARGUMENTS), "output.value": "done"}
    spans = [OPENINFERENCE[0], llm(2, 1, MESSAGES, named), span(3, "ask_agent", 1, like)]
    (found,) = read_spans(tmp_path, *spans)
    (made,) = found.tool_calls
    assert (made.tool, made.result, made.id) == ("ask_agent", "done", "c1")


def test_a_handoff_that_is_taken_for_a_tool(tmp_path: Path) -> None:
    spans = [OPENINFERENCE[0], span(3, "handoff to billing", 1, {"openinference.span.kind": "TOOL"}), OPENINFERENCE[1]]
    (found,) = read_spans(tmp_path, *spans)
    assert Handoff("billing", "support") in found.steps
    assert [call.tool for call in found.tool_calls] == ["refund"]


def test_ids_of_items_and_of_calls(tmp_path: Path) -> None:
    """OpenLLMetry gives the calls of Responses the ids of their items, and results those of their calls."""
    question = said("user", words(QUERY))
    asked = said(
        "assistant",
        {"type": "tool_call", "name": "a", "id": "fc_1", "arguments": {"n": 1}},
        {"type": "tool_call", "name": "a", "id": "fc_2", "arguments": {"n": 1}},
    )
    results = [
        said("tool", {"type": "tool_call_response", "id": f"call_{n}", "response": f"result {n}"}) for n in (1, 2)
    ]
    (found,) = read_spans(
        tmp_path,
        span(1, "handle", None, {}, end=99),
        chat(2, 1, [question], [asked]),
        chat(3, 1, [question, asked, *results], [said("assistant", words(ANSWER))]),
    )
    assert [(call.tool, call.result) for call in found.tool_calls] == [("a", "result 1"), ("a", "result 2")]


def test_an_answer_that_is_missing_is_shown_by_the_next_messages(tmp_path: Path) -> None:
    question = said("user", words(QUERY))
    asked = said("assistant", {"type": "tool_call", "name": "refund", "id": "c1", "arguments": ARGUMENTS})
    given = [question, asked, said("tool", {"type": "tool_call_response", "id": "c1", "response": "ok"})]
    (found,) = read_spans(
        tmp_path,
        span(1, "handle", None, {}, end=99),
        chat(2, 1, [question], None),
        chat(3, 1, given, [said("assistant", words(ANSWER))]),
    )
    assert [(call.tool, call.arguments, call.result) for call in found.tool_calls] == [("refund", ARGUMENTS, "ok")]


def test_calls_of_earlier_runs_in_the_history_are_not_counted(tmp_path: Path) -> None:
    history = [
        said("user", words("Before")),
        said("assistant", {"type": "tool_call", "name": "old", "id": "c0", "arguments": {}}),
    ]
    history += [said("tool", {"type": "tool_call_response", "id": "c0", "response": "x"}), said("user", words(QUERY))]
    (found,) = read_spans(
        tmp_path, agent(1, None, "a", end=99), chat(2, 1, history, [said("assistant", words(ANSWER))])
    )
    assert (found.tool_calls, found.query) == ([], QUERY)


def test_content_that_is_switched_off(tmp_path: Path) -> None:
    nothing = {"gen_ai.input.messages": None}
    (found,) = read_spans(
        tmp_path, agent(1, None, "a", end=99), chat(2, 1, [], None, attributes=nothing), tool(3, 1, "refund", "c1")
    )
    assert [(call.tool, call.arguments) for call in found.tool_calls] == [("refund", None)]
    assert not found.calls_unknown
    (found,) = read_spans(tmp_path, agent(1, None, "a", end=99), chat(2, 1, [], None, attributes=nothing))
    assert found.calls_unknown


def test_traces_without_a_step_are_none(tmp_path: Path) -> None:
    created = {"gen_ai.operation.name": "create_agent", "gen_ai.agent.name": "support"}
    (found,) = read_documents(
        tmp_path, otlp(span(1, "create_agent support", None, created, trace="ff" * 16)), otlp(*LANGFUSE)
    )
    assert found.answer == ANSWER


def test_model_calls_that_overwrite_one_span(tmp_path: Path) -> None:
    """OpenInference writes all model calls of an agent of ADK to one span: the calls are those of the tools' spans."""
    two = {
        "role": "model",
        "tool_calls.0.tool_call.id": "c1",
        "tool_calls.0.tool_call.function.name": "look",
        "tool_calls.1.tool_call.id": "c2",
        "tool_calls.1.tool_call.function.name": "look",
    }
    left = {**two, "tool_calls.0.tool_call.id": "c3", "content": ANSWER}
    given = [
        *MESSAGES,
        two,
        {"role": "model", "tool_calls.0.tool_call.id": "c3", "tool_calls.0.tool_call.function.name": "look"},
    ]
    model = llm(2, 1, given, left)
    model["endTimeUnixNano"] = OPENINFERENCE[0]["endTimeUnixNano"]
    spans = [tool(number, 2, "look", f"c{number - 2}", arguments={}, result=number) for number in (3, 4, 5)]
    (found,) = read_spans(tmp_path, OPENINFERENCE[0], model, *spans)
    assert [call.id for call in found.tool_calls] == ["c1", "c2", "c3"]
    groups = [call.group for call in found.tool_calls]
    assert groups[0] is not None
    assert groups == [groups[0], groups[0], None]
    assert (total_tokens(found), found.answer) == (None, ANSWER)


def test_agents_of_a_crew(tmp_path: Path) -> None:
    """crewai has no span for an agent that a tool delegates to, and states what is asked in its tasks."""
    crew = {"openinference.span.kind": "CHAIN", "crew_tasks": json.dumps([{"description": QUERY}])}
    given = {"coworker": "billing", "task": "refund"}
    delegates = {
        "openinference.span.kind": "TOOL",
        "tool.name": "Delegate work to coworker",
        "input.value": json.dumps(given),
    }
    refunds = {"openinference.span.kind": "TOOL", "tool.name": "refund", "input.value": json.dumps(ARGUMENTS)}
    (found,) = read_spans(
        tmp_path,
        span(1, "Crew.kickoff", None, crew, end=99),
        span(2, "triage._execute_core", 1, {"openinference.span.kind": "AGENT"}, end=90),
        span(3, "Delegate work to coworker.run", 2, delegates, end=80),
        span(4, "refund.run", 3, refunds),
    )
    assert [(call.tool, call.agent) for call in found.tool_calls] == [
        ("Delegate work to coworker", "triage"),
        ("refund", "billing"),
    ]
    assert found.query == QUERY


def test_an_agent_that_is_called_as_a_tool(tmp_path: Path) -> None:
    """smolagents has no span of a tool for a managed agent. An agent that nobody asked for is no call."""
    named = {**CALL, "tool_calls.0.tool_call.function.name": "billing"}
    works = {"openinference.span.kind": "AGENT", "input.value": '{"task": "refund"}', "output.value": "Refunded 7."}
    spans = [OPENINFERENCE[0], llm(2, 1, MESSAGES, named), span(3, "billing.run", 1, works, begin=30, end=60)]
    spans += [span(4, "billing.run", 1, works, begin=70, end=80), span(5, "billing.run", 3, works, begin=31, end=59)]
    (found,) = read_spans(tmp_path, *spans)
    assert [(call.tool, call.result, call.agent) for call in found.tool_calls] == [
        ("billing", "Refunded 7.", "support")
    ]


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("transfer_to_agent", {"agent_name": "billing"}, [Handoff("billing", "support")]),
        ("handoff", {"to_agent": "billing", "reason": "refund"}, [Handoff("billing", "support")]),
        ("transfer_to_billing", {}, [Handoff("billing", "support")]),
        ("transfer_to_sales", {}, []),
    ],
)
def test_tools_that_hand_over(tmp_path: Path, name: str, given: Json, expected: list[Handoff]) -> None:
    asked = said("assistant", {"type": "tool_call", "name": name, "id": "c1", "arguments": given})
    (found,) = read_spans(
        tmp_path,
        span(1, "workflow", None, {}, end=99),
        agent(2, 1, "support", begin=2, end=40),
        chat(3, 2, [said("user", words(QUERY))], [asked]),
        agent(4, 1, "billing", begin=41, end=80),
        chat(5, 4, [said("user", words(QUERY))], [said("assistant", words(ANSWER))]),
    )
    assert [call.tool for call in found.tool_calls] == [name]
    assert [step for step in found.steps if isinstance(step, Handoff)] == expected


# ── Shapes of other recordings ──────────────────────────────────────────────────────────────────────────────


def test_claude_code_tells_failures_in_a_span_inside_the_tool(tmp_path: Path) -> None:
    shared = {"gen_ai.request.model": "c", "gen_ai.agent.name": "ops", "session.id": "s"}
    failed = {**shared, "success": False, "error": "Shell command failed"}
    named = {"tool_use_id": "toolu_1", "gen_ai.tool.call.id": "toolu_1"}
    (trace,) = read_spans(
        tmp_path,
        agent(1, None, "ops", end=900),
        span(2, "claude_code.interaction", 1, {**shared, "user_prompt": "List them."}, end=800),
        span(3, "claude_code.llm_request", 2, {**shared, "input_tokens": 10, "output_tokens": 5, "model": "c"}),
        span(4, "claude_code.tool", 2, {**shared, **named, "tool_name": "Bash", "full_command": "ls"}, end=60),
        span(5, "claude_code.tool.blocked_on_user", 4, {**shared, "decision": "unknown"}),
        span(6, "claude_code.tool.execution", 4, {**failed, **named}, begin=52, end=59, failed="Shell command failed"),
        span(7, "claude_code.tool", 2, {**shared, "tool_name": "Read"}, end=80),
        span(8, "claude_code.tool.execution", 7, {**shared, "success": True}, begin=72, end=79),
    )
    first, second = trace.tool_calls
    assert (first.tool, first.id, first.arguments, first.error) == (
        *("Bash", "toolu_1", {"command": "ls"}),
        "Shell command failed",
    )
    assert (second.tool, second.arguments, second.error) == ("Read", None, None)


def test_tools_that_the_api_runs_itself(tmp_path: Path) -> None:
    answer = said(
        "assistant",
        {"type": "server_tool_call", "name": "web_search", "server_tool_call": {"type": "web_search", "query": "x"}},
        {"type": "server_tool_call_response", "server_tool_call_response": {"type": "web_search", "results": 3}},
        words("Found."),
    )
    (trace,) = read_spans(tmp_path, agent(1, None, "a", end=90), chat(2, 1, [said("user", words("q"))], [answer]))
    (call,) = trace.tool_calls
    assert (call.tool, call.arguments, call.result) == ("web_search", {"query": "x"}, {"results": 3})
    assert trace.answer == "Found."


def test_adk_cuts_calls_short(tmp_path: Path) -> None:
    """Two calls that failed have the same words for an id, and are still two."""
    cut = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "price",
        "gen_ai.tool.call.id": "<not specified>",
        "gcp.vertex.agent.tool_response": '{"result": "<not specified>"}',
    }
    asked = [{"function_call": {"name": "price", "args": {"of": one}}} for one in "XY"]
    response = {"content": {"role": "model", "parts": asked}, "usage_metadata": {"prompt_token_count": 18}}
    (trace,) = read_spans(
        tmp_path,
        agent(1, None, "a", end=900),
        span(2, "call_llm", 1, {"gcp.vertex.agent.llm_response": json.dumps(response)}, end=600),
        span(3, "execute_tool price", 2, {**cut, "gcp.vertex.agent.tool_call_args": '{"of": "X"}'}, end=70, failed="a"),
        span(4, "execute_tool price", 2, {**cut, "gcp.vertex.agent.tool_call_args": '{"of": "Y"}'}, end=70, failed="b"),
    )
    found = [(call.id, call.arguments, call.error, call.result) for call in trace.tool_calls]
    assert found == [(None, {"of": "X"}, "a", None), (None, {"of": "Y"}, "b", None)]


def without_span(document: Json, at: int) -> Json:
    (record,) = document["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
    del record["spanId"]
    record["observedTimeUnixNano"] = str(1_790_000_000_000_000_000 + at * 1_000_000)
    return document


@pytest.mark.parametrize("second", [False, True])
def test_log_records_that_name_no_span(tmp_path: Path, second: bool) -> None:
    """They belong to the only model call of their trace, or to the one that was going on."""
    named = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 5}
    spans = [span(1, "run", None, {}, end=90), span(2, "chat m", 1, named)]
    if second:
        spans.append(span(3, "chat m", 1, named))
    message = {"message": {"role": "assistant", "tool_calls": [ASKED]}}
    (trace,) = read_documents(
        tmp_path,
        without_span(log(2, "gen_ai.user.message", {"content": QUERY}), 21),
        without_span(log(2, "gen_ai.choice", message), 24),
        otlp(*spans),
    )
    assert (trace.query, len(trace.model_calls)) == (QUERY, 2 if second else 1)
    assert [(call.tool, call.arguments) for call in trace.tool_calls] == [("refund", ARGUMENTS)]


def test_log_records_that_fit_several_model_calls(tmp_path: Path) -> None:
    named = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 5}
    document = otlp(span(1, "run", None, {}), span(2, "chat", 1, named, end=60), span(3, "chat", 1, named, end=60))
    choice = without_span(log(2, "gen_ai.choice", {"message": {"tool_calls": [ASKED]}}), 40)
    with pytest.raises(TraceError, match=r"'gen_ai.choice' names no span and fits 2 model calls"):
        read_documents(tmp_path, document, choice)
