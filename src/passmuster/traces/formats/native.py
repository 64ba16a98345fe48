"""The native form: one JSON object per trace, with its steps inside. `docs/traces.md` describes it.

Most records decode straight into a `Trace`. Those written more leniently (an id that is a number, an error that is a
string, a number no double can hold, separate results) are read a second time, by way of `TraceFields`; those with
fields that the form does not have a third time, when these fields have been set apart and searched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING

import msgspec
from msgspec import Raw
from msgspec.structs import force_setattr, replace

from passmuster.traces._building import Fields, Reading, join_results, located_error
from passmuster.traces._model import AnyStep, LlmCall, Message, Origin, Place, Step, ToolCall, ToolResult, Trace
from passmuster.traces._records import UNREADABLE, BadRecord, Record
from passmuster.traces._tool_names import PLAIN_NAMES, check_calls, is_plain
from passmuster.traces._wrapped import WRAPPERS

if TYPE_CHECKING:
    from passmuster.traces._native_form import FormStep, TraceFields, Unread

DESCRIPTION = "One JSON object per trace, with its steps in a list."
SHAPE = '{"steps": […]} or {"answer": …}'
LACKS = ()
ASKS_ITSELF = True

_Decode = Callable[[bytes | Raw], Trace]
_HEAD = 2_000
_TYPES = (
    b'"type":"tool_call"',
    b'"type":"llm_call"',
    b'"type":"message"',
    b'"type":"tool_result"',
    b'"type":"handoff"',
)
_ADVICE = "give each call as a step of its own"

# Decoding into a `Trace` refuses `1e400`, but not an integer beyond a double, which has at least 309 digits. Of every
# 61st byte, five in a row lie in such a run. Takes 3 % of the time of decoding; a regular expression takes 400 %.
_STRIDE, _RUN = 61, b"\1" * 5
_DIGITS = bytes(byte in b"0123456789" for byte in range(256))


def detect(record: Fields) -> float:
    """Sure of typed `steps`; less so of other `steps`, or of an `answer` alone."""
    if "type" in record or bytes(record.get("schema_version", b"")).startswith(b'"ATIF'):
        return 0
    if "steps" in record:
        begins = bytes(record["steps"])[:_HEAD].replace(b" ", b"")
        return 1 if begins == b"[]" or any(mark in begins for mark in _TYPES) else 0.8
    return 0.5 if "answer" in record else 0


def splittable(first: Fields) -> bool:
    """Every record is a trace."""
    return True


@cache
def decoder() -> msgspec.json.Decoder[Trace]:
    """The decoder of a record. It refuses unknown fields."""
    return msgspec.json.Decoder(Trace)


@cache
def _lenient_decoder() -> msgspec.json.Decoder[TraceFields]:
    from passmuster.traces._native_form import TraceFields  # late, for most runs need none of it

    return msgspec.json.Decoder(TraceFields)


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """One trace per record, but for records of other formats."""
    name, path = reading.source.name, reading.source.path
    decode = decoder().decode
    for record in records:
        origin = Origin(name, path, record.offset, record.part, record.line)
        try:
            if (trace := _decoded(decode, record.data, origin)) is not None:
                yield trace
                del trace  # so that it is freed before the next one is decoded
            elif not reading.is_elsewhere(record):
                yield _read_leniently(record, origin, reading)
        except BadRecord as bad:
            reading.on_bad(bad)
        except UNREADABLE as error:
            from passmuster.traces._native_form import explain_step  # late, for most runs need none of it

            reading.on_bad(located_error(record, error, explain_step))


def _decoded(decode: _Decode, data: bytes | Raw, origin: Origin) -> Trace | None:
    """The trace that a record decodes into; None where the record has to be looked at more closely."""
    try:
        trace = decode(data)
    except msgspec.ValidationError:
        return None
    # All that is asked about every call is found out here, while it is in the processor's cache: in a trace of 10,000
    # calls, each further loop over them takes 2 % longer.
    calls: list[ToolCall] = []
    names: list[str] = []
    plain = True
    for step in trace.steps:
        kind = type(step)
        if kind is LlmCall:
            continue
        if kind is ToolCall:
            calls.append(step)  # type: ignore[arg-type]
            names.append(tool := step.tool)  # type: ignore[arg-type,union-attr]
            if (
                type(arguments := step.arguments) is not dict  # type: ignore[union-attr]
                or (tool not in PLAIN_NAMES and not is_plain(tool))  # type: ignore[arg-type]
                or not WRAPPERS.isdisjoint(arguments)
            ):
                return None
            if step.error or step.group is not None:  # type: ignore[union-attr]
                plain = False
        elif kind is ToolResult or (kind is Message and type(step.content) is not str):  # type: ignore[union-attr]
            return None
    if not trace.steps:
        return None
    force_setattr(trace, "origin", origin)
    known = trace.__dict__
    known["tool_calls"], known["tool_names"], known["has_plain_calls"] = calls, names, plain
    if type(data) is bytes and data[::_STRIDE].translate(_DIGITS).find(_RUN) < 0:
        known["has_oversized_number"] = False
    return trace


def _read_leniently(record: Record, origin: Origin, reading: Reading) -> Trace:
    """The trace of a record that does not decode into one as it is, or whose calls are not complete."""
    from passmuster.traces._native_form import known_part, plain_steps  # late, for most runs need none of it

    unread: list[Unread] = []
    try:
        fields = _lenient_decoder().decode(record.data)
    except msgspec.ValidationError as error:
        if "unknown field" not in str(error):
            raise
        data, unread = known_part(record.data)
        fields = _lenient_decoder().decode(data)
    if fields.steps is None and fields.answer is None:
        raise BadRecord(origin.offset, "is not a trace: it has neither 'steps' nor 'answer'")
    written = plain_steps(_with_arguments(fields, unread, origin.offset, reading))
    fields.steps, stated = None, fields.steps is not None  # a long one makes room
    steps, places = _joined(written, origin)
    trace = fields.trace(steps)
    force_setattr(trace, "calls_unknown", not stated or bool(fields.calls_unknown))
    force_setattr(trace, "origin", replace(origin, step_places=places))
    trace = check_calls(trace)
    _account(trace, unread, reading)
    return trace


def _joined(written: list[AnyStep], origin: Origin) -> tuple[tuple[Step, ...], tuple[Place, ...] | None]:
    """The steps with their results, and their places where these are not simply their indexes."""
    if not any(type(step) is ToolResult for step in written):
        return tuple(written), None  # type: ignore[arg-type]
    steps, places = join_results(written, [Place(origin.offset, origin.line, index) for index in range(len(written))])
    return steps, places if len(steps) < len(written) else None


def _with_arguments(fields: TraceFields, unread: list[Unread], offset: int, reading: Reading) -> list[FormStep]:
    """The steps, of which none has arguments under another name."""
    steps = list(fields.steps or ())
    if not unread:
        return steps
    from passmuster.traces._accounting import check_call  # late, for few runs need it

    for one in unread:
        if one.step >= 0:
            steps[one.step] = check_call(reading, offset, steps[one.step], one.fields)
    return steps


def _account(trace: Trace, unread: list[Unread], reading: Reading) -> None:
    """Refuse, or report, tool calls in fields that are not read and in the content of messages."""
    messages = [step for step in trace.steps if type(step) is Message and type(step.content) is not str]
    if not unread and not messages:
        return
    from passmuster.traces._accounting import account, account_content  # late, for few runs need it

    offset, calls = trace.origin.offset, trace.tool_calls
    for one in unread:
        account(reading, offset, one.where, one.fields, calls, _ADVICE)
    for step in messages:
        account_content(reading, offset, f"a message of the {step.role[:20]}", step.content, calls, _ADVICE)
