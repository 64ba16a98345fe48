"""Runs as OTLP: what reading spans is measured on. Each line is a document with the spans of one run."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import msgspec
from bench.corpus import trace

__all__ = ["decode_documents", "write_shuffled_spans", "write_span_corpus"]

_BEGIN = 1_790_000_000_000_000_000


def write_span_corpus(path: Path, megabytes: float) -> None:
    """Runs of ten calls in the current conventions: model calls with whole conversations, executed tools, an agent."""
    rng = random.Random(7)
    written, number = 0, 0
    with path.open("w", encoding="utf-8") as file:
        while written < megabytes * 1e6:
            line = json.dumps(_document(trace(rng, number), number)) + "\n"
            written += len(line)
            number += 1
            file.write(line)


def write_shuffled_spans(path: Path, count: int, calls: int = 2) -> None:
    """Runs of so many calls, one span per line, in random order, as a collector for many processes may write them."""
    rng = random.Random(7)
    ordered = path.with_suffix(".ordered")
    places: list[tuple[int, int]] = []
    with ordered.open("wb") as file:
        number = 0
        while len(places) < count:
            document = _document(trace(rng, number, calls), number)
            number += 1
            scope = document["resourceSpans"][0]["scopeSpans"][0]
            for span in scope["spans"]:
                line = {"resourceSpans": [{"scopeSpans": [{"scope": scope["scope"], "spans": [span]}]}]}
                places.append((file.tell(), file.write(json.dumps(line).encode() + b"\n")))
    rng.shuffle(places)
    with ordered.open("rb") as lines, path.open("wb") as shuffled:
        for place, length in places:
            lines.seek(place)
            shuffled.write(lines.read(length))
    ordered.unlink()


def decode_documents(path: Path) -> None:
    """Decode each line, and nothing else."""
    decode = msgspec.json.Decoder().decode
    with path.open("rb") as file:
        for line in file:
            decode(line)


def _document(run: dict[str, Any], number: int) -> dict[str, Any]:
    trace_id = f"{number + 1:032x}"
    spans = [_span(trace_id, 1, None, "invoke_agent", {"gen_ai.agent.name": "support"}, 0, 9_999)]
    messages: list[Any] = [{"role": "user", "parts": [{"type": "text", "content": run.get("query") or "What now?"}]}]
    calls = [step for step in run["steps"] if step["type"] == "tool_call"]
    for place, call in enumerate([*calls, None]):
        part: dict[str, Any] = {"type": "text", "content": "Done."}
        identity = f"call_{number}_{place}"
        if call is not None:
            part = {"type": "tool_call", "id": identity, "name": call["tool"], "arguments": call["arguments"]}
        answer = {"role": "assistant", "parts": [part], "finish_reason": "stop"}
        attributes = {
            "gen_ai.request.model": "m",
            "gen_ai.response.id": f"resp_{number}_{place}",
            "gen_ai.usage.input_tokens": 100,
            "gen_ai.usage.output_tokens": 10,
            "gen_ai.input.messages": json.dumps(messages),
            "gen_ai.output.messages": json.dumps([answer]),
        }
        spans.append(_span(trace_id, place * 2 + 2, 1, "chat", attributes, place * 20 + 1, 8))
        if call is not None:
            result = json.dumps(call.get("result"))
            executed = {
                "gen_ai.tool.name": call["tool"],
                "gen_ai.tool.call.id": identity,
                "gen_ai.tool.call.arguments": json.dumps(call["arguments"]),
                "gen_ai.tool.call.result": result,
            }
            spans.append(_span(trace_id, place * 2 + 3, 1, "execute_tool", executed, place * 20 + 10, 5))
            response = {"type": "tool_call_response", "id": identity, "response": result}
            messages += [answer, {"role": "tool", "parts": [response]}]
    return {"resourceSpans": [{"scopeSpans": [{"scope": {"name": "bench"}, "spans": spans}]}]}


def _span(
    trace_id: str, number: int, parent: int | None, operation: str, attributes: dict[str, Any], begin: int, length: int
) -> dict[str, Any]:
    pairs = [{"key": "gen_ai.operation.name", "value": {"stringValue": operation}}]
    for key, value in attributes.items():
        kind = "intValue" if isinstance(value, int) else "stringValue"
        pairs.append({"key": key, "value": {kind: str(value)}})
    start = _BEGIN + begin * 1_000_000
    return {
        "traceId": trace_id,
        "spanId": f"{number:016x}",
        "parentSpanId": "" if parent is None else f"{parent:016x}",
        "name": operation,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + length * 1_000_000),
        "attributes": pairs,
        "status": {},
    }
