"""What an agent did, in text that a judge can read."""

from __future__ import annotations

import json

import msgspec

from passmuster.traces.model import ToolCall, Trace

__all__ = ["evidence"]


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
        if call.result_json:
            record["result"] = bytes(call.result_json).decode("utf-8", "replace")
        record["arguments"] = repr(call.arguments)
        return json.dumps(record, ensure_ascii=False, default=str)
