"""A trace as a line of the native form, such that reading it gives the same trace."""

from __future__ import annotations

import math
from typing import Any

import msgspec
from msgspec import Raw, Struct

from passmuster.traces._model import Agent, Handoff, LlmCall, Message, ToolCall, Trace, decoded

_TYPES: dict[type, str] = {LlmCall: "llm_call", ToolCall: "tool_call", Handoff: "handoff", Message: "message"}
_FIELDS = (
    *("trace_id", "scenario", "query", "answer", "run", "total_tokens", "total_llm_calls", "total_duration_ms"),
    *("total_cost_usd", "behaviors", "started_at"),
)


def native_line(trace: Trace) -> bytes:
    """The trace as one line, without the line break."""
    return msgspec.json.encode(native_record(trace))


def native_record(trace: Trace) -> dict[str, Any]:
    """The trace as an object of the native form. What it does not have is left out."""
    record: dict[str, Any] = {name: value for name in _FIELDS if (value := getattr(trace, name)) is not None}
    if isinstance(trace.agent, Agent):
        record["agent"] = _present(trace.agent)
    elif trace.agent:
        record["agent"] = trace.agent
    record["steps"] = [_step(step) for step in trace.steps]
    if trace.calls_unknown:
        record["calls_unknown"] = True
    if trace.tags:
        record["tags"] = list(trace.tags)
    if trace.inferred:
        record["inferred"] = list(trace.inferred)
    if trace.metadata_json:
        record["metadata"] = _on_one_line(trace.metadata_json)
    if trace.error is not None:
        record["error"] = {"message": trace.error.message, "kind": trace.error.kind}
    if trace.metadata_json:
        record["metadata"] = _finite(decoded(trace.metadata_json))
    return record


def plain_record(trace: Trace) -> dict[str, Any]:
    """The trace as an object of the native form with everything in it decoded, down to arguments and results."""
    record: dict[str, Any] = decoded(Raw(native_line(trace)))
    return record


def record_line(record: dict[str, Any]) -> bytes:
    """A plain record as one line, without the line break."""
    return msgspec.json.encode(_finite(record))


def _step(step: Any) -> dict[str, Any]:
    written: dict[str, Any] = {"type": _TYPES[type(step)]}
    if type(step) is ToolCall:
        written["tool"] = step.tool
        written["arguments"] = _finite(step.arguments)
        if step.result_json:
            written["result"] = _on_one_line(step.result_json)
        if step.error:
            written["error"] = _finite(step.error)
        rest = ("id", "duration_ms", "group", "parent", "agent", "started_at")
        return written | {name: value for name in rest if (value := getattr(step, name)) is not None}
    return written | _present(step)


def _present(value: Struct) -> dict[str, Any]:
    named = zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True)
    return {written: one for name, written in named if (one := getattr(value, name)) is not None}


def _on_one_line(result: Raw) -> Raw:
    data = bytes(result)
    return Raw(msgspec.json.format(data, indent=-1)) if b"\n" in data or b"\r" in data else result


def _finite(value: Any) -> Any:
    """The value with numbers that no double can hold as they were: too large, not null."""
    if type(value) is float and math.isinf(value):
        return Raw(b"1e999" if value > 0 else b"-1e999")
    if type(value) is dict:
        return {key: _finite(inner) for key, inner in value.items()}
    if type(value) is list:
        return [_finite(inner) for inner in value]
    if type(value) is int and not -(2**63) <= value < 2**64:
        return Raw(str(value).encode())
    return value
