"""OTLP: the spans and log records of OpenTelemetry, as JSON documents, lines of a collector, or protobuf.

The spans of one trace may stand in any number of records, in any order. Tempo's answers are the same, wrapped
differently, and so are those of Jaeger's newer API.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct

from passmuster._problems import Problem, TraceError
from passmuster.traces._building import Fields, Reading
from passmuster.traces._model import Trace
from passmuster.traces._records import BadRecord, Record
from passmuster.traces._sources import Source
from passmuster.traces.spans._gathering import Gathering, gathered
from passmuster.traces.spans._lines import Lines
from passmuster.traces.spans._span import NAMES, Attributes, Event, Span, SpanSink

DESCRIPTION = "Spans and log records of OpenTelemetry: OTLP as JSON, as lines of a collector, or as protobuf (`.pb`)."
SHAPE = '{"resourceSpans": […]} or {"resourceLogs": […]}'
LACKS = ()
ASKS_ITSELF = True

_KEYS = (
    "resourceSpans",
    "resourceLogs",
    "resource_spans",
    "resource_logs",
    "batches",
    "trace",
    "result",
    "resourceMetrics",
)
"""The outermost keys; metrics hold no steps."""


def detect(record: Fields) -> float:
    """Sure of the outermost keys of OTLP, and of Tempo's."""
    if "resourceSpans" in record or "resourceLogs" in record or "resource_spans" in record or "resource_logs" in record:
        return 1
    if "batches" in record or "resourceMetrics" in record:
        return 0.9
    return 1 if any(b'"resourceSpans"' in bytes(record.get(name, b""))[:2000] for name in ("trace", "result")) else 0


def detect_bytes(head: bytes) -> float:
    """Protobuf begins with a list of resources: field 1, then their length, then a resource or its spans."""
    if head[:1] != b"\x0a":
        return 0
    place = 1
    while place < min(len(head), 6) and head[place] & 0x80:
        place += 1
    return 0.7 if head[place + 1 : place + 2] in (b"\x0a", b"\x12", b"\x1a", b"") else 0


def splittable(first: Fields) -> bool:
    """The spans of a trace have to be read together."""
    return False


# ── JSON ────────────────────────────────────────────────────────────────────────────────────────────────────


class _Value(Struct, gc=False):
    stringValue: str | None = None
    intValue: int | None = None
    doubleValue: float | str | None = None
    boolValue: bool | None = None
    arrayValue: _Values | None = None
    kvlistValue: _Pairs | None = None
    bytesValue: str | None = None


class _Values(Struct, gc=False):
    values: list[_Value] = []


class _Pair(Struct, gc=False):
    key: str
    value: _Value = msgspec.field(default_factory=_Value)


class _Pairs(Struct, gc=False):
    values: list[_Pair] = []


class _Event(Struct, gc=False):
    name: str = ""
    timeUnixNano: int | None = None
    attributes: list[_Pair] = []


class _Link(Struct, gc=False):
    traceId: str = ""


class _Status(Struct, gc=False):
    code: int | str | None = None
    message: str = ""


class _Span(Struct, gc=False):
    traceId: str = ""
    spanId: str = ""
    parentSpanId: str | None = ""
    name: str = ""
    startTimeUnixNano: int | None = None
    endTimeUnixNano: int | None = None
    attributes: list[_Pair] = []
    events: list[_Event] | None = None
    status: _Status | None = None
    links: list[_Link] | None = None


class _Log(Struct, gc=False):
    traceId: str = ""
    spanId: str = ""
    timeUnixNano: int | None = None
    observedTimeUnixNano: int | None = None
    eventName: str = ""
    body: _Value | None = None
    attributes: list[_Pair] = []


class _Scope(Struct, gc=False):
    name: str = ""


class _ScopeSpans(Struct, gc=False):
    scope: _Scope | None = None
    spans: list[_Span] = []


class _ScopeLogs(Struct, gc=False):
    logRecords: list[_Log] = []


class _Resource(Struct, gc=False):
    scopeSpans: list[_ScopeSpans] = []
    instrumentationLibrarySpans: list[_ScopeSpans] = []
    ilSpans: list[_ScopeSpans] = []
    scopeLogs: list[_ScopeLogs] = []


class _Document(Struct, gc=False):
    resourceSpans: list[_Resource] = []
    resourceLogs: list[_Resource] = []
    batches: list[_Resource] = []
    trace: _Document | None = None
    result: _Document | None = None


@cache
def _decoder() -> msgspec.json.Decoder[_Document]:
    return msgspec.json.Decoder(_Document, strict=False)  # whole numbers are texts in OTLP


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """The runs whose spans and log records a file holds."""
    return gathered(records, reading, lambda record, sink: add_document(record, sink, reading.is_elsewhere))


def add_document(record: Record, sink: SpanSink, is_elsewhere: Callable[[Record], bool] = lambda record: False) -> None:
    """Add the spans and log records of a document, unless it is of another format.

    Raises `BadRecord` or what decoding raises.
    """
    document = _decode(record, is_elsewhere)
    lines = Lines(record)
    while document is not None:
        for resource in (*document.resourceSpans, *document.batches):
            for scope in (*resource.scopeSpans, *resource.instrumentationLibrarySpans, *resource.ilSpans):
                name = scope.scope.name if scope.scope is not None else ""
                for span in scope.spans:
                    sink.add(_span(span, name, *lines.of(span.spanId)))
        for resource in document.resourceLogs:
            for logs in resource.scopeLogs:
                for log in logs.logRecords:
                    sink.log(log.traceId, log.spanId, _log(log, record.offset, record.line or 1))
        document = document.trace or document.result


def _decode(record: Record, is_elsewhere: Callable[[Record], bool]) -> _Document | None:
    """The document of a record; None where the record is of another format."""
    try:
        document = _decoder().decode(record.data)
        if document.resourceSpans or document.resourceLogs:
            return document
    except msgspec.ValidationError:
        document = None
    if is_elsewhere(record):
        return None
    if document is not None and (document.batches or document.trace is not None or document.result is not None):
        return document
    plain = msgspec.json.decode(record.data)
    if not isinstance(plain, dict) or (plain and not any(key in plain for key in _KEYS)):
        raise BadRecord(record.offset, f"is not OTLP: expected an object with one of {', '.join(_KEYS)}")
    return msgspec.convert(_camel(plain), _Document, strict=False)


def _camel(value: Any) -> Any:
    """A document whose keys are written with underscores, as protobuf's other spelling has them, or without times."""
    if isinstance(value, list):
        return [_camel(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    named = {_camel_word(key): _camel(inner) for key, inner in value.items() if inner is not None}
    for key in _TIMES & named.keys():
        if not isinstance(named[key], str | int) or not str(named[key]).isdecimal():
            del named[key]
    return named


_TIMES = {"startTimeUnixNano", "endTimeUnixNano", "timeUnixNano", "observedTimeUnixNano"}


def _camel_word(key: str) -> str:
    first, *others = key.split("_")
    return first + "".join(word.capitalize() for word in others)


_FAILED = frozenset({2, "2", "STATUS_CODE_ERROR", "ERROR"})


def _span(span: _Span, scope: str, offset: int, line: int) -> Span:
    status = span.status
    failed = status is not None and status.code in _FAILED
    return Span(
        span.traceId,
        span.spanId,
        span.parentSpanId or "",
        NAMES[span.name],
        span.startTimeUnixNano or 0,
        span.endTimeUnixNano or 0,
        _plain(span.attributes),
        [_event(event) for event in span.events] if span.events else [],
        failed,
        status.message if status is not None else "",
        scope,
        offset,
        line,
        [link.traceId for link in span.links] if span.links else None,
    )


def _event(event: _Event) -> Event:
    return Event(event.name, _plain(event.attributes), None, event.timeUnixNano or 0)


def _log(log: _Log, offset: int, line: int) -> Event:
    attributes = _plain(log.attributes)
    name = log.eventName or str(attributes.get("event.name", ""))
    when = log.timeUnixNano or log.observedTimeUnixNano or 0
    return Event(name, attributes, _value(log.body) if log.body is not None else None, when, offset, line)


def _plain(pairs: Collection[_Pair]) -> Attributes:
    found: Attributes = {}
    for pair in pairs:
        value = pair.value
        text = value.stringValue
        found[NAMES[pair.key]] = _value(value) if text is None else text
    return found


def _value(value: _Value) -> Any:
    if value.stringValue is not None:
        return value.stringValue
    if value.intValue is not None:
        return value.intValue
    if value.doubleValue is not None:
        return value.doubleValue
    if value.boolValue is not None:
        return value.boolValue
    if value.arrayValue is not None:
        return [_value(one) for one in value.arrayValue.values]
    if value.kvlistValue is not None:
        return {pair.key: _value(pair.value) for pair in value.kvlistValue.values}
    return value.bytesValue


# ── Protobuf ────────────────────────────────────────────────────────────────────────────────────────────────


def read_file(source: Source, reading: Reading) -> Iterator[Trace]:
    """The runs of a file of protobuf: traces, logs, or both one after the other."""
    from passmuster.traces.spans._protobuf import add_protobuf  # late, as it needs an extra

    gathering = Gathering(reading)
    with source.open() as file:
        data = file.read()
    try:
        add_protobuf(data, gathering)
    except ImportError as error:
        message = "is OTLP as protobuf, which needs another package: pip install 'passmuster[otlp]'"
        raise TraceError(Problem(message, source.name)) from error
    except ValueError as error:
        reading.on_bad(BadRecord(0, f"is not OTLP: {error}"))
        return
    yield from gathering.traces()
