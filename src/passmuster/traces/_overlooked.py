"""Tool calls in fields that no reader parses. A trace is not evaluated as one without calls because of them.

A record holds such calls in what chat messages have (`tool_calls` and its other spellings, a `tool_use`), anywhere in
it, or in a list beside its steps (`actions`, `events`, …) with an entry of a tool. A count, a word or an empty list is
no call. What the user, the agent or a tool wrote (`query`, `arguments`, `result`, …) is not searched.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from msgspec import Raw

from passmuster.traces._model import decoded

_CALLS = ("tool_calls", "toolCalls", "tool_call", "function_call", "tools_called")
_MESSAGE_CALLS = ("tool_calls", "toolCalls", "function_call")
_LISTS = ("calls", "actions", "events", "trajectory", "intermediate_steps", "spans", "messages", "traj")
_CONTENT = frozenset({"metadata", "arguments", "result", "query", "answer"})
_CONTENT_AND_TOOLS = _CONTENT | {"tools", "functions"}
"""Lists of tools that could have been called are no calls."""
_TOOL_TYPES = ("tool_call", "tool_use", "function_call")
_ARGUMENTS = ("arguments", "args", "parameters", "tool_input")
_ACTS = ("calls", "actions")
"""Lists in which a name with an `input` is a call; in others it may be any span."""

_MARKS = rb'"(?:%s)"\s*:|"tool_use"' % "|".join(_CALLS + _LISTS).encode()
_MESSAGE_MARKS = tuple(f'"{name}"'.encode() for name in _MESSAGE_CALLS)


def overlooked_in_record(data: bytes | Raw) -> str | None:
    """The name under which a record holds tool calls that are not read; None where it holds none."""
    return find_calls(decoded(Raw(data))) if may_hold_calls(data) else None


def overlooked_in_message(data: bytes | Raw) -> str | None:
    """The name under which a message holds tool calls, as chat messages do."""
    return _filled(decoded(Raw(data)), _MESSAGE_CALLS) if _message_may_hold_calls(data) else None


def overlooked_in_trace(data: bytes | Raw, has_calls: bool) -> str | None:
    """The problem of a record with `steps`: tool calls in a message or, if it has none as steps, anywhere else.

    A trace that has calls as steps may repeat them, in a model call for example.
    """
    if not (_message_may_hold_calls(data) if has_calls else may_hold_calls(data)):
        return None
    record = decoded(Raw(data))
    steps = record.pop("steps", None) or ()
    held = [_filled(step, _MESSAGE_CALLS) if step["type"] == "message" else None for step in steps]
    if not has_calls and not any(held):
        if name := find_calls(record):
            return f"holds '{name}' and no call in its 'steps': give each as a step of its own"
        held = [find_calls(step) for step in steps]
    found = next(((number, name) for number, name in enumerate(held, 1) if name), None)
    return f"step {found[0]} holds '{found[1]}': give each call as a step of its own" if found else None


def may_hold_calls(data: bytes | Raw) -> bool:
    """Whether a record has to be searched, as far as its bytes show."""
    return re.search(_MARKS, bytes(data)) is not None  # compiled on first use, for few records come here


def _message_may_hold_calls(data: bytes | Raw) -> bool:
    """Whether the messages of a record have to be searched. Takes a fifth of the time of `may_hold_calls`."""
    text = bytes(data)
    return any(name in text for name in _MESSAGE_MARKS)


def find_calls(record: dict[str, Any]) -> str | None:
    """The name under which a record holds tool calls; None where it holds none."""
    for inner in _objects(record, _CONTENT):
        if inner.get("type") == "tool_use":
            return "tool_use"
        if name := _filled(inner, _CALLS):
            return name
    for name in _LISTS:
        listed = record.get(name)
        arguments = (*_ARGUMENTS, "input") if name in _ACTS else _ARGUMENTS
        entries = _objects(listed, _CONTENT_AND_TOOLS) if isinstance(listed, list) else ()
        if any(_is_tool_entry(entry, arguments) for entry in entries):
            return name
    return None


def _filled(record: dict[str, Any], names: tuple[str, ...]) -> str | None:
    return next((name for name in names if isinstance(value := record.get(name), list | dict) and value), None)


def _objects(value: Any, skipped: Collection[str]) -> Iterator[dict[str, Any]]:
    """The objects in a value, itself included, in order. Not recursive: values may nest deeper than Python can."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield value
            value = [inner for key, inner in value.items() if key not in skipped]
        if isinstance(value, list):
            waiting.extend(reversed(value))


def _is_tool_entry(entry: dict[str, Any], arguments: tuple[str, ...]) -> bool:
    if any(isinstance(tool := entry.get(key), str) and tool for key in ("tool", "tool_name")):
        return True
    if entry.get("type") in _TOOL_TYPES:
        return True
    function = entry.get("function")
    if isinstance(function, dict) and isinstance(function.get("name"), str):
        return True
    return isinstance(entry.get("name"), str) and any(key in entry for key in arguments)
