"""Spans as plain objects, whatever an exporter calls their fields."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from passmuster.traces.spans._lines import Lines
from passmuster.traces.spans._span import Attributes, Event, Span
from passmuster.traces.spans._values import first, opened

_NAME = ("name", "span_name", "spanName", "operationName", "SpanName")
_TRACE = ("traceId", "trace_id", "traceID", "context.trace_id", "TraceId")
_SPAN = ("spanId", "span_id", "spanID", "context.span_id", "SpanId", "id")
_PARENT = ("parentSpanId", "parent_span_id", "parentId", "parent_id", "parentSpanID", "ParentSpanId")
_START = (
    *("startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime", "started_at", "start_timestamp"),
    *("timestamp", "start", "Timestamp"),
)
_END = ("endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime", "ended_at", "end_timestamp", "end")
_ATTRIBUTES = ("attributes", "span_attributes", "tags", "SpanAttributes")
_STATUS = ("status_code", "statusCode", "otel_status_code", "StatusCode")
_MESSAGE = ("status_message", "statusMessage", "otel_status_message", "StatusMessage")
_KINDS = frozenset({"LLM", "TOOL", "AGENT", "CHAIN", "RETRIEVER", "EMBEDDING", "RERANKER", "GUARDRAIL", "EVALUATOR"})
"""Kinds of spans that Phoenix writes beside their attributes."""
_ROW = "attributes."
"""How the names of attributes begin in rows of a table of spans."""
_CHILDREN = ("child_spans", "children", "childSpans")
_EVENTS = ("events", "logs", "span_events", "otel_events")
_FAILED = (2, "2", "STATUS_CODE_ERROR", "ERROR", "Error", "error")
_DEEPEST = 200


def is_span(value: dict[str, Any]) -> bool:
    """Whether an object looks like a span: a name, attributes, and an id or a time."""
    has = [any(key in value for key in names) for names in (_NAME, (*_SPAN, *_START, "context"))]
    return all(has) and (any(key in value for key in _ATTRIBUTES) or any(key.startswith(_ROW) for key in value))


def spans_in(
    value: dict[str, Any], lines: Lines, trace_id: str = "", parent: str = "", depth: int = 0
) -> Iterator[Span]:
    """A span and those inside it."""
    context = value.get("context")
    ids = {**value, **context} if isinstance(context, dict) else value
    trace_id = _id(first(ids, _TRACE)) or trace_id
    span_id = _id(first(ids, _SPAN))
    start, end = moment(first(value, _START)), moment(first(value, _END))
    if start and not end:
        end = start + _lasted(value)
    attributes = _attributes(value)
    failed, message = _status(value, attributes)
    offset, line = lines.of(span_id)
    yield Span(
        trace_id,
        span_id,
        _id(first(value, _PARENT)) or _id(_object(value.get("parentSpanContext")).get("spanId")) or parent,
        str(first(value, _NAME) or ""),
        start,
        end,
        attributes,
        [_event(event) for event in _events(value) if isinstance(event, dict)],
        failed,
        message,
        _scope(value),
        offset,
        line,
    )
    if depth < _DEEPEST:
        for inner in _listed(first(value, _CHILDREN)):
            if isinstance(inner, dict):
                yield from spans_in(inner, lines, trace_id, span_id, depth + 1)


def _attributes(value: dict[str, Any]) -> Attributes:
    stated = first(value, _ATTRIBUTES)
    if stated is None:
        stated = {key[len(_ROW) :]: one for key, one in value.items() if key.startswith(_ROW) and one is not None}
    attributes = plain_attributes(opened(stated))
    if str(value.get("span_kind")) in _KINDS:
        attributes.setdefault("openinference.span.kind", value["span_kind"])
    return attributes


def _events(value: dict[str, Any]) -> list[Any]:
    names, attributes = value.get("Events.Name"), value.get("Events.Attributes")
    if isinstance(names, list) and isinstance(attributes, list):  # the columns of ClickHouse
        return [{"name": name, "attributes": one} for name, one in zip(names, attributes, strict=False)]
    return _listed(opened(first(value, _EVENTS)))


def _lasted(value: dict[str, Any]) -> int:
    """Nanoseconds that a span lasted, in ISO 8601, in the unit of its beginning, or as ClickHouse has it."""
    for name, unit in (("Duration", 1), ("duration_ms", 1_000_000), ("durationMs", 1_000_000), ("duration_ns", 1)):
        if isinstance(value.get(name), int | float) and value[name] >= 0:
            return int(value[name] * unit)
    duration, stamp = value.get("duration"), value.get("timestamp")
    if isinstance(duration, int) and isinstance(stamp, int) and 10**14 < stamp < 10**17 and 0 <= duration < 10**15:
        return duration * 1_000  # Zipkin, and what Node.js prints
    return length(duration)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _id(value: Any) -> str:
    return value.removeprefix("0x") if isinstance(value, str) else "" if value is None else str(value)


def _scope(value: dict[str, Any]) -> str:
    names = ("scope", "instrumentationScope", "instrumentation_scope", "scope_name", "otel_scope_name", "ScopeName")
    scope = first(value, names)
    return str(scope.get("name", "")) if isinstance(scope, dict) else str(scope or "")


def _status(value: dict[str, Any], attributes: Attributes) -> tuple[bool, str]:
    status = value.get("status")
    if isinstance(status, dict):
        code, message = first(status, ("code", "status_code")), first(status, ("message", "description"))
    else:
        code, message = first(value, _STATUS), first(value, _MESSAGE)
        code = code if code is not None else status
    if code is None:
        code = attributes.get("otel.status_code")
        message = message or attributes.get("otel.status_description")
    flag = attributes.get("error")
    failed = code in _FAILED or (code is None and flag in (True, "true"))
    return failed, message if isinstance(message, str) and message else flag if isinstance(flag, str) else ""


def plain_attributes(value: Any) -> Attributes:
    """Attributes from an object, or from a list of keys and values; messages that are lists also flat."""
    if isinstance(value, list):
        value = {str(pair.get("key")): _unwrapped(pair.get("value")) for pair in value if isinstance(pair, dict)}
    if not isinstance(value, dict):
        return {}
    found: Attributes = {}
    for key, inner in value.items():
        found[key] = inner
        if isinstance(inner, dict | list) and key.partition(".")[0] in _NESTED:
            _flatten(key, inner, found)
    return found


_NESTED = ("llm", "openinference", "input", "output", "gen_ai", "tool", "metadata", "agent", "ai", "langfuse", "mlflow")
_OTLP = ("stringValue", "intValue", "doubleValue", "boolValue")


def _unwrapped(value: Any) -> Any:
    if isinstance(value, dict) and len(value) == 1:
        (key,) = value
        if key == "intValue" and isinstance(value[key], str) and value[key].lstrip("-").isdigit():
            return int(value[key])
        return value[key] if key in _OTLP else value
    return value


def _flatten(prefix: str, value: Any, found: Attributes, depth: int = 0) -> None:
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in pairs:
        name = f"{prefix}.{key}"
        if isinstance(inner, dict | list) and depth < 12:
            found.setdefault(name, inner)
            _flatten(name, inner, found, depth + 1)
        else:
            found.setdefault(name, inner)


def _event(event: dict[str, Any]) -> Event:
    fields = event.get("fields")
    attributes = plain_attributes(first(event, ("attributes", "log_attributes")) if fields is None else fields)
    name = event.get("name") or attributes.get("event") or attributes.get("name") or attributes.get("event.name") or ""
    return Event(str(name), attributes, event.get("body"), moment(first(event, ("timeUnixNano", "timestamp", "time"))))


def moment(value: Any) -> int:
    """Nanoseconds since 1970, from ISO 8601 or a number of seconds, milli-, micro- or nanoseconds; 0 if unknown."""
    if isinstance(value, str):
        if value.isascii() and value.isdigit() and len(value) < 20:
            value = int(value)
        else:
            try:
                when = datetime.fromisoformat(value)
            except ValueError:
                return 0
            stamp = when if when.tzinfo else datetime.fromisoformat(value + "+00:00")
            return int(stamp.timestamp()) * 1_000_000_000 + stamp.microsecond * 1_000
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e20:
        return 0
    for unit in (1, 1_000, 1_000_000):
        if value * unit > 1e17:
            return int(value * unit)
    return int(value * 1_000_000_000)


_ISO = re.compile(r"P(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?")


def length(value: Any) -> int:
    """Nanoseconds of a duration in ISO 8601."""
    found = _ISO.fullmatch(value) if isinstance(value, str) and len(value) < 40 else None
    if found is None:
        return 0
    days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return int((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1e9)
