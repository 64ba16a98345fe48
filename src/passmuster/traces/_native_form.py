"""The fields and steps of the native form, as leniently as they may be written.

An id may be a number, an error a string, and arguments may hold any number that JSON can write. The native reader comes
here for records that do not decode straight into a `Trace`, event lines for all of theirs, and the published JSON
Schema is derived from `TraceFields` (`trace_schema`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Raw, Struct, field

from passmuster.traces._building import is_null, parse_arguments
from passmuster.traces._model import (
    Agent,
    Amount,
    AnyStep,
    Count,
    Fault,
    Handoff,
    Key,
    LlmCall,
    Message,
    ToolCall,
    ToolResult,
    Trace,
    decoded,
)
from passmuster.traces._records import BadRecord

MISNAMED_ARGUMENTS = (
    *("args", "arg", "argument", "input", "inputs", "parameters", "params", "kwargs"),
    *("tool_args", "tool_input"),
)
"""Names under which `arguments` are not read: a call with one of them would be taken for a call without arguments."""


_Behaviors = list[str] | dict[str, bool]


class _AgentFields(Struct):
    name: str | None = None
    version: str | int | float | None = None


class _FaultFields(Struct):
    message: str = ""
    kind: Literal["agent", "infra"] = "agent"


class FormToolCall(Struct, tag_field="type", tag="tool_call"):
    """One call of a tool, with its result."""

    tool: Annotated[str, Meta(description="The name of the tool.")]
    id: Annotated[Key | None, Meta(description="What a tool_result or the `parent` of a step calls this call.")] = None
    arguments: Annotated[Raw, Meta(description="An object, or a string with its JSON.")] = field(default_factory=Raw)
    result: Annotated[Raw, Meta(description="What the tool returned.")] = field(default_factory=Raw)
    error: Annotated[Any, Meta(description="Why the call failed; null, false, 0 or empty: it did not.")] = None
    duration_ms: Annotated[Amount | None, Meta(description="How long it took, in milliseconds.")] = None
    group: Annotated[Key | None, Meta(description="Calls made in parallel share it.")] = None
    parent: Annotated[Key | None, Meta(description="The id of the step it ran inside.")] = None

    def call(self) -> ToolCall:
        """The call with its arguments decoded; a number no double can hold is infinite."""
        arguments = parse_arguments(decoded(self.arguments))
        return ToolCall(
            self.tool, self.id, arguments, self.result, self.error, self.duration_ms, self.group, self.parent
        )


FormStep = LlmCall | FormToolCall | ToolResult | Handoff | Message


class TraceFields(Struct):
    """What an agent did once, in the native form of passmuster: one such object per line of a .jsonl file.

    Fields that are not named here are allowed and ignored. null is the same as leaving a field out.
    """

    trace_id: Annotated[Key | None, Meta(description="The name of the run in reports.")] = None
    scenario: Annotated[Key | None, Meta(description="The id of the suite's scenario that was run.")] = None
    query: Annotated[str | None, Meta(description="What the agent was asked.")] = None
    answer: Annotated[str | None, Meta(description="What it answered; an empty string is an answer.")] = None
    run: Annotated[int | None, Meta(description="Which repetition this is.")] = None
    agent: Annotated[str | _AgentFields | None, Meta(description="A name, or a name and a version.")] = None
    steps: Annotated[list[FormStep] | None, Meta(description="What happened, in order.")] = None
    total_tokens: Annotated[Count | None, Meta(description="Tokens in and out of all model calls.")] = None
    total_llm_calls: Annotated[Count | None, Meta(description="The number of model calls.")] = None
    total_duration_ms: Annotated[Amount | None, Meta(description="From start to end, in milliseconds.")] = None
    total_cost_usd: Annotated[Amount | None, Meta(description="What the run cost, in US dollars.")] = None
    behaviors: Annotated[_Behaviors | None, Meta(description="All that were observed, or true or false each.")] = None
    tags: Annotated[list[str] | None, Meta(description="Tests select traces by these.")] = None
    error: Annotated[str | _FaultFields | None, Meta(description="Why the agent did not finish.")] = None

    def trace(self, steps: Iterable[AnyStep]) -> Trace:
        """The trace with these fields and steps."""
        as_written = {name: getattr(self, name) for name in TraceFields.__struct_fields__}
        normalized = {
            "steps": tuple(steps),
            "trace_id": _text(self.trace_id),
            "scenario": _text(self.scenario),
            "agent": _agent(self.agent),
            "tags": tuple(self.tags or ()),
            "error": _fault(self.error),
        }
        return Trace(**as_written | normalized)


def _agent(agent: str | _AgentFields | None) -> Agent | None:
    if agent is None or isinstance(agent, str):
        return Agent(agent) if agent else None
    return Agent(agent.name, _text(agent.version))


def _fault(fault: str | _FaultFields | None) -> Fault | None:
    if fault is None or isinstance(fault, str):
        return Fault(fault) if fault else None
    return Fault(fault.message, fault.kind)


def _text(value: str | float | None) -> str | None:
    return None if value is None else str(value)


def explain_step(message: str, data: bytes) -> str:
    """A hint to add to a decoding error of a step."""
    if (message.startswith("Invalid value") and "type`" in message) or "required field `type`" in message:
        return " (a step is one of: tool_call, tool_result, llm_call, handoff, message)"
    if "required field `tool`" in message and b'"name"' in data:
        return " (the tool's name is expected under 'tool', not 'name')"
    return ""


def plain_steps(offset: int, steps: Collection[FormStep], data: bytes | Raw, single: bool = False) -> list[AnyStep]:
    """The steps of a record with their arguments decoded; `single` where the record itself is the step.

    A call whose arguments have another name is refused.
    """
    calls = [step for step in steps if type(step) is FormToolCall]
    if any(is_null(call.arguments) for call in calls):
        _reject_misnamed(offset, data, single)
    return [step.call() if type(step) is FormToolCall else step for step in steps]  # type: ignore[misc]


def _reject_misnamed(offset: int, data: bytes | Raw, single: bool = False) -> None:
    """Refuse a record with a call whose arguments have another name; `single` where the record is the call."""
    record = msgspec.json.decode(data, type=dict[str, Raw])
    for call in [record] if single else msgspec.json.decode(record["steps"], type=list[dict[str, Raw]]):
        if bytes(call.get("type", b"")) == b'"tool_call"' and is_null(call.get("arguments")):
            wrong = next((name for name in MISNAMED_ARGUMENTS if not is_null(call.get(name))), None)
            if wrong:
                tool = msgspec.json.decode(call["tool"])
                message = f"the call of '{tool}' has '{wrong}' where its 'arguments' are expected: rename it"
                raise BadRecord(offset, message)
