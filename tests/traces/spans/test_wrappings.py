"""The same three spans as exporters and stores of spans wrap them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.traces.building import Json, lines, read, write

QUERY = "Refund 7"
AGENT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "support"}
CHAT = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "m",
    "gen_ai.usage.input_tokens": 50,
    "gen_ai.usage.output_tokens": 5,
    "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": QUERY}]}]),
    "gen_ai.output.messages": json.dumps(
        [{"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "refund", "arguments": {"id": 7}}]}]
    ),
}
TOOL = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "refund",
    "gen_ai.tool.call.id": "c1",
    "gen_ai.tool.call.arguments": '{"id": 7}',
}
RUN: list[tuple[str, str | None, str, int, int, Json]] = [
    ("01", None, "invoke_agent support", 0, 20, AGENT),
    ("02", "01", "chat m", 1, 3, CHAT),
    ("03", "01", "execute_tool refund", 4, 5, TOOL),
]
BEGIN = 1_760_000_000
MICROS = 1_000_000


def moment(second: int) -> str:
    return f"2026-01-01T00:00:{second:02d}Z"


def failed(name: str) -> bool:
    return "tool" in name


def texts(attributes: Json) -> Json:
    return {key: str(value) for key, value in attributes.items()}


NODE: list[Json] = [
    {
        "traceId": "t",
        "parentSpanContext": {"traceId": "t", "spanId": parent} if parent else None,
        "name": name,
        "id": key,
        "timestamp": (BEGIN + start) * MICROS,
        "duration": (end - start) * MICROS,
        "attributes": given,
        "status": {"code": 2, "message": "boom"} if failed(name) else {"code": 0},
        "events": [],
    }
    for key, parent, name, start, end, given in RUN
]
ZIPKIN = [
    {
        "traceId": "t",
        "id": key,
        "name": name,
        "timestamp": (BEGIN + start) * MICROS,
        "duration": (end - start) * MICROS,
        "tags": {**texts(given), **({"error": "boom", "otel.status_code": "ERROR"} if failed(name) else {})},
        **({"parentId": parent} if parent else {}),
    }
    for key, parent, name, start, end, given in RUN
]
LOGFIRE = [
    {
        "trace_id": "t",
        "span_id": key,
        "parent_span_id": parent,
        "span_name": name,
        "attributes": given,
        "start_timestamp": moment(start),
        "end_timestamp": moment(end),
        "duration": float(end - start),
        "otel_status_code": "ERROR" if failed(name) else None,
        "otel_status_message": "boom",
    }
    for key, parent, name, start, end, given in RUN
]
CLICKHOUSE = [
    {
        "TraceId": "t",
        "SpanId": key,
        "ParentSpanId": parent or "",
        "SpanName": name,
        "Timestamp": moment(start),
        "Duration": (end - start) * 10**9,
        "SpanAttributes": texts(given),
        "StatusCode": "STATUS_CODE_ERROR" if failed(name) else "STATUS_CODE_UNSET",
        "StatusMessage": "boom" if failed(name) else "",
        "Events.Name": ["note"],
        "Events.Attributes": [{"a": "b"}],
    }
    for key, parent, name, start, end, given in RUN
]
ELASTICSEARCH = [
    {
        "traceID": "t",
        "spanID": key,
        "operationName": name,
        "startTime": (BEGIN + start) * MICROS,
        "references": [{"refType": "CHILD_OF", "traceID": "t", "spanID": parent}] if parent else [],
        "duration": (end - start) * MICROS,
        "tags": [{"key": "error", "value": True}, {"key": "otel.status_description", "value": "boom"}]
        if failed(name)
        else [],
        "tag": {attribute.replace(".", "@"): value for attribute, value in given.items()},
    }
    for key, parent, name, start, end, given in RUN
]


def value(plain: Any) -> Json:
    return {"intValue": plain} if isinstance(plain, int) else {"stringValue": plain}


OTLP = {
    "resourceSpans": [
        {
            "scopeSpans": [
                {
                    "spans": [
                        {
                            "traceId": "t",
                            "spanId": key,
                            "parentSpanId": parent or "",
                            "name": name,
                            "startTimeUnixNano": str((BEGIN + start) * 10**9),
                            "endTimeUnixNano": str((BEGIN + end) * 10**9),
                            "attributes": [{"key": one, "value": value(given[one])} for one in given],
                            "status": {"code": 2, "message": "boom"} if failed(name) else {},
                        }
                        for key, parent, name, start, end, given in RUN
                    ]
                }
            ]
        }
    ]
}
WRAPPED: dict[str, Any] = {
    "node": NODE,
    "zipkin": ZIPKIN,
    "logfire": LOGFIRE,
    "clickhouse": CLICKHOUSE,
    "jaeger in elasticsearch": ELASTICSEARCH,
    "jaeger's api": [{"result": OTLP}],
}


@pytest.mark.parametrize("name", WRAPPED)
def test_a_run(tmp_path: Path, name: str) -> None:
    (trace,) = read(write(tmp_path / "t.jsonl", lines(*WRAPPED[name])))
    assert (trace.trace_id, trace.query) == ("t", QUERY)
    (model,) = trace.model_calls
    assert (model.model, model.tokens_in, model.tokens_out, model.duration_ms) == ("m", 50, 5, 2000)
    (call,) = trace.tool_calls
    assert (call.tool, call.id, call.arguments, call.error, call.agent) == (
        *("refund", "c1", {"id": 7}),
        *("boom", "support"),
    )
    assert call.duration_ms == 1000


# ── Phoenix ─────────────────────────────────────────────────────────────────────────────────────────────────

ASKED = {"tool_call": {"id": "c1", "function": {"name": "refund", "arguments": '{"id": 7}'}}}
MODEL = {
    "llm": {
        "model_name": "m",
        "token_count": {"prompt": 50, "completion": 5},
        "input_messages": [{"message": {"role": "user", "content": QUERY}}],
        "output_messages": [{"message": {"role": "assistant", "tool_calls": [ASKED]}}],
    }
}
REFUND = {"tool": {"name": "refund"}, "input": {"value": '{"id": 7}'}, "output": {"value": "ok"}}


def phoenix(key: str, parent: str | None, kind: str, second: int, attributes: Any) -> Json:
    return {
        "name": kind.lower(),
        "context": {"trace_id": "t", "span_id": key},
        "span_kind": kind,
        "parent_id": parent,
        "start_time": moment(second),
        "end_time": moment(second + 1),
        "status_code": "OK",
        "attributes": attributes,
    }


PHOENIX = [
    phoenix("1", None, "AGENT", 0, {"input": {"value": QUERY}}),
    phoenix("2", "1", "LLM", 1, MODEL),
    phoenix("3", "1", "TOOL", 3, REFUND),
]


def flat(nested: Any, prefix: str) -> Json:
    if not isinstance(nested, dict):
        return {prefix: nested}
    return {key: one for name, inner in nested.items() for key, one in flat(inner, f"{prefix}.{name}").items()}


def row(span: Json) -> Json:
    fields = {key: one for key, one in span.items() if key not in ("context", "attributes")}
    return {**fields, **flat(span["context"], "context"), **flat(span["attributes"], "attributes")}


@pytest.mark.parametrize(
    "document",
    [
        PHOENIX,
        {"data": PHOENIX, "next_cursor": None},
        [{**span, "attributes": json.dumps(span["attributes"])} for span in PHOENIX],
        [row(span) for span in PHOENIX],
    ],
    ids=["spans", "answer of its API", "texts", "rows of a table"],
)
def test_phoenix(tmp_path: Path, document: Any) -> None:
    (trace,) = read(write(tmp_path / "t.json", json.dumps(document).encode()))
    assert trace.query == QUERY
    assert [(call.tool, call.id, call.arguments, call.result) for call in trace.tool_calls] == [
        ("refund", "c1", {"id": 7}, "ok")
    ]
    assert [(one.model, one.tokens_in, one.tokens_out) for one in trace.model_calls] == [("m", 50, 5)]


def test_a_kind_of_a_wrong_type(tmp_path: Path) -> None:
    document = [
        PHOENIX[0],
        PHOENIX[2],
        {**PHOENIX[1], "span_kind": {}, "attributes": {"openinference.span.kind": "LLM"}},
    ]
    (trace,) = read(write(tmp_path / "t.json", json.dumps(document).encode()))
    assert [call.tool for call in trace.tool_calls] == ["refund"]
