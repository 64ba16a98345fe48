"""Spans in short, and the OTLP documents they stand in."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.traces.building import read, write

from passmuster.traces._model import Trace

Json = dict[str, Any]
BEGIN = 1_790_000_000_000_000_000
TRACE = "0af7651916cd43dd8448eb211c80319c"


def value(plain: Any) -> Json:
    """An attribute's value as OTLP writes it."""
    if isinstance(plain, bool):
        return {"boolValue": plain}
    if isinstance(plain, int):
        return {"intValue": str(plain)}
    if isinstance(plain, float):
        return {"doubleValue": plain}
    if isinstance(plain, list):
        return {"arrayValue": {"values": [value(one) for one in plain]}}
    if isinstance(plain, dict):
        return {"kvlistValue": {"values": pairs(plain)}}
    return {"stringValue": plain}


def pairs(attributes: Json) -> list[Json]:
    return [{"key": key, "value": value(plain)} for key, plain in attributes.items()]


def span(
    number: int,
    name: str,
    parent: int | None,
    attributes: Json,
    *,
    begin: int | None = None,
    end: int | None = None,
    trace: str = TRACE,
    failed: str | None = None,
    events: Sequence[tuple[str, Json]] = (),
    scope: str = "test",
) -> Json:
    """A span; `number` is its id and, unless stated, the millisecond it begins at. `scope` is kept for `otlp`."""
    begin = number * 10 if begin is None else begin
    end = begin + 5 if end is None else end
    found: Json = {
        "traceId": trace,
        "spanId": f"{number:016x}",
        "name": name,
        "startTimeUnixNano": str(BEGIN + begin * 1_000_000),
        "endTimeUnixNano": str(BEGIN + end * 1_000_000),
        "attributes": pairs(attributes),
        "events": [{"name": kind, "attributes": pairs(inner)} for kind, inner in events],
        "status": {} if failed is None else {"code": 2, "message": failed},
        "_scope": scope,
    }
    if parent is not None:
        found["parentSpanId"] = f"{parent:016x}"
    return found


def otlp(*spans: Json) -> Json:
    """The spans as one document."""
    scopes: dict[str, list[Json]] = {}
    for one in spans:
        scopes.setdefault(one["_scope"], []).append({key: inner for key, inner in one.items() if key != "_scope"})
    listed = [{"scope": {"name": name}, "spans": inner} for name, inner in scopes.items()]
    return {"resourceSpans": [{"resource": {}, "scopeSpans": listed}]}


def log(number: int, event: str, body: Any, *, trace: str = TRACE, at: int = 0, attributes: Json | None = None) -> Json:
    """A log record of a span, as a document."""
    record = {
        "traceId": trace,
        "spanId": f"{number:016x}",
        "eventName": event,
        "observedTimeUnixNano": str(BEGIN + at),
        "body": value(body),
        "attributes": pairs(attributes or {}),
    }
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}


def read_documents(folder: Path, *documents: Json) -> list[Trace]:
    """The traces of a file with a document per line."""
    data = "".join(json.dumps(one) + "\n" for one in documents).encode()
    return read(write(folder / "spans.jsonl", data))


def read_spans(folder: Path, *spans: Json) -> list[Trace]:
    return read_documents(folder, otlp(*spans))


def said(role: str, *parts: Json) -> Json:
    """A message of the current conventions."""
    return {"role": role, "parts": list(parts)}


def words(text: str) -> Json:
    return {"type": "text", "content": text}


def asks(tool: str, arguments: Any, identity: str | None = None) -> Json:
    return {"type": "tool_call", "name": tool, "arguments": arguments, **({"id": identity} if identity else {})}


def gives(result: Any, identity: str | None = None) -> Json:
    return {"type": "tool_call_response", "response": result, **({"id": identity} if identity else {})}


def chat(number: int, parent: int | None, given: list[Json], made: list[Json] | None, **fields: Any) -> Json:
    """A model call of the current conventions."""
    attributes: Json = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m",
        "gen_ai.response.id": f"resp-{fields.get('trace', TRACE)[:4]}-{number}",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 10,
        "gen_ai.input.messages": json.dumps(given),
    }
    if made is not None:
        attributes["gen_ai.output.messages"] = json.dumps(made)
    attributes |= fields.pop("attributes", {})
    return span(number, "chat m", parent, {key: one for key, one in attributes.items() if one is not None}, **fields)


def tool(number: int, parent: int | None, name: str, identity: str | None = None, **fields: Any) -> Json:
    """An executed tool of the current conventions."""
    attributes: Json = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
    if identity is not None:
        attributes["gen_ai.tool.call.id"] = identity
    for key in ("arguments", "result"):
        if key in fields:
            attributes[f"gen_ai.tool.call.{key}"] = json.dumps(fields.pop(key))
    return span(number, f"execute_tool {name}", parent, attributes, **fields)


def agent(number: int, parent: int | None, name: str, **fields: Any) -> Json:
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
    return span(number, f"invoke_agent {name}", parent, attributes, **fields)


def calls(trace: Trace) -> list[tuple[str, Any]]:
    return [(call.tool, call.arguments) for call in trace.tool_calls]
