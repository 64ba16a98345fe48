"""The native form: one JSON object per trace, with its steps inside. `docs/traces.md` describes it.

Most records decode straight into a `Trace`. Those written more leniently (an id that is a number, an error that is a
string, a number no double can hold, separate results) are read a second time, by way of `TraceFields`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import force_setattr, replace

from passmuster.traces._building import Fields, Reading, join_results, trace_per_record
from passmuster.traces._model import Handoff, Message, Origin, Place, ToolCall, ToolResult, Trace
from passmuster.traces._native_form import FormToolCall, TraceFields, explain_step, plain_steps
from passmuster.traces._overlooked import overlooked_in_trace
from passmuster.traces._records import BadRecord, Record

DESCRIPTION = "One JSON object per trace, with its steps in a list."
SHAPE = '{"steps": […]} or {"answer": …}'

_Decode = Callable[[bytes | Raw], Trace]
_HEAD = 2_000

# Decoding into a `Trace` refuses `1e400`, but not an integer beyond a double, which has at least 309 digits. Of every
# 61st byte, five in a row lie in such a run. Takes 3 % of the time of decoding; a regular expression takes 400 %.
_STRIDE, _RUN = 61, b"\1" * 5
_DIGITS = bytes(byte in b"0123456789" for byte in range(256))


def detect(record: Fields) -> float:
    """Sure of typed `steps`; less so of other `steps`, or of an `answer` alone."""
    if "type" in record:
        return 0
    if "steps" in record:
        begins = bytes(record["steps"])[:_HEAD]
        return 1 if begins == b"[]" or b'"type"' in begins else 0.8
    return 0.5 if "answer" in record else 0


def splittable(first: Fields) -> bool:
    """Every record is a trace."""
    return True


# Model calls without their figures, for suites that ask for none: decoding takes 26 % less time (bench corpus, 10 MB).
class _BareModelCall(Struct, frozen=True, gc=False, tag_field="type", tag="llm_call"):
    """A model call whose figures are not read."""


class _BareTrace(Trace, frozen=True):
    steps: tuple[_BareModelCall | ToolCall | ToolResult | Handoff | Message, ...] = ()  # type: ignore[assignment]


class _BareFields(TraceFields):
    steps: list[_BareModelCall | FormToolCall | ToolResult | Handoff | Message] | None = None  # type: ignore[assignment]


@cache
def decoder(figures: bool) -> msgspec.json.Decoder[Trace]:
    """The decoder of a record, with or without the figures of model calls."""
    return msgspec.json.Decoder(Trace if figures else _BareTrace)


@cache
def _lenient_decoder(figures: bool) -> msgspec.json.Decoder[TraceFields]:
    return msgspec.json.Decoder(TraceFields if figures else _BareFields)


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """One trace per record. Without `reading.figures`, model calls are counted but nothing is known of them."""
    name, path, figures = reading.source.name, reading.source.path, reading.figures
    decode = decoder(figures).decode

    def build(record: Record) -> Trace:
        return _trace(decode, record.data, Origin(name, path, record.offset, record.part, record.line), figures)

    return trace_per_record(records, reading, build, explain_step)


def _trace(decode: _Decode, data: bytes | Raw, origin: Origin, figures: bool) -> Trace:
    try:
        trace = decode(data)
    except msgspec.ValidationError:
        return _read_leniently(data, origin, figures)
    calls: list[ToolCall] = []
    has_messages = False
    for step in trace.steps:
        kind = type(step)
        if kind is ToolCall:
            calls.append(step)  # type: ignore[arg-type]
            if type(step.arguments) is not dict:  # type: ignore[union-attr]
                return _read_leniently(data, origin, figures)
        elif kind is ToolResult:
            return _read_leniently(data, origin, figures)
        elif kind is Message:
            has_messages = True
    if not trace.steps and trace.answer is None:
        return _read_leniently(data, origin, figures)
    force_setattr(trace, "origin", origin)
    trace.__dict__["tool_calls"] = calls
    if type(data) is bytes and data[::_STRIDE].translate(_DIGITS).find(_RUN) < 0:
        trace.__dict__["has_oversized_number"] = False
    if has_messages or not calls:
        _reject_overlooked(origin.offset, data, bool(calls))
    return trace


def _read_leniently(data: bytes | Raw, origin: Origin, figures: bool) -> Trace:
    """The trace of a record that does not decode into one as it is, or whose calls are not complete."""
    fields = _lenient_decoder(figures).decode(data)
    if fields.steps is None and fields.answer is None:
        raise BadRecord(origin.offset, "is not a trace: it has neither 'steps' nor 'answer'")
    written = plain_steps(origin.offset, fields.steps or (), data)
    steps, places = join_results(written, [Place(origin.offset, origin.line, index) for index in range(len(written))])
    trace = fields.trace(steps)
    force_setattr(trace, "origin", replace(origin, step_places=places if len(steps) < len(written) else None))
    _reject_overlooked(origin.offset, data, bool(trace.tool_calls))
    return trace


def _reject_overlooked(offset: int, data: bytes | Raw, has_calls: bool) -> None:
    if problem := overlooked_in_trace(data, has_calls):
        raise BadRecord(offset, problem)
