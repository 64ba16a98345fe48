"""Conversations in the words of each API: the same run, whatever its form.

In each form the user asks for the weather of two cities, the model asks for both at once, one of the calls fails where
the form can say so, and the model answers.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.traces.building import Json, lines, read, refusal, tools, write

from passmuster.traces._model import Handoff, Trace

ASKED, ANSWERED = "Weather in Rome and Oslo?", "Rome is sunny."
ROME, OSLO = {"city": "Rome"}, {"city": "Oslo"}
SUN: Json = {"sky": "sun"}
FAILED = "no such city"


def spoken(role: str, content: Any, **fields: Any) -> Json:
    return {"role": role, "content": content, **fields}


def parts(role: str, *parts: Json) -> Json:
    return {"role": role, "parts": list(parts)}


OPENAI = [
    spoken("user", ASKED),
    spoken(
        "assistant",
        None,
        tool_calls=[
            {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": json.dumps(ROME)}},
            {"id": "c2", "type": "function", "function": {"name": "weather", "arguments": json.dumps(OSLO)}},
        ],
    ),
    spoken("tool", FAILED, tool_call_id="c2"),
    spoken("tool", json.dumps(SUN), tool_call_id="c1"),
    spoken("assistant", ANSWERED),
]
ANTHROPIC = [
    spoken("user", ASKED),
    spoken(
        "assistant",
        [
            {"type": "thinking", "thinking": "hm", "signature": "x"},
            {"type": "text", "text": "Let me see."},
            {"type": "tool_use", "id": "c1", "name": "weather", "input": ROME},
            {"type": "tool_use", "id": "c2", "name": "weather", "input": OSLO},
        ],
    ),
    spoken(
        "user",
        [
            {"type": "tool_result", "tool_use_id": "c2", "content": FAILED, "is_error": True},
            {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": json.dumps(SUN)}]},
        ],
    ),
    spoken("assistant", [{"type": "text", "text": ANSWERED}]),
]
BEDROCK = [
    spoken("user", [{"text": ASKED}]),
    spoken(
        "assistant",
        [
            {"text": "Let me see."},
            {"toolUse": {"toolUseId": "c1", "name": "weather", "input": ROME}},
            {"toolUse": {"toolUseId": "c2", "name": "weather", "input": OSLO}},
        ],
    ),
    spoken(
        "user",
        [
            {"toolResult": {"toolUseId": "c1", "content": [{"json": SUN}], "status": "success"}},
            {"toolResult": {"toolUseId": "c2", "content": [{"text": FAILED}], "status": "error"}},
        ],
    ),
    spoken("assistant", [{"text": ANSWERED}]),
]
GOOGLE = [
    parts("user", {"text": ASKED}),
    parts(
        "model",
        {"functionCall": {"id": "c1", "name": "weather", "args": ROME}, "thoughtSignature": "x"},
        {"functionCall": {"id": "c2", "name": "weather", "args": OSLO}},
    ),
    parts(
        "user",
        {"functionResponse": {"id": "c1", "name": "weather", "response": SUN}},
        {"functionResponse": {"id": "c2", "name": "weather", "response": {"error": FAILED}}},
    ),
    parts("model", {"text": ANSWERED}),
]
GOOGLE_WITHOUT_IDS = json.loads(
    json.dumps(GOOGLE).replace('"id": "c1", ', "").replace('"id": "c2", ', "").replace("functionCall", "function_call")
)
VERCEL = [
    spoken("user", [{"type": "text", "text": ASKED}]),
    spoken(
        "assistant",
        [
            {"type": "reasoning", "text": "hm"},
            {"type": "tool-call", "toolCallId": "c1", "toolName": "weather", "input": ROME},
            {"type": "tool-call", "toolCallId": "c2", "toolName": "weather", "input": OSLO},
        ],
    ),
    spoken(
        "tool",
        [
            {
                "type": "tool-result",
                "toolCallId": "c1",
                "toolName": "weather",
                "output": {"type": "json", "value": SUN},
            },
            {
                "type": "tool-result",
                "toolCallId": "c2",
                "toolName": "weather",
                "output": {"type": "error-text", "value": FAILED},
            },
        ],
    ),
    spoken("assistant", ANSWERED),
]
VERCEL_4 = [
    spoken("user", ASKED),
    spoken(
        "assistant",
        "",
        toolInvocations=[
            {"state": "result", "toolCallId": "c1", "toolName": "weather", "args": ROME, "result": SUN},
            {"state": "call", "toolCallId": "c2", "toolName": "weather", "args": OSLO},
        ],
    ),
    spoken("assistant", ANSWERED),
]
VERCEL_UI = [
    parts("user", {"type": "text", "text": ASKED}),
    parts(
        "assistant",
        {"type": "step-start"},
        {
            "type": "tool-weather",
            "toolCallId": "c1",
            "state": "output-available",
            "input": ROME,
            "output": SUN,
        },
        {
            "type": "dynamic-tool",
            "toolName": "weather",
            "toolCallId": "c2",
            "state": "output-error",
            "input": OSLO,
            "errorText": FAILED,
        },
        {"type": "step-start"},
        {"type": "text", "text": ANSWERED},
    ),
]
LANGCHAIN: list[Json] = [
    {"type": "human", "content": ASKED, "additional_kwargs": {}, "id": "h1"},
    {
        "type": "ai",
        "content": [{"type": "tool_use", "id": "c1", "name": "weather", "input": ROME}],
        "tool_calls": [
            {"name": "weather", "args": ROME, "id": "c1", "type": "tool_call"},
            {"name": "weather", "args": OSLO, "id": "c2", "type": "tool_call"},
        ],
        "additional_kwargs": {"tool_calls": OPENAI[1]["tool_calls"]},
    },
    {"type": "tool", "content": json.dumps(SUN), "tool_call_id": "c1", "status": "success"},
    {"type": "tool", "content": FAILED, "tool_call_id": "c2", "status": "error"},
    {"type": "ai", "content": ANSWERED, "tool_calls": []},
]
LANGCHAIN_OLD = [
    {"type": "human", "data": {"content": ASKED}},
    {"type": "ai", "data": {"content": "", "additional_kwargs": {"tool_calls": OPENAI[1]["tool_calls"]}}},
    {"type": "tool", "data": {"content": json.dumps(SUN), "tool_call_id": "c1"}},
    {"type": "tool", "data": {"content": FAILED, "tool_call_id": "c2", "status": "error"}},
    {"type": "ai", "data": {"content": ANSWERED}},
]
_CLASSES = {"human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}
LANGCHAIN_DATA = [
    {"type": one["type"], "data": {**one, "additional_kwargs": {}, "response_metadata": {}}} for one in LANGCHAIN
]
LANGCHAIN_DUMPED = [
    {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", _CLASSES[one["type"]]],
        "kwargs": {key: value for key, value in one.items() if key != "type"},
    }
    for one in LANGCHAIN
]
PYDANTIC: list[Json] = [
    {
        "kind": "request",
        "parts": [
            {"part_kind": "system-prompt", "content": "Be kind."},
            {"part_kind": "user-prompt", "content": ASKED},
        ],
    },
    {
        "kind": "response",
        "parts": [
            {"part_kind": "text", "content": "Let me see."},
            {"part_kind": "tool-call", "tool_name": "weather", "args": json.dumps(ROME), "tool_call_id": "c1"},
            {"part_kind": "tool-call", "tool_name": "weather", "args": OSLO, "tool_call_id": "c2"},
        ],
    },
    {
        "kind": "request",
        "parts": [
            {"part_kind": "tool-return", "tool_name": "weather", "content": SUN, "tool_call_id": "c1"},
            {"part_kind": "retry-prompt", "tool_name": "weather", "content": FAILED, "tool_call_id": "c2"},
        ],
    },
    {"kind": "response", "parts": [{"part_kind": "text", "content": ANSWERED}]},
]
ITEMS: list[Json] = [
    spoken("user", ASKED),
    {"type": "reasoning", "id": "r1", "summary": []},
    {"type": "function_call", "id": "f1", "call_id": "c1", "name": "weather", "arguments": json.dumps(ROME)},
    {"type": "function_call", "id": "f2", "call_id": "c2", "name": "weather", "arguments": json.dumps(OSLO)},
    {"type": "function_call_output", "call_id": "c2", "output": FAILED},
    {"type": "function_call_output", "call_id": "c1", "output": json.dumps(SUN)},
    {
        "type": "message",
        "id": "m1",
        "role": "assistant",
        "content": [{"type": "output_text", "text": ANSWERED, "annotations": []}],
    },
]

AUTOGEN: list[Json] = [
    {"type": "TextMessage", "source": "user", "content": ASKED, "models_usage": None},
    {"type": "ThoughtEvent", "source": "helper", "content": "Let me see."},
    {
        "type": "ToolCallRequestEvent",
        "source": "helper",
        "models_usage": {"prompt_tokens": 9, "completion_tokens": 1},
        "content": [
            {"id": "c1", "name": "weather", "arguments": json.dumps(ROME)},
            {"id": "c2", "name": "weather", "arguments": json.dumps(OSLO)},
        ],
    },
    {
        "type": "ToolCallExecutionEvent",
        "source": "helper",
        "content": [
            {"call_id": "c1", "name": "weather", "content": json.dumps(SUN), "is_error": False},
            {"call_id": "c2", "name": "weather", "content": FAILED, "is_error": True},
        ],
    },
    {"type": "TextMessage", "source": "helper", "content": ANSWERED, "models_usage": {"prompt_tokens": 9}},
]
AGENT_FRAMEWORK: list[Json] = [
    {"role": {"type": "role", "value": "user"}, "contents": [{"type": "text", "text": ASKED}]},
    {
        "role": "assistant",
        "author_name": "helper",
        "contents": [
            {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": json.dumps(ROME)},
            {"type": "function_call", "call_id": "c2", "name": "weather", "arguments": OSLO},
        ],
    },
    {
        "role": "tool",
        "contents": [
            {"type": "function_result", "call_id": "c1", "result": SUN},
            {"type": "function_result", "call_id": "c2", "result": None, "exception": FAILED},
        ],
    },
    {"role": "assistant", "author_name": "helper", "contents": [{"type": "text", "text": ANSWERED}]},
]
SEMANTIC_KERNEL = [
    {
        "role": one["role"] if isinstance(one["role"], str) else "user",
        "items": [
            {("id" if key == "call_id" else "content_type" if key == "type" else key): part[key] for key in part}
            for part in one["contents"]
        ],
    }
    for one in AGENT_FRAMEWORK
]
STRANDS = [{"message": one, "message_id": number, "created_at": "…"} for number, one in enumerate(BEDROCK)]

FORMS: list[tuple[str, list[Json], bool]] = [
    ("autogen_messages", AUTOGEN, True),
    ("agent_framework_messages", AGENT_FRAMEWORK, True),
    ("agent_framework_messages", SEMANTIC_KERNEL, True),
    ("anthropic_messages", ANTHROPIC, True),
    ("bedrock_messages", BEDROCK, True),
    ("google_contents", GOOGLE, True),
    ("google_contents", GOOGLE_WITHOUT_IDS, True),
    ("vercel_messages", VERCEL, True),
    ("vercel_messages", VERCEL_4, False),
    ("vercel_messages", VERCEL_UI, True),
    ("langchain_messages", LANGCHAIN, True),
    ("langchain_messages", LANGCHAIN_OLD, True),
    ("langchain_messages", LANGCHAIN_DUMPED, True),
    ("langchain_messages", LANGCHAIN_DATA, True),
    ("pydantic_ai_messages", PYDANTIC, True),
    ("openai_responses", ITEMS, False),
    ("openai_messages", OPENAI, False),
]


def check(found: Trace, flags_errors: bool) -> None:
    """The trace is the run that every form describes."""
    assert (found.query, found.answer) == (ASKED, ANSWERED)
    assert [(call.tool, call.arguments) for call in found.tool_calls] == [("weather", ROME), ("weather", OSLO)]
    rome, oslo = found.tool_calls
    assert rome.group is not None
    assert rome.group == oslo.group
    assert rome.result == SUN
    assert not rome.failed
    assert (oslo.error == FAILED) is flags_errors
    assert len(found.model_calls) == 2


@pytest.mark.parametrize(("name", "messages", "flags_errors"), FORMS)
@pytest.mark.parametrize("key", ["messages", "contents", "input", "values"])
def test_a_conversation_in_a_record(
    tmp_path: Path, name: str, messages: list[Json], flags_errors: bool, key: str
) -> None:
    if name == "openai_messages" and key != "messages":
        pytest.skip("read by the names of its calls elsewhere")
    record: Json = {"values": {"messages": messages}} if key == "values" else {key: messages}
    (found,) = read(write(tmp_path / "t.jsonl", lines({"id": "r", **record})))
    check(found, flags_errors)
    assert found.trace_id == "r"


@pytest.mark.parametrize(("name", "messages", "flags_errors"), FORMS)
def test_a_message_per_record(tmp_path: Path, name: str, messages: list[Json], flags_errors: bool) -> None:
    for file, data in (("t.jsonl", lines(*messages)), ("t.json", json.dumps(messages, indent=1).encode())):
        (found,) = read(write(tmp_path / file, data))
        check(found, flags_errors)


def test_conversations_that_the_messages_name(tmp_path: Path) -> None:
    mixed = [{**message, "session_id": name} for message in ANTHROPIC for name in ("a", "b")]
    first, second = read(write(tmp_path / "t.jsonl", lines(*mixed)))
    check(first, True)
    check(second, True)
    assert (first.trace_id, second.trace_id) == ("a", "b")


@pytest.mark.parametrize(
    "part",
    [
        {"type": "tool_invocation_v9", "name": "refund", "input": {}},
        {"type": "holder", "inner": [{"name": "refund", "arguments": {}}]},
        {"remoteCall": {"name": "refund"}},
        [{"type": "text", "text": "x"}],
    ],
)
def test_a_part_that_could_be_a_call_is_refused(tmp_path: Path, part: Any) -> None:
    said = [
        spoken("user", ASKED),
        spoken("assistant", [{"type": "tool_use", "id": "1", "name": "a", "input": {}}, part]),
    ]
    assert "a part of its content" in refusal(write(tmp_path / "t.jsonl", lines({"messages": said})))
    assert "a part of its content" in refusal(write(tmp_path / "u.jsonl", lines(*said)))


def test_a_part_that_is_no_call_is_passed(tmp_path: Path) -> None:
    said = [
        spoken("user", ASKED),
        spoken("assistant", [{"type": "hologram", "data": "…"}, {"type": "text", "text": "x"}]),
    ]
    (found,) = read(write(tmp_path / "t.jsonl", lines(*said)))
    assert found.answer == "x"


@pytest.mark.parametrize(
    ("content", "called", "answer"),
    [
        (
            [
                {"type": "text", "text": "I look it up. "},
                {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
                {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "web_search_result"}]},
                {"type": "text", "text": "It is 4."},
            ],
            ["web_search"],
            "I look it up. It is 4.",
        ),
        (
            [
                {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
                {
                    "type": "web_search_tool_result",
                    "tool_use_id": "s1",
                    "content": {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
                },
                {"type": "tool_use", "id": "c1", "name": "ask", "input": {}},
                {"type": "text", "text": ""},
            ],
            ["web_search", "ask"],
            None,
        ),
        (
            [
                {"type": "mcp_tool_use", "id": "s1", "name": "lookup", "server_name": "s", "input": {}},
                {"type": "mcp_tool_result", "tool_use_id": "s1", "is_error": True, "content": []},
            ],
            ["lookup"],
            None,
        ),
    ],
)
def test_tools_that_the_api_runs_itself(
    tmp_path: Path, content: list[Json], called: list[str], answer: str | None
) -> None:
    (found,) = read(
        write(tmp_path / "t.jsonl", lines({"messages": [spoken("user", "?"), spoken("assistant", content)]}))
    )
    assert tools(found) == called
    assert found.answer == answer
    assert next(call.failed for call in found.tool_calls) is (answer is None)


def test_hosted_tools_among_items(tmp_path: Path) -> None:
    items = [
        spoken("user", "?"),
        {"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search", "query": "x"}},
        {"type": "mcp_call", "id": "m", "name": "look", "arguments": '{"a": 1}', "output": "4", "server_label": "s"},
        {"type": "code_interpreter_call", "id": "i", "status": "failed", "code": "1/0", "outputs": None},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "4"}]},
    ]
    (found,) = read(write(tmp_path / "t.json", {"input": items}))
    assert [(call.tool, call.arguments, call.failed) for call in found.tool_calls] == [
        ("web_search", {"type": "search", "query": "x"}, False),
        ("look", {"a": 1}, False),
        ("code_interpreter", {"code": "1/0"}, True),
    ]
    assert (found.answer, len(found.model_calls)) == ("4", 1)


def test_equal_calls_stay_apart(tmp_path: Path) -> None:
    twice = [{"type": "tool_use", "id": f"c{number}", "name": "weather", "input": ROME} for number in (1, 2)]
    (found,) = read(write(tmp_path / "t.jsonl", lines({"messages": [spoken("assistant", twice)]})))
    assert tools(found) == ["weather", "weather"]
    nameless = parts("model", *({"functionCall": {"name": "weather", "args": ROME}} for _ in range(2)))
    (found,) = read(write(tmp_path / "u.jsonl", lines({"contents": [nameless]})))
    assert tools(found) == ["weather", "weather"]


def test_a_call_whose_arguments_are_not_recorded(tmp_path: Path) -> None:
    (found,) = read(write(tmp_path / "t.jsonl", lines(spoken("assistant", [{"type": "tool_use", "name": "weather"}]))))
    assert found.tool_calls[0].arguments is None


# ── Requests and responses ──────────────────────────────────────────────────────────────────────────────────


def exchanges(messages: list[Json], respond: Any) -> list[Json]:
    """A model call for each output of the model, each with what was said before it."""
    return [
        {"request": {"model": "m", "messages": messages[:index]}, "response": respond(message, index)}
        for index, message in enumerate(messages)
        if message["role"] == "assistant"
    ]


def chat_response(message: Json, index: int) -> Json:
    usage = {"prompt_tokens": 100 + index, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 64}}
    return {"id": f"r{index}", "object": "chat.completion", "choices": [{"message": message}], "usage": usage}


def anthropic_response(message: Json, index: int) -> Json:
    usage = {"input_tokens": 36 + index, "cache_read_input_tokens": 64, "output_tokens": 10}
    return {"id": f"r{index}", "type": "message", "model": "m", **message, "stop_reason": "x", "usage": usage}


def bedrock_response(message: Json, index: int) -> Json:
    usage = {"inputTokens": 36 + index, "cacheReadInputTokens": 64, "outputTokens": 10, "totalTokens": 110 + index}
    return {"output": {"message": message}, "stopReason": "x", "usage": usage}


PAIRS = [
    (OPENAI, chat_response, False),
    (ANTHROPIC, anthropic_response, True),
    (BEDROCK, bedrock_response, True),
]


@pytest.mark.parametrize(("messages", "respond", "flags_errors"), PAIRS)
def test_model_calls_that_continue_each_other_are_one_run(
    tmp_path: Path, messages: list[Json], respond: Any, flags_errors: bool
) -> None:
    (found,) = read(write(tmp_path / "t.jsonl", lines(*exchanges(messages, respond))))
    check(found, flags_errors)
    assert found.inferred == ("run",)
    assert [(one.tokens_in, one.tokens_out, one.tokens_cached) for one in found.model_calls] == [
        (101, 10, 64),
        (100 + len(messages) - 1, 10, 64),
    ]


def test_runs_that_alternate_are_told_apart_by_the_ids_of_their_calls(tmp_path: Path) -> None:
    one = exchanges(ANTHROPIC, anthropic_response)
    other = json.loads(json.dumps(one).replace('"c1"', '"d1"').replace('"c2"', '"d2"'))
    first, second = read(write(tmp_path / "t.jsonl", lines(one[0], other[0], other[1], one[1])))
    check(first, True)
    check(second, True)
    assert [call.id for call in second.tool_calls] == ["d1", "d2"]


def test_a_model_call_that_could_continue_two_runs_continues_none(tmp_path: Path) -> None:
    one = exchanges(ANTHROPIC, anthropic_response)
    found = read(write(tmp_path / "t.jsonl", lines(one[0], one[0], one[1])))
    assert [len(each.model_calls) for each in found] == [1, 1, 2]
    assert all(each.inferred == ("run",) for each in found)


def test_runs_that_the_records_name_are_not_inferred(tmp_path: Path) -> None:
    named = [{"session_id": "s", **one} for one in exchanges(ANTHROPIC, anthropic_response)]
    (found,) = read(write(tmp_path / "t.jsonl", lines(*named)))
    check(found, True)
    assert (found.trace_id, found.inferred) == ("s", ())


def test_a_response_that_names_the_one_before(tmp_path: Path) -> None:
    records: list[Json] = [
        {
            "request": {"input": ASKED},
            "response": {"object": "response", "id": "r1", "output": ITEMS[1:4], "usage": {"input_tokens": 5}},
        },
        {
            "request": {"input": ITEMS[4:6], "previous_response_id": "r1"},
            "response": {"object": "response", "id": "r2", "output": ITEMS[6:]},
        },
    ]
    (found,) = read(write(tmp_path / "t.jsonl", lines(*records)))
    check(found, False)


def test_a_second_choice_with_a_call_is_refused(tmp_path: Path) -> None:
    response = chat_response(OPENAI[1], 1)
    response["choices"] *= 2
    record = {"request": {"messages": OPENAI[:1]}, "response": response}
    assert "has choice 2 of 2" in refusal(write(tmp_path / "t.jsonl", lines(record)))


def test_a_log_of_bedrock_invocations(tmp_path: Path) -> None:
    records = [
        {
            "schemaType": "ModelInvocationLog",
            "modelId": "m",
            "input": {"inputBodyJson": one["request"]},
            "output": {"outputBodyJson": one["response"]},
        }
        for one in exchanges(BEDROCK, bedrock_response)
    ]
    (found,) = read(write(tmp_path / "t.jsonl", lines(*records)))
    check(found, True)
    assert all(one.model == "m" for one in found.model_calls)


# ── One message of each kind ────────────────────────────────────────────────────────────────────────────────


def test_messages_that_sessions_of_strands_wrap(tmp_path: Path) -> None:
    (found,) = read(write(tmp_path / "t.jsonl", lines(*STRANDS)))
    check(found, True)


def test_agents_of_a_team(tmp_path: Path) -> None:
    handed = {"type": "HandoffMessage", "source": "helper", "target": "boss", "content": "Over to you."}
    said = {"type": "TextMessage", "source": "boss", "content": "Fine.", "models_usage": {"prompt_tokens": 9}}
    (found,) = read(write(tmp_path / "t.json", {"messages": [*AUTOGEN, handed, said], "stop_reason": "x"}))
    assert [call.agent for call in found.tool_calls] == ["helper", "helper"]
    assert found.answer == "Fine."
    assert [step for step in found.steps if isinstance(step, Handoff)] == [Handoff("boss", "helper")]


@pytest.mark.parametrize(
    ("extra", "refused"),
    [
        ({"tool_uses": [{"name": "refund", "input": {}}]}, True),
        ({"actions": [{"tool": "refund", "arguments": {}}]}, True),
        ({"x": {"function": {"name": "refund", "arguments": "{}"}}}, True),
        ({"x": {"y": 1}, "reasoning_content": "hm", "tool_calls": []}, False),
        ({"extra": {"latency": 3, "labels": ["a"]}}, False),
    ],
)
@pytest.mark.parametrize("messages", [OPENAI, ANTHROPIC])
def test_keys_of_a_message_that_could_hold_a_call(
    tmp_path: Path, extra: Json, refused: bool, messages: list[Json]
) -> None:
    said = [*messages[:-1], {**messages[-1], **extra}]
    for path in (
        write(tmp_path / "t.jsonl", lines({"messages": said})),
        write(tmp_path / "u.jsonl", lines(*said)),
    ):
        if refused:
            assert "which is not read" in refusal(path)
        else:
            check(read(path)[0], messages is ANTHROPIC)


def test_conversations_of_several_apis_in_one_file(tmp_path: Path) -> None:
    found = read(write(tmp_path / "t.jsonl", lines(*({"messages": said} for _, said, _ in FORMS))))
    assert len(found) == len(FORMS)
    for trace, (_, _, flags_errors) in zip(found, FORMS, strict=True):
        check(trace, flags_errors)
