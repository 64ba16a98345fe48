"""The native form: one JSON object a trace, with its steps inside. `docs/traces.md` describes it.

Most records are what the form says, and decode straight into a `Trace`. What is written more loosely (an id that is
a number, an error that is a string, a number beyond a double) takes a second, lenient reading.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import force_setattr, replace

from passmuster.traces._locate import step_offsets
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
    Origin,
    Place,
    ToolCall,
    ToolResult,
    Trace,
    decoded,
)
from passmuster.traces._overlooked import may_tell, message_may_tell, told_by_steps, told_by_trace
from passmuster.traces._pairing import pair_results
from passmuster.traces._records import UNREADABLE, BadRecord, OnBad, Record, explain
from passmuster.traces._sources import Source

__all__ = [
    "NAME",
    "SPLITTABLE",
    "Fields",
    "LooseStep",
    "RawCall",
    "decode_error",
    "decoder",
    "firm",
    "read",
    "reject_misnamed",
    "sniff",
    "to_trace",
]

NAME = "native"
SPLITTABLE = True

_Decode = Callable[[bytes | Raw], Trace]

# Decoding into a `Trace` refuses `1e400`, but not an integer beyond a double, which has at least 309 digits. Eight
# samples in a row of every 38th byte lie in such a run. Takes 1 % of the time of decoding; a regular expression, 400 %.
_STRIDE, _RUN = 38, b"\1" * 8
_DIGITS = bytes(byte in b"0123456789" for byte in range(256))


def sniff(record: dict[str, Raw]) -> bool:
    """Whether this looks like a trace of the native form."""
    return ("steps" in record or "answer" in record) and "type" not in record


class _UnreadModelCall(Struct, frozen=True, gc=False, tag_field="type", tag="llm_call"):
    """A call of a model, of which nobody asks what it used up."""


class _WithoutFigures(Trace, frozen=True):
    steps: tuple[_UnreadModelCall | ToolCall | ToolResult | Handoff | Message, ...] = ()  # type: ignore[assignment]


@cache
def decoder(figures: bool) -> msgspec.json.Decoder[Trace]:
    """What decodes a record of the form, with what the calls of models used up or without."""
    return msgspec.json.Decoder(Trace if figures else _WithoutFigures)


def read(records: Iterator[Record], source: Source, on_bad: OnBad, *, figures: bool = True) -> Iterator[Trace]:
    """One trace a record. Without `figures`, the calls of models are there and nothing is known of them."""
    name, path = source.name, source.path
    decode = decoder(figures).decode
    for record in records:
        try:
            # not kept here while the next one is decoded
            yield _trace(decode, record.data, Origin(name, path, record.offset, record.part, record.line), figures)
        except BadRecord as problem:
            on_bad(problem)
        except UNREADABLE as error:
            on_bad(decode_error(record.offset, error, record.data))


def _trace(decode: _Decode, data: bytes | Raw, origin: Origin, figures: bool) -> Trace:
    decoded_plainly = True
    try:
        trace = decode(data)
    except msgspec.ValidationError:
        decoded_plainly = False
        trace = _read_loosely(data, figures)
    calls: list[ToolCall] = []
    plain, spoken = True, False
    for step in trace.steps:
        kind = type(step)
        if kind is ToolCall:
            calls.append(step)  # type: ignore[arg-type]
            if type(step.arguments) is not dict:  # type: ignore[union-attr]
                plain = False
        elif kind is ToolResult:
            plain = False
        elif kind is Message:
            spoken = True
    if plain and (trace.steps or trace.answer is not None):
        force_setattr(trace, "origin", origin)
        trace.__dict__["tool_calls"] = calls
        if type(data) is bytes and decoded_plainly and data[::_STRIDE].translate(_DIGITS).find(_RUN) < 0:
            trace.__dict__["has_oversized_number"] = False
    else:
        trace = _settled(trace, origin, data)
        calls = trace.tool_calls  # a result without a call is one
    if spoken or not calls:
        _reject_overlooked(origin.offset, data, bool(calls))
    return trace


def _settled(trace: Trace, origin: Origin, data: bytes | Raw) -> Trace:
    """The trace with its results paired and its arguments put in order."""
    if not trace.steps and trace.answer is None and not _states_steps(data):
        raise BadRecord(origin.offset, "is not a trace: it has neither 'steps' nor 'answer'")
    if any(type(step) is ToolCall and step.arguments is None for step in trace.steps):
        reject_misnamed(origin.offset, data)
    paired = pair_results([firm(step) for step in trace.steps])
    places = tuple(Place(origin.offset, origin.line, index) for index, _ in paired)
    return replace(
        trace,
        steps=tuple(step for _, step in paired),
        origin=replace(origin, step_places=places if len(paired) < len(trace.steps) else None),
    )


def _states_steps(data: bytes | Raw) -> bool:
    steps = msgspec.json.decode(data, type=dict[str, Raw]).get("steps", b"null")
    return bytes(steps) != b"null"


def firm(step: AnyStep) -> AnyStep:
    """The step with its arguments as a map where they were left out, or kept as the model's own JSON text."""
    if type(step) is not ToolCall or type(step.arguments) is dict:
        return step
    if step.arguments is None:
        return replace(step, arguments={})
    inner = _spelled(step.arguments) if isinstance(step.arguments, str) else None
    return replace(step, arguments=inner) if isinstance(inner, dict) else step


def _spelled(text: str) -> Any:
    """The value that a string spells in JSON; None where it spells none that could stand in a trace itself."""
    try:
        return decoded(msgspec.json.decode(text, type=Raw))
    except (msgspec.MsgspecError, RecursionError):
        return None


class _AgentFields(Struct):
    name: str | None = None
    version: str | int | float | None = None


class _FaultFields(Struct):
    message: str = ""
    kind: Literal["agent", "infra"] = "agent"


class RawCall(Struct, tag_field="type", tag="tool_call"):
    """A call whose arguments may hold anything JSON can write."""

    tool: str
    id: Key | None = None
    arguments: Raw = Raw()
    result: Raw = Raw()
    error: Any = None
    duration_ms: Amount | None = None
    group: Key | None = None
    parent: Key | None = None

    def call(self) -> ToolCall:
        """The call, with its arguments decoded; a number beyond a double is infinite."""
        return ToolCall(
            self.tool,
            self.id,
            decoded(self.arguments),
            self.result,
            self.error,
            self.duration_ms,
            self.group,
            self.parent,
        )


_LooseOther = RawCall | ToolResult | Handoff | Message
LooseStep = LlmCall | _LooseOther


class Fields(Struct):
    """A trace's own fields, as loosely as they may be written."""

    trace_id: Key | None = None
    scenario: Key | None = None
    query: str | None = None
    answer: str | None = None
    run: int | None = None
    agent: str | _AgentFields | None = None
    steps: list[LooseStep] | None = None
    total_tokens: Count | None = None
    total_llm_calls: Count | None = None
    total_duration_ms: Amount | None = None
    total_cost_usd: Amount | None = None
    behaviors: list[str] | dict[str, bool] | None = None
    tags: list[str] | None = None
    error: str | _FaultFields | None = None


class _FieldsWithoutFigures(Fields):
    steps: list[_UnreadModelCall | _LooseOther] | None = None  # type: ignore[assignment]


@cache
def _lenient(figures: bool) -> msgspec.json.Decoder[Fields]:
    return msgspec.json.Decoder(Fields if figures else _FieldsWithoutFigures)


def _read_loosely(data: bytes | Raw, figures: bool) -> Trace:
    fields = _lenient(figures).decode(data)
    return to_trace(fields, [step.call() if isinstance(step, RawCall) else step for step in fields.steps or ()])


def to_trace(fields: Fields, steps: Sequence[AnyStep]) -> Trace:
    """The trace that these fields and steps describe."""
    return Trace(
        steps=tuple(steps),
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
        tags=tuple(fields.tags or ()),
        error=_fault(fields.error),
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


def _reject_overlooked(offset: int, data: bytes | Raw, has_calls: bool) -> None:
    """Refuse calls that stand where nobody looks: in a message, or somewhere else in a trace that has none as steps.

    A model call that repeats what the steps tell is nobody's mistake.
    """
    if not (message_may_tell(data) if has_calls else may_tell(data)):
        return
    record = decoded(Raw(data))
    problem = told_by_steps(record) or (None if has_calls else told_by_trace(record))
    if problem:
        raise BadRecord(offset, problem)


_STEP = r"`\$\.(steps|messages|traj)\[(\d+)\](`)?"


def decode_error(offset: int, error: Exception, data: bytes | Raw) -> BadRecord:
    """What kept a record from being a trace or an event."""
    problem = explain(offset, error, data)
    message = problem.message
    if (message.startswith("Invalid value") and "type`" in message) or "required field `type`" in message:
        message += " (a step is one of: tool_call, tool_result, llm_call, handoff, message)"
    elif "required field `tool`" in message and b'"name"' in bytes(data):
        message += " (the tool's name is expected under 'tool', not 'name')"
    place = problem.offset
    found = re.search(_STEP, message)
    if found and not (found[3] and message.startswith("Expected `object`")):  # else it is none of the objects there
        step = int(found[2])
        place += step_offsets(bytes(data), {step}, found[1]).get(step, 0)
    return BadRecord(place, message)


_MISNAMED = (
    "args",
    "arg",
    "argument",
    "input",
    "inputs",
    "parameters",
    "params",
    "kwargs",
    "tool_args",
    "tool_input",
)


def reject_misnamed(offset: int, data: bytes | Raw, single: bool = False) -> None:
    """Refuse a call whose arguments stand under another name, for they would be taken for none at all."""
    if single:
        calls = [msgspec.json.decode(data, type=dict[str, Raw])]
    else:
        record = msgspec.json.decode(data, type=dict[str, Raw])
        calls = msgspec.json.decode(record["steps"], type=list[dict[str, Raw]])
    for call in calls:
        if bytes(call.get("type", b"")) == b'"tool_call"' and bytes(call.get("arguments", b"null")) == b"null":
            wrong = next((name for name in _MISNAMED if bytes(call.get(name, b"null")) != b"null"), None)
            if wrong:
                tool = msgspec.json.decode(call["tool"])
                raise BadRecord(
                    offset, f"the call of '{tool}' has '{wrong}' where its 'arguments' are expected: rename it"
                )
