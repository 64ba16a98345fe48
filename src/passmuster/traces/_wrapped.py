"""Calls and arguments that are wrapped in others: `{"kwargs": {…}}`, positional `args`, `multi_tool_use.parallel`."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from msgspec.structs import replace

from passmuster.traces._building import parse_arguments
from passmuster.traces._model import AnyStep, Place, ToolCall, Trace
from passmuster.traces._records import BadRecord

WRAPPERS = frozenset(
    {"kwargs", "args", "arguments", "input", "inputs", "parameters", "params"}
    | {"tool_input", "toolInput", "tool_args", "toolArgs", "__arg1"}
)
"""Names under which some frameworks put all arguments of a call."""
PARALLEL = "multi_tool_use.parallel"
"""The name of OpenAI's tool that calls several others."""
_DEEPEST = 5


class PositionalError(ValueError):
    """Arguments without names; the message is the name of what holds them."""


def plain_arguments(arguments: dict[str, Any], declared: Collection[str]) -> dict[str, Any]:
    """The arguments of a call by their names. Raises `PositionalError` where they have none.

    Arguments are wrapped if all their names are those of wrappers, or if there are `kwargs` among them, unless the
    suite names an argument so. Text or a number under such a name is an argument.
    """
    for _ in range(_DEEPEST):
        inner = _inner(arguments, declared)
        if inner is None:
            break
        arguments = inner
    return arguments


def _inner(arguments: dict[str, Any], declared: Collection[str]) -> dict[str, Any] | None:
    wrapping = [name for name in arguments if name in WRAPPERS and name not in declared]
    if not wrapping or (len(wrapping) < len(arguments) and "kwargs" not in wrapping):
        return None
    if len(wrapping) < len(arguments):
        wrapping = [name for name in wrapping if name in ("kwargs", "args")]
    merged = {name: value for name, value in arguments.items() if name not in wrapping}
    for name in wrapping:
        value = parse_arguments(arguments[name])
        if (isinstance(value, list) and value) or (name == "__arg1" and not isinstance(value, dict)):
            raise PositionalError(name)  # LangChain calls an argument without a name `__arg1`
        if isinstance(value, dict):
            if any(key in merged and merged[key] != value[key] for key in value):
                raise PositionalError(name)
            merged |= value
        elif value not in (None, [], ""):
            return None
    return merged


def expanded(trace: Trace) -> Trace:
    """The trace with the calls that `multi_tool_use.parallel` made, instead of its own. Raises `BadRecord`."""
    if not any(call.tool == PARALLEL for call in trace.tool_calls):
        return trace
    origin = trace.origin
    known = origin.step_places or [Place(origin.offset, origin.line, index) for index in range(len(trace.steps))]
    steps: list[AnyStep] = []
    places: list[Place] = []
    for index, step in enumerate(trace.steps):
        made = _made(step, index, origin.offset) if isinstance(step, ToolCall) and step.tool == PARALLEL else [step]
        steps += made
        places += [known[index]] * len(made)
    return replace(trace, steps=tuple(steps), origin=replace(origin, step_places=tuple(places)))


def _made(call: ToolCall, index: int, offset: int) -> list[AnyStep]:
    uses = call.arguments.get("tool_uses") if isinstance(call.arguments, dict) else None
    made: list[AnyStep] = []
    for use in uses if isinstance(uses, list) else ():
        name = use.get("recipient_name") if isinstance(use, dict) else None
        if not isinstance(name, str) or not name:
            raise BadRecord(offset, f"the call of '{PARALLEL}' has a use without a 'recipient_name': which tool is it?")
        arguments = parse_arguments(use.get("parameters"))
        group = f"{PARALLEL} {index}"
        made.append(
            ToolCall(
                name.removeprefix("functions."),
                arguments=arguments,
                error=call.error,
                group=group,
                parent=call.parent,
                agent=call.agent,
                started_at=call.started_at,
            )
        )
    if not made:
        raise BadRecord(offset, f"the call of '{PARALLEL}' has no 'tool_uses': which tools did it call?")
    return made
