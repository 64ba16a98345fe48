"""The calls of a trace as text for a judge."""

from __future__ import annotations

import json

import msgspec

from passmuster.traces import ToolCall, Trace


def evidence(trace: Trace) -> tuple[str, ...]:
    """Each call with its arguments and its result or error, as JSON text."""
    return tuple(_told(call) for call in trace.tool_calls)


def _told(call: ToolCall) -> str:
    record: dict[str, object] = {"tool": call.tool, "arguments": call.arguments}
    if call.result_json:
        record["result"] = call.result_json
    if call.error:
        record["error"] = call.error
    try:
        return msgspec.json.encode(record).decode("utf-8", "replace")
    except (OverflowError, ValueError, TypeError, RecursionError):  # a number or a depth that this encoder refuses
        return "{" + ",".join(f"{json.dumps(key)}:{_written(value)}" for key, value in record.items()) + "}"


def _written(value: object) -> str:
    """JSON in any case: redaction finds secrets by the names of their keys."""
    if isinstance(value, msgspec.Raw):
        return bytes(value).decode("utf-8", "replace")
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    except (ValueError, RecursionError):
        return json.dumps("(a number too long or a value too deep to be shown)")
