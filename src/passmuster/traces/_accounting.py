"""Nothing is overlooked: what a reader does not read is searched for tool calls and for arguments.

A reader hands the fields that it does not know to `account`, and the content of messages to `account_content`. What
holds a call that the trace does not have is a loss (`Reading.lose`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from passmuster.traces._building import Reading, is_null, parse_arguments
from passmuster.traces._model import ToolCall, ToolResult, decoded
from passmuster.traces._native_form import FormStep, FormToolCall
from passmuster.traces._overlooked import HiddenCall, find_calls, hidden_calls, plain_key, unaccounted

_MISNAMED = re.compile(
    r"(?:tool|call|function|action|raw)?(?:arg|argument|input|param|parameter|kwarg)s?(?:json|text|dict)?"
)
_MAYBE_ARGUMENTS = re.compile(r"(?:tool|call|function|action)?(?:request|payload|body|data|values|options)")
"""Names of what may be arguments, where a call has no others."""


def account(
    reading: Reading, offset: int, where: str, fields: Mapping[str, Raw], calls: Sequence[ToolCall], advice: str
) -> None:
    """Refuse, or report, fields that hold a tool call which is not among the calls of the trace."""
    report_hidden(reading, offset, where, hidden_calls(fields), calls, advice)


def account_content(
    reading: Reading, offset: int, where: str, content: Any, calls: Sequence[ToolCall], advice: str
) -> None:
    """Refuse, or report, the content of a message that holds a tool call which is not among the calls of the trace."""
    if not isinstance(content, str):
        report_hidden(reading, offset, where, find_calls(content, "content"), calls, advice)


def report_hidden(
    reading: Reading, offset: int, where: str, hidden: Iterable[HiddenCall], calls: Sequence[ToolCall], advice: str
) -> None:
    """Refuse, or report, calls that were found where no reader looks, but for those that the trace has anyway."""
    for one in unaccounted(hidden, calls):
        reading.lose(offset, _found(where, one, advice))


def _found(where: str, hidden: HiddenCall, advice: str) -> str:
    of = f" a call of '{hidden.tool[:60]}'" if hidden.tool else " a tool call"
    return f"{where} holds{of} in '{hidden.name[:60]}', which is not read: {advice}"


def check_call(reading: Reading, offset: int, step: FormStep, fields: Mapping[str, Raw]) -> FormStep:
    """A call or result none of whose other fields are arguments, or name another tool; where a loss of arguments is
    accepted, they are unknown."""
    if not isinstance(step, FormToolCall | ToolResult):
        return step
    for key, value in fields.items():
        other = _tool_named(key, value)
        if other is not None and step.tool and not (other.endswith(step.tool) or step.tool.endswith(other)):
            reading.lose(
                offset, f"names two tools for one call: '{step.tool[:60]}', and '{other[:60]}' in '{key[:60]}'"
            )
    given = step.arguments if isinstance(step, FormToolCall) else Raw(msgspec.json.encode(step.arguments))
    if isinstance(step, ToolResult):  # whose arguments are those of its call
        fields = {name: value for name, value in fields.items() if bytes(value) not in (b"{}", b"[]", b'""')}
    name = _misnamed(fields, None if is_null(given) else given)
    if name is None:
        return step
    kind = "call" if isinstance(step, FormToolCall) else "result"
    beside = "beside" if not is_null(given) else "where"
    expected = "its 'arguments', and they differ" if not is_null(given) else "its 'arguments' are expected: rename it"
    reading.lose(offset, f"the {kind} of '{(step.tool or '')[:60]}' has '{name[:60]}' {beside} {expected}")
    return replace(step, arguments=Raw(b"null")) if isinstance(step, FormToolCall) else step


def _tool_named(name: str, value: Raw) -> str | None:
    """The tool that a field besides `tool` names; None where it names none."""
    if plain_key(name) not in ("tool", "toolname", "functionname", "function", "recipientname"):
        return None
    given = decoded(value)
    given = given.get("name") if isinstance(given, dict) else given
    return given if isinstance(given, str) and given else None


def _misnamed(fields: Mapping[str, Raw], given: Raw | None) -> str | None:
    """The name under which a call has arguments beside, or instead of, its `arguments`; None where it has none."""
    for name, value in fields.items():
        plain = plain_key(name)
        if is_null(value):
            continue
        if _MISNAMED.fullmatch(plain) and (given is None or _differs(value, given)):
            return name
        if given is None and bytes(value)[:1] == b"{" and len(bytes(value)) > 2 and _MAYBE_ARGUMENTS.fullmatch(plain):
            return name
    return None


def _differs(value: Raw, given: Raw) -> bool:
    """Whether a field says something else than the arguments do. What is empty says nothing."""
    other = parse_arguments(decoded(value))
    return other not in ({}, [], "") and other != parse_arguments(decoded(given))
