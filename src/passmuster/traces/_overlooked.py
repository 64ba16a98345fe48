"""Tool calls in fields that no reader parses. A trace is not evaluated as one without calls because of them.

An object stands for a call if its type says so (`tool_use`, `mcp_tool_use`, `function_call`, …), if it is under a key
that does (`tool_calls`, `toolUse`, …), if it names a tool, or if it has a name and arguments. It is searched for in the
fields that a reader does not know, at any depth. What was asked or expected rather than done (`task`, `expected_…`,
lists of available `tools`) and `metadata` is not searched. Calls that the trace has as steps may be repeated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Raw, Struct

from passmuster.traces._model import ToolCall, decoded

_NOT_DONE = re.compile(
    r"metadata|tools|functions|available.*|tooldefinitions?|toolchoice|functionschema|task|tasks|rewardinfo"
    r"|(?:expected|reference|golden|groundtruth|target|evaluation|criteria|rubric|jsonschema|inputschema).*"
)
"""Names, without `_` and in lower case, of what was asked or expected, and of what is the user's own."""
_CALLS = re.compile(
    r".*(?:tool|function)s?(?:call|use|uses|using|invocation|invoked|execution|request|result|response|output|return|run).*"
    r"|toolscalled|tooltrace|multitooluse.*"
)
"""Keys whose value is a call, its result, or a list of them."""
_CALL_TYPES = re.compile(
    r"tool|.*(?:tool|function)s?(?:call|use|invocation|execution|request|result|response|output|return|start|run|end).*"
    r"|(?!llm|model|chat|api).*call|.*calloutput"
)
_TYPE_KEYS = ("type", "kind", "event", "partkind", "eventtype", "steptype", "runtype", "spantype", "object")
_TOOL_KEYS = ("tool", "toolname", "functionname", "recipientname")
_NAME_KEYS = (*_TOOL_KEYS, "name", "action", "function")
_ARGUMENTS = (
    "arguments",
    "args",
    "parameters",
    "params",
    "kwargs",
    "toolinput",
    "toolargs",
    "toolarguments",
    "actioninput",
)
_ID_KEYS = ("id", "toolcallid", "callid", "tooluseid")
_ACTS = re.compile(r".*(?:calls|actions|invocations)")
"""Lists in which a name with an `input` is a call; in others it may be any span."""
_EVIDENCE = (*_ARGUMENTS, "input", "result", "output", "observation", "response", "error")


_INNER = ("function", "custom", "tooluse", "toolcall", "functioncall", "toolinvocation", "call")
"""Keys under which a call may have its name and arguments."""


class HiddenCall(Struct, frozen=True):
    """What stands for a call where no reader looks."""

    name: str
    """The key or the type that says so."""
    tool: str | None = None
    ids: tuple[str, ...] = ()
    """What it is called by; a call may have an id of its own and that of its output."""
    arguments: Any = None


def hidden_calls(fields: Mapping[str, Raw]) -> Iterator[HiddenCall]:
    """The calls in fields that no reader parses; nothing is decoded that cannot hold one."""
    for name, raw in fields.items():
        if bytes(raw)[:1] in (b"[", b"{", b'"') and not _NOT_DONE.fullmatch(plain_key(name)):
            yield from find_calls(decoded(raw), name)


def find_calls(value: Any, name: str = "") -> Iterator[HiddenCall]:
    """The calls in a decoded value that is under this key. Not recursive: values may nest deeper than Python can."""
    waiting: list[tuple[str, Any, bool]] = [(name, value, False)]
    while waiting:
        name, value, listed = waiting.pop()
        if isinstance(value, str):
            if _CALLS.fullmatch(plain_key(name)) and value.lstrip()[:1] in ("[", "{") and len(value.strip()) > 2:
                yield HiddenCall(name)
        elif isinstance(value, list):
            waiting.extend((name, item, True) for item in reversed(value))
            if value and _CALLS.fullmatch(plain_key(name)) and not any(isinstance(item, list | dict) for item in value):
                yield from (HiddenCall(name, item if isinstance(item, str) else None) for item in value)
        elif isinstance(value, dict):
            if (call := _call(name, value, listed)) is not None:
                yield call
                if call.tool is not None:  # else it may be a wrapper of calls that have names
                    continue
            waiting.extend((k, v, False) for k, v in reversed(value.items()) if not _NOT_DONE.fullmatch(plain_key(k)))


def plain_key(name: str) -> str:
    """A key as it is compared: `toolCalls` and `tool_calls` are the same."""
    return re.sub(r"[^a-z0-9]", "", name[:60].lower())


def _call(name: str, value: dict[str, Any], listed: bool) -> HiddenCall | None:
    """The call that an object under this key stands for."""
    fields = {plain_key(key): inner for key, inner in value.items()}
    type_ = next((text for key in _TYPE_KEYS if isinstance(text := fields.get(key), str)), "")
    if _CALL_TYPES.fullmatch(plain_key(type_)):
        return _described(type_, fields)
    if (value or listed) and _CALLS.fullmatch(plain_key(name)):
        return _described(name, fields)
    function = fields.get("function")
    if isinstance(function, dict) and isinstance(function.get("name"), str) and not _is_definition(function):
        return _described(name or "function", fields)
    named = any(_is_name(fields.get(key)) for key in _NAME_KEYS)
    given = (*_ARGUMENTS, "input") if _ACTS.fullmatch(plain_key(name)) else _ARGUMENTS
    if named and any(key in fields for key in given) and not _is_definition(value):
        return _described(name, fields)
    if any(_is_name(fields.get(key)) for key in _TOOL_KEYS) and (listed or any(key in fields for key in _EVIDENCE)):
        return _described(name, fields)
    return None


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _is_definition(value: dict[str, Any]) -> bool:
    """Whether a name with parameters describes a tool that could be called."""
    schema = next((value[key] for key in ("parameters", "params", "args") if key in value), None)
    others = [key for key in value if plain_key(key) in _ARGUMENTS]
    return isinstance(schema, dict) and len(others) == 1 and ("properties" in schema or schema.get("type") == "object")


def _described(name: str, fields: dict[str, Any]) -> HiddenCall:
    inner = next((value for key in _INNER if isinstance(value := fields.get(key), dict)), None)
    if inner is not None:
        fields = {**fields, **{plain_key(key): value for key, value in inner.items()}}
    tool = next((text for key in _NAME_KEYS if _is_name(text := fields.get(key))), None)
    ids = tuple(str(own) for key in _ID_KEYS if isinstance(own := fields.get(key), str | int))
    arguments = next((fields[key] for key in (*_ARGUMENTS, "input") if key in fields), None)
    return HiddenCall(name, tool, ids, arguments)


def unaccounted(hidden: Iterable[HiddenCall], calls: Sequence[ToolCall]) -> Iterator[HiddenCall]:
    """Those that do not merely repeat a call of the trace."""
    return (one for one in hidden if not any(_repeats(one, call) for call in calls))


def _repeats(one: HiddenCall, call: ToolCall) -> bool:
    if one.tool is not None and one.tool != call.tool:
        return False
    if one.ids and call.id is not None:
        return str(call.id) in one.ids
    return _same_arguments(one, call)


def _same_arguments(one: HiddenCall, call: ToolCall) -> bool:
    written = one.arguments
    if isinstance(written, str):
        try:
            written = msgspec.json.decode(written)
        except (msgspec.MsgspecError, RecursionError):
            return bool(written == call.arguments)
    return written is None or call.arguments is None or bool(written == call.arguments)
