"""Answers of a scripted model, in the words of each API, at once or as a stream."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from tests.judges.loopback import Asked, Sends, Streams


@dataclass(frozen=True)
class Turn:
    """What the model says, and the calls it asks for: (id, tool, arguments)."""

    text: str = ""
    calls: tuple[tuple[str, str, dict[str, Any]], ...] = ()
    tokens: tuple[int, int] = (20, 4)
    number: int = field(default=1)


def answer(turn: Turn, asked: Asked) -> Sends | Streams:
    """The answer to a request, in the words of its API."""
    stream = asked.body.get("stream", False)
    path = asked.path.partition("?")[0]
    if path.endswith("/chat/completions"):
        return streamed(chat_events(turn)) if stream else whole(chat(turn))
    if path.endswith("/messages"):
        return streamed(message_events(turn)) if stream else whole(message(turn))
    assert path.endswith("/responses"), asked.path
    return streamed(response_events(turn)) if stream else whole(response(turn))


def whole(body: dict[str, Any]) -> Sends:
    return Sends(json.dumps(body).encode())


def streamed(events: list[dict[str, Any] | str]) -> Streams:
    return Streams(tuple(encoded(event) for event in events))


def encoded(event: dict[str, Any] | str) -> bytes:
    if isinstance(event, str):
        return f"data: {event}\n\n".encode()
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event)}\n\n".encode()


# ── OpenAI chat completions ─────────────────────────────────────────────────────────────────────────────────


def chat(turn: Turn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or None}
    if turn.calls:
        message["tool_calls"] = [
            {"id": key, "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
            for key, tool, arguments in turn.calls
        ]
    finish = "tool_calls" if turn.calls else "stop"
    return {
        "id": f"chatcmpl-{turn.number}",
        "object": "chat.completion",
        "created": 1,
        "model": "m-1",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": chat_usage(turn),
    }


def chat_usage(turn: Turn) -> dict[str, int]:
    read, written = turn.tokens
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def chat_events(turn: Turn) -> list[dict[str, Any] | str]:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": piece} for piece in (turn.text[:3], turn.text[3:]) if piece]
    for index, (key, tool, arguments) in enumerate(turn.calls):
        text = json.dumps(arguments)
        begin = {"index": index, "id": key, "type": "function", "function": {"name": tool, "arguments": ""}}
        deltas.append({"tool_calls": [begin]})
        deltas += [{"tool_calls": [{"index": index, "function": {"arguments": p}}]} for p in (text[:4], text[4:])]
    head = {"id": f"chatcmpl-{turn.number}", "object": "chat.completion.chunk", "created": 1, "model": "m-1"}
    events: list[dict[str, Any] | str] = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
    ]
    finish = "tool_calls" if turn.calls else "stop"
    events.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    events.append({**head, "choices": [], "usage": chat_usage(turn)})
    return [*events, "[DONE]"]


# ── OpenAI Responses ────────────────────────────────────────────────────────────────────────────────────────


def response(turn: Turn, status: str = "completed") -> dict[str, Any]:
    read, written = turn.tokens
    output: list[dict[str, Any]] = []
    if turn.text:
        content = {"type": "output_text", "text": turn.text, "annotations": []}
        output.append(
            {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [content]}
        )
    output += [
        {
            "type": "function_call",
            "id": f"fc_{key}",
            "call_id": key,
            "name": tool,
            "arguments": json.dumps(arguments),
            "status": "completed",
        }
        for key, tool, arguments in turn.calls
    ]
    return {
        "id": f"resp_{turn.number}",
        "object": "response",
        "created_at": 1,
        "model": "m-1",
        "status": status,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": read,
            "output_tokens": written,
            "total_tokens": read + written,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


def response_events(turn: Turn) -> list[dict[str, Any] | str]:
    done = response(turn)
    begun = {**done, "status": "in_progress", "output": [], "usage": None}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": begun}]
    for index, item in enumerate(done["output"]):
        events.append({"type": "response.output_item.added", "output_index": index, "item": {**item, "content": []}})
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    events.append({"type": "response.completed", "response": done})
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


# ── Anthropic messages ──────────────────────────────────────────────────────────────────────────────────────


def message(turn: Turn) -> dict[str, Any]:
    read, written = turn.tokens
    content: list[dict[str, Any]] = [{"type": "text", "text": turn.text}] if turn.text else []
    content += [{"type": "tool_use", "id": key, "name": tool, "input": given} for key, tool, given in turn.calls]
    return {
        "id": f"msg_{turn.number}",
        "type": "message",
        "role": "assistant",
        "model": "m-1",
        "content": content,
        "stop_reason": "tool_use" if turn.calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": read, "output_tokens": written},
    }


def message_events(turn: Turn) -> list[dict[str, Any] | str]:
    done = message(turn)
    begun = {**done, "content": [], "stop_reason": None, "usage": {**done["usage"], "output_tokens": 1}}
    events: list[dict[str, Any] | str] = [{"type": "message_start", "message": begun}, {"type": "ping"}]
    for index, block in enumerate(done["content"]):
        empty = {**block, "text": ""} if block["type"] == "text" else {**block, "input": {}}
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        text = block["text"] if block["type"] == "text" else json.dumps(block["input"])
        for piece in (text[:4], text[4:]):
            delta = (
                {"type": "text_delta", "text": piece}
                if block["type"] == "text"
                else {"type": "input_json_delta", "partial_json": piece}
            )
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": done["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": turn.tokens[1]}})
    return [*events, {"type": "message_stop"}]
