"""Calls that stand where no reader looks. A trace is not judged as one without calls because of them.

A record *tells of calls* by what chat messages have (`tool_calls` and its other spellings, a `tool_use`), wherever
that is in it, or by a list beside its steps (`actions`, `events`, …) that has an entry of a tool. A count, a word or
an empty list tells of none, and nothing is looked for in what the user, the agent or a tool made up.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from msgspec import Raw

__all__ = ["may_tell", "message_may_tell", "told", "told_by_message", "told_by_steps", "told_by_trace"]

_CALLS = ("tool_calls", "toolCalls", "tool_call", "function_call", "tools_called")
_CALLS_OF_A_MESSAGE = ("tool_calls", "toolCalls", "function_call")
_LISTS = ("calls", "actions", "events", "trajectory", "intermediate_steps", "spans", "messages", "traj")
_MADE_UP = frozenset({"metadata", "arguments", "result", "query", "answer"})
_OFFERED = _MADE_UP | {"tools", "functions"}
"""Among what was done, a list of these says what could have been."""
_OF_A_TOOL = ("tool_call", "tool_use", "function_call")
_ARGUMENTS = ("arguments", "args", "parameters", "tool_input")
_ACTS = ("calls", "actions")
"""Lists in which a name with an `input` is a call; in others it may be any span."""

_TELLING = rb'"(?:%s)"\s*:|"tool_use"' % "|".join(_CALLS + _LISTS).encode()
_TELLING_IN_A_MESSAGE = tuple(f'"{name}"'.encode() for name in _CALLS_OF_A_MESSAGE)


def may_tell(data: bytes | Raw) -> bool:
    """Whether a record is worth a look, as far as its bytes say so."""
    return re.search(_TELLING, bytes(data)) is not None  # few runs come here


def message_may_tell(data: bytes | Raw) -> bool:
    """Whether a record is worth a look for messages that have calls themselves. Takes a fifth of the time."""
    text = bytes(data)
    return any(name in text for name in _TELLING_IN_A_MESSAGE)


def told(record: dict[str, Any]) -> str | None:
    """The name under which a record tells of calls; None where it tells of none."""
    for inner in _objects(record, _MADE_UP):
        if inner.get("type") == "tool_use":
            return "tool_use"
        if name := _filled(inner, _CALLS):
            return name
    for name in _LISTS:
        listed = record.get(name)
        arguments = (*_ARGUMENTS, "input") if name in _ACTS else _ARGUMENTS
        if isinstance(listed, list) and any(_is_of_a_tool(inner, arguments) for inner in _objects(listed, _OFFERED)):
            return name
    return None


def told_by_message(message: dict[str, Any]) -> str | None:
    """The name under which a message itself has calls, as chat messages do."""
    return _filled(message, _CALLS_OF_A_MESSAGE)


def told_by_steps(record: dict[str, Any]) -> str | None:
    """What to say of a trace with a message among its steps that has calls."""
    for number, step in enumerate(record.get("steps") or (), 1):
        if step["type"] == "message" and (name := told_by_message(step)):
            return _of_step(number, name)
    return None


def told_by_trace(record: dict[str, Any]) -> str | None:
    """What to say of a trace that has no call among its steps and tells of some elsewhere."""
    if name := told({key: value for key, value in record.items() if key != "steps"}):
        return f"holds '{name}' and no call in its 'steps': give each as a step of its own"
    for number, step in enumerate(record.get("steps") or (), 1):
        if name := told(step):
            return _of_step(number, name)
    return None


def _of_step(number: int, name: str) -> str:
    return f"step {number} holds '{name}': give each call as a step of its own"


def _filled(record: dict[str, Any], names: tuple[str, ...]) -> str | None:
    return next((name for name in names if isinstance(value := record.get(name), list | dict) and value), None)


def _objects(value: Any, skipped: Collection[str]) -> Iterator[dict[str, Any]]:
    """The objects in a value, itself among them, as they are written. A stack, for some nest deeper than Python can."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield value
            value = [inner for key, inner in value.items() if key not in skipped]
        if isinstance(value, list):
            waiting.extend(reversed(value))


def _is_of_a_tool(entry: dict[str, Any], arguments: tuple[str, ...]) -> bool:
    if any(isinstance(tool := entry.get(key), str) and tool for key in ("tool", "tool_name")):
        return True
    if entry.get("type") in _OF_A_TOOL:
        return True
    function = entry.get("function")
    if isinstance(function, dict) and isinstance(function.get("name"), str):
        return True
    return isinstance(entry.get("name"), str) and any(key in entry for key in arguments)
