"""The native form: one JSON object a trace, with its steps inside. `docs/traces.md` describes it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec
from msgspec import Raw, Struct, field

from passmuster.traces.model import (
    Agent,
    Amount,
    Count,
    Fault,
    Handoff,
    Key,
    LlmCall,
    Message,
    Origin,
    Step,
    ToolCall,
    ToolResult,
    Trace,
)
from passmuster.traces.pairing import pair_results
from passmuster.traces.records import BadRecord, OnBad, Record, explain
from passmuster.traces.sources import Source

__all__ = ["NAME", "SPLITTABLE", "AnyStep", "Fields", "decode_error", "read", "reject_misnamed", "sniff", "to_trace"]

NAME = "native"
SPLITTABLE = True

AnyStep = LlmCall | ToolCall | ToolResult | Handoff | Message

_MISNAMED = ("args", "input", "parameters", "params", "kwargs", "tool_input")


class _AgentFields(Struct):
    name: str | None = None
    version: str | int | float | None = None


class _FaultFields(Struct):
    message: str = ""
    kind: Literal["agent", "infra"] = "agent"


class Fields(Struct):
    """A trace's own fields as they may be written."""

    trace_id: Key | None = None
    scenario: Key | None = None
    query: str | None = None
    answer: str | None = None
    run: int | None = None
    agent: str | _AgentFields | None = None
    steps: list[AnyStep] | None = None
    total_tokens: Count | None = None
    total_llm_calls: Count | None = None
    total_duration_ms: Amount | None = None
    total_cost_usd: Amount | None = None
    behaviors: list[str] | dict[str, bool] | None = None
    tags: list[str] = field(default_factory=list)
    error: str | _FaultFields | None = None


_decoder = msgspec.json.Decoder(Fields)


def sniff(record: dict[str, Raw]) -> bool:
    """Whether this looks like a trace of the native form."""
    return ("steps" in record or "answer" in record) and "type" not in record


def read(records: Iterator[Record], source: Source, on_bad: OnBad) -> Iterator[Trace]:
    """One trace a record."""
    decode = _decoder.decode
    for offset, data in records:
        try:
            fields = decode(data)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
            on_bad(decode_error(offset, error, data))
            continue
        if fields.steps is None and fields.answer is None:
            on_bad(BadRecord(offset, "is not a trace: it has neither 'steps' nor 'answer'"))
            continue
        steps = fields.steps or []
        plain = True
        for step in steps:
            kind = type(step)
            if kind is ToolResult or (kind is ToolCall and not step.arguments_json):  # type: ignore[union-attr]
                plain = False
        if plain:
            yield to_trace(fields, tuple(steps), Origin(source.name, source.path, offset))  # type: ignore[arg-type]
            continue
        try:
            reject_misnamed(offset, data)
        except BadRecord as problem:
            on_bad(problem)
            continue
        # A step's place in its record is its index, so results that were paired away leave no gap behind.
        paired = pair_results(steps)
        origin = Origin(source.name, source.path, offset, step_places=tuple(index for index, _ in paired))
        yield to_trace(fields, tuple(step for _, step in paired), origin)


def to_trace(fields: Fields, steps: tuple[Step, ...], origin: Origin) -> Trace:
    """The trace that these fields and steps describe."""
    return Trace(
        steps=steps,
        trace_id=_text(fields.trace_id),
        scenario=_text(fields.scenario),
        query=fields.query,
        answer=fields.answer,
        run=fields.run,
        agent=_agent(fields.agent),
        total_tokens=fields.total_tokens,
        total_llm_calls=fields.total_llm_calls,
        total_duration_ms=fields.total_duration_ms,
        total_cost_usd=fields.total_cost_usd,
        behaviors=fields.behaviors,
        tags=tuple(fields.tags),
        error=_fault(fields.error),
        origin=origin,
    )


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


def decode_error(offset: int, error: Exception, data: bytes | Raw) -> BadRecord:
    """What kept a record from being a trace or an event."""
    problem = explain(offset, error, data)
    message = problem.message
    if message.startswith("Invalid value") and "type`" in message:
        message += " (a step is one of: tool_call, tool_result, llm_call, handoff, message)"
    elif "required field `tool`" in message and b'"name"' in bytes(data):
        message += " (the tool's name is expected under 'tool', not 'name')"
    return BadRecord(problem.offset, message)


class _Call(Struct, frozen=True):
    tool: str | None = None
    type: str | None = None
    arguments: Raw = Raw()
    args: Raw = Raw()
    input: Raw = Raw()
    parameters: Raw = Raw()
    params: Raw = Raw()
    kwargs: Raw = Raw()
    tool_input: Raw = Raw()


class _Calls(Struct, frozen=True):
    steps: list[_Call] | None = None


def reject_misnamed(offset: int, data: bytes | Raw, single: bool = False) -> None:
    """Refuse a call whose arguments stand under another name, for they would be taken for none at all."""
    if single:
        calls = [msgspec.json.decode(data, type=_Call)]
    else:
        calls = msgspec.json.decode(data, type=_Calls).steps or []
    for call in calls:
        if call.type == "tool_call" and not call.arguments:
            wrong = next((name for name in _MISNAMED if getattr(call, name)), None)
            if wrong:
                raise BadRecord(
                    offset, f"the call of '{call.tool}' has '{wrong}' where its 'arguments' are expected: rename it"
                )
