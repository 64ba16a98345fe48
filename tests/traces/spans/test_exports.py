"""The same spans in other wrappings: Jaeger, plain and nested lists, MLflow, the OpenAI Agents SDK."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.traces.building import read, refusal, write
from tests.traces.spans.recording import calls

from passmuster.traces._model import Handoff
from passmuster.traces._totals import total_tokens

CHAT = {
    "gen_ai.operation.name": "chat",
    "gen_ai.usage.input_tokens": 9,
    "gen_ai.usage.output_tokens": 1,
    "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Refund 7."}]}]),
    "gen_ai.output.messages": json.dumps(
        [{"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "refund", "arguments": {"id": 7}}]}]
    ),
}
TOOL = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "refund",
    "gen_ai.tool.call.id": "c1",
    "gen_ai.tool.call.result": "no money",
}
AGENT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "support"}


def jaeger_span(number: int, parent: int | None, start: int, duration: int, tags: dict[str, Any]) -> dict[str, Any]:
    above = [] if parent is None else [{"refType": "CHILD_OF", "traceID": "t", "spanID": str(parent)}]
    listed = [{"key": key, "type": "string", "value": one} for key, one in tags.items()]
    times = {"startTime": 1_790_000_000_000_000 + start, "duration": duration}
    return {"traceID": "t", "spanID": str(number), "operationName": "x", "references": above, "tags": listed, **times}


JAEGER = {
    "data": [
        {
            "traceID": "t",
            "spans": [
                jaeger_span(1, None, 0, 900, AGENT),
                jaeger_span(2, 1, 10, 10, CHAT),
                jaeger_span(3, 1, 30, 10, {**TOOL, "otel.status_code": "ERROR", "otel.status_description": "broke"}),
            ],
            "processes": {},
        }
    ]
}


def printed(number: int, parent: int | None, second: int, attributes: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A span as OpenTelemetry's console exporter prints it."""
    return {
        "name": "x",
        "context": {"trace_id": "0xt", "span_id": f"0x{number}", "trace_state": "[]"},
        "kind": "SpanKind.INTERNAL",
        "parent_id": None if parent is None else f"0x{parent}",
        "start_time": f"2026-03-01T09:30:{second:02}.000000Z",
        "end_time": f"2026-03-01T09:30:{50 if parent is None else second + 1}.000000Z",
        "status": {"status_code": "UNSET"},
        "attributes": attributes,
        "events": [],
        **more,
    }


BROKEN = {"status": {"status_code": "ERROR", "description": "broke"}}
PRINTED = [printed(1, None, 0, AGENT), printed(2, 1, 1, CHAT), printed(3, 1, 3, TOOL, **BROKEN)]


def nested(number: int, second: int, attributes: dict[str, Any], *inner: dict[str, Any], failed: bool = False) -> Any:
    return {
        "timestamp": f"2026-03-01T09:30:{second:02}.0Z",
        "trace_id": "t",
        "span_id": str(number),
        "parent_span_id": None,
        "span_name": "x",
        "span_attributes": attributes,
        "duration": "PT1.5S" if not inner else "PT30S",
        "status_code": "Error" if failed else "Ok",
        "status_message": "broke" if failed else "",
        "events": [],
        "child_spans": list(inner),
    }


NESTED = {"trace_id": "t", "spans": [nested(1, 0, AGENT, nested(2, 1, CHAT), nested(3, 4, TOOL, failed=True))]}
WITHOUT_IDS = [{key: one for key, one in span.items() if key not in ("context", "parent_id")} for span in PRINTED]


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("jaeger", JAEGER),
        ("one trace of jaeger", JAEGER["data"][0]),
        ("printed", PRINTED),
        ("nested", NESTED),
        ("without ids", WITHOUT_IDS),
    ],
)
def test_exports(tmp_path: Path, name: str, document: Any) -> None:
    (found,) = read(write(tmp_path / "export.json", document))
    assert calls(found) == [("refund", {"id": 7})]
    (made,) = found.tool_calls
    assert (made.error, made.result, made.agent, made.id) == ("broke", "no money", "support", "c1")
    assert (found.query, total_tokens(found)) == ("Refund 7.", 10)


@pytest.mark.parametrize("indent", [None, 4])
@pytest.mark.parametrize("name", ["spans.jsonl", "spans.json", "spans.log"])
def test_printed_spans_one_after_another(tmp_path: Path, name: str, indent: int | None) -> None:
    data = "".join(json.dumps(one, indent=indent) + "\n" for one in reversed(PRINTED)).encode()
    (found,) = read(write(tmp_path / name, data))
    assert calls(found) == [("refund", {"id": 7})]


def mlflow_span(name: str, kind: str, given: Any, made: Any, **more: Any) -> dict[str, Any]:
    attributes = {"mlflow.spanType": json.dumps(kind), "mlflow.spanInputs": json.dumps(given)}
    attributes |= {} if made is None else {"mlflow.spanOutputs": json.dumps(made)}
    usage = more.pop("usage", None)
    attributes |= {"mlflow.chat.tokenUsage": json.dumps(usage)} if usage else {}
    fields = {"trace_id": "eHg=", "parent_span_id": "YQ==", "events": [], "status": {"code": "STATUS_CODE_OK"}}
    return {"name": name, **fields, "attributes": attributes, **more}


def test_mlflow(tmp_path: Path) -> None:
    function = {"name": "search", "arguments": '{"text": "lamp"}'}
    asked = {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": function}]}
    begin = 1_790_000_000_000_000_000
    usage = {"input_tokens": 7, "output_tokens": 3, "cache_read_input_tokens": 2}
    model = {"messages": [{"role": "user", "content": "Find a lamp."}]}
    spans = [
        mlflow_span("shop", "AGENT", {"query": "Find a lamp."}, "Here.", span_id="YQ==", parent_span_id=None)
        | {"start_time_unix_nano": begin, "end_time_unix_nano": begin + 900_000},
        mlflow_span("Completions", "CHAT_MODEL", model, {"choices": [{"message": asked}]}, span_id="Yg==", usage=usage)
        | {"start_time_unix_nano": begin + 1000, "end_time_unix_nano": begin + 2000},
        mlflow_span("search", "TOOL", {"text": "lamp", "limit": 10}, ["l-1"], span_id="Yw==")
        | {"start_time_unix_nano": begin + 3000, "end_time_unix_nano": begin + 4000},
    ]
    document = {"info": {"trace_id": "tr-1", "state": "OK"}, "data": {"spans": spans}}
    (found,) = read(write(tmp_path / "trace.json", document))
    assert (found.trace_id, found.query, found.answer) == ("tr-1", "Find a lamp.", "Here.")
    assert calls(found) == [("search", {"text": "lamp"})], "as the model asked, without the defaults"
    assert (found.tool_calls[0].result, total_tokens(found)) == (["l-1"], 10)


def agents_span(number: int, parent: int | None, data: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "object": "trace.span",
        "id": f"span_{number}",
        "trace_id": "trace_1",
        "parent_id": None if parent is None else f"span_{parent}",
        "started_at": f"2026-03-01T09:30:{number:02}.000000+00:00",
        "ended_at": f"2026-03-01T09:30:{number + (40 if data['type'] in ('agent', 'custom') else 1):02}.000000+00:00",
        "span_data": data,
        "error": None,
        **more,
    }


AGENTS = [
    {"object": "trace", "id": "trace_1", "workflow_name": "Agent workflow"},
    agents_span(1, None, {"type": "agent", "name": "triage"}),
    agents_span(2, 1, {"type": "custom", "name": "turn", "data": {"usage": {"input_tokens": 50, "output_tokens": 5}}}),
    agents_span(3, 2, {"type": "response", "response_id": "r1", "usage": {"input_tokens": 50, "output_tokens": 5}}),
    agents_span(
        5,
        2,
        {"type": "function", "name": "refund", "input": '{"id": 7}', "output": "{'ok': True}"},
        error={"message": "Error running tool"},
    ),
    agents_span(6, 2, {"type": "function", "name": "mail", "input": "", "output": "sent"}),
    agents_span(7, 2, {"type": "handoff", "from_agent": "triage", "to_agent": "billing"}),
    agents_span(8, 1, {"type": "response", "response_id": "r2", "usage": {"input_tokens": 60, "output_tokens": 6}}),
]


@pytest.mark.parametrize("listed", [True, False])
def test_the_agents_sdk(tmp_path: Path, listed: bool) -> None:
    data = json.dumps({"data": AGENTS}) if listed else "".join(json.dumps(one) + "\n" for one in AGENTS)
    (found,) = read(write(tmp_path / ("a.json" if listed else "a.jsonl"), data.encode()))
    assert calls(found) == [("refund", {"id": 7}), ("mail", {})]
    refund, mail = found.tool_calls
    assert (refund.result, refund.error, refund.agent) == ({"ok": True}, "Error running tool", "triage")
    assert refund.group is not None
    assert refund.group == mail.group
    assert (len(found.model_calls), total_tokens(found)) == (2, 121)
    assert Handoff("billing", "triage") in found.steps


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({"spans": [{"attributes": {}, "name": "x", "id": 1}, {"tool": "x"}]}, "'spans[1]' is not a span"),
        ({"data": [{"object": "trace"}, {"object": "response"}]}, "neither a 'trace' nor a 'trace.span'"),
        ({"data": [{"traceID": "t", "spans": []}, {}]}, "is not an export of Jaeger"),
    ],
)
def test_what_is_no_span_is_refused(tmp_path: Path, document: Any, problem: str) -> None:
    assert problem in refusal(write(tmp_path / "a.json", document))
