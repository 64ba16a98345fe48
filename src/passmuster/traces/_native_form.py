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

from passmuster.traces._building import Fields, parse_arguments
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
    Moment,
    ToolCall,
    ToolResult,
    Trace,
    decoded,
)

_Behaviors = list[str] | dict[str, bool]


class _AgentFields(Struct, forbid_unknown_fields=True):
    name: str | None = None
    version: str | int | float | None = None


class _FaultFields(Struct, forbid_unknown_fields=True):
    message: str = ""
    kind: Literal["agent", "infra"] = "agent"


class FormToolCall(Struct, forbid_unknown_fields=True, tag_field="type", tag="tool_call"):
    """One call of a tool, with its result."""

    tool: Annotated[str, Meta(min_length=1, description="The name of the tool.")]
    id: Annotated[Key | None, Meta(description="What a tool_result or the `parent` of a step calls this call.")] = None
    arguments: Annotated[Raw, Meta(description="An object, or a string with its JSON; null: unknown.")] = field(
        default_factory=Raw
    )
    result: Annotated[Raw, Meta(description="What the tool returned.")] = field(default_factory=Raw)
    error: Annotated[Any, Meta(description="Why the call failed; null, false, 0 or empty: it did not.")] = None
    duration_ms: Annotated[Amount | None, Meta(description="How long it took, in milliseconds.")] = None
    group: Annotated[Key | None, Meta(description="Calls made in parallel share it.")] = None
    parent: Annotated[Key | None, Meta(description="The id of the step it ran inside.")] = None
    agent: Annotated[str | None, Meta(description="Who made the call, where several agents took part.")] = None
    started_at: Annotated[Moment | None, Meta(description="When it began, as in RFC 3339.")] = None

    def call(self) -> ToolCall:
        """The call with its arguments decoded; a number no double can hold is infinite."""
        arguments = parse_arguments(decoded(self.arguments)) if self.arguments else {}
        return ToolCall(
            self.tool,
            self.id,
            arguments,
            self.result,
            self.error,
            self.duration_ms,
            self.group,
            self.parent,
            self.agent,
            self.started_at,
        )


FormStep = LlmCall | FormToolCall | ToolResult | Handoff | Message


class TraceFields(Struct, forbid_unknown_fields=True):
    """What an agent did once, in the native form of passmuster: one such object per line of a .jsonl file.

    Fields that are not named here are allowed and ignored. null is the same as leaving a field out, but for arguments.
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
    started_at: Annotated[Moment | None, Meta(description="When the run began, as in RFC 3339.")] = None
    inferred: Annotated[list[str] | None, Meta(description="What a reader worked out rather than read.")] = None
    calls_unknown: Annotated[
        bool | None, Meta(description="True where tool calls may be missing from `steps`, so that none says nothing.")
    ] = None
    metadata: Annotated[Raw, Meta(description="For your own use; not read.")] = field(default_factory=Raw)

    def trace(self, steps: Iterable[AnyStep]) -> Trace:
        """The trace with these fields and steps."""
        as_written = {name: getattr(self, name) for name in TraceFields.__struct_fields__ if name != "metadata"}
        normalized = {
            "steps": tuple(steps),
            "trace_id": _text(self.trace_id),
            "scenario": _text(self.scenario),
            "agent": _agent(self.agent),
            "tags": tuple(self.tags or ()),
            "error": _fault(self.error),
            "inferred": tuple(self.inferred or ()),
            "metadata_json": self.metadata,
            "calls_unknown": bool(self.calls_unknown),
        }
        return Trace(**as_written | normalized)


def _agent(agent: str | _AgentFields | None) -> Agent | None:
    if agent is None or isinstance(agent, str):
        return Agent(agent) if agent else None
    return Agent(agent.name, _text(agent.version))


def agreed_agent(one: str | _AgentFields, other: str | _AgentFields) -> _AgentFields | None:
    """The agent that two statements are about; None where they contradict each other."""
    a, b = _agent(one) or Agent(), _agent(other) or Agent()
    if any(x is not None and y is not None and x != y for x, y in ((a.name, b.name), (a.version, b.version))):
        return None
    return _AgentFields(a.name if a.name is not None else b.name, a.version if a.version is not None else b.version)


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


class Unread(Struct, frozen=True):
    """The fields of a record, or of one of its steps, that the native form does not have."""

    where: str
    fields: Fields
    step: int = -1


_decode_fields = msgspec.json.Decoder(Fields).decode
_decode_steps = msgspec.json.Decoder(list[Raw]).decode


def _names(form: type[Struct]) -> frozenset[str]:
    return frozenset(form.__struct_encode_fields__)


_STEP_FIELDS = {
    "tool_call": _names(FormToolCall) | {"type"},
    "tool_result": _names(ToolResult) | {"type"},
    "llm_call": _names(LlmCall) | {"type"},
    "handoff": _names(Handoff) | {"type"},
    "message": _names(Message) | {"type"},
}
_TRACE_FIELDS = _names(TraceFields)
_PARTS = {"agent": _names(_AgentFields), "error": _names(_FaultFields)}


def known_part(data: bytes | Raw, *, header: bool = False) -> tuple[bytes, list[Unread]]:
    """A record without the fields that the native form does not have, and those fields; a header has a `type` too."""
    record = _decode_fields(data)
    unread: list[Unread] = []
    for name, known in _PARTS.items():
        if bytes(record.get(name, b""))[:1] == b"{":
            record[name] = _keep(_decode_fields(record[name]), known, f"'{name}'", unread)
    steps = record.get("steps")
    if steps is not None and bytes(steps)[:1] == b"[":
        kept = [known_step(step, unread, index) for index, step in enumerate(_decode_steps(steps))]
        record["steps"] = Raw(msgspec.json.encode(kept))
    known = _TRACE_FIELDS | {"type"} if header else _TRACE_FIELDS
    return bytes(_keep(record, known, "the trace", unread)), unread


def known_step(data: bytes | Raw, unread: list[Unread], index: int = -1) -> Raw:
    """A step without the fields that its type does not have; these are added to `unread`."""
    if bytes(data)[:1] != b"{":
        return Raw(data)
    fields = _decode_fields(data)
    type_ = decoded(fields["type"]) if "type" in fields else None
    known = _STEP_FIELDS.get(type_) if isinstance(type_, str) else None
    if known is None:
        return Raw(data)
    return _keep(fields, known, f"step {index + 1}" if index >= 0 else "the event", unread, index)


def _keep(fields: Fields, known: Collection[str], where: str, unread: list[Unread], step: int = -1) -> Raw:
    others = {name: value for name, value in fields.items() if name not in known}
    if others:
        unread.append(Unread(where, others, step))
    return Raw(msgspec.json.encode({name: value for name, value in fields.items() if name in known}))


def plain_steps(steps: Collection[FormStep]) -> list[AnyStep]:
    """The steps of a record with their arguments decoded."""
    return [step.call() if type(step) is FormToolCall else step for step in steps]  # type: ignore[misc]
