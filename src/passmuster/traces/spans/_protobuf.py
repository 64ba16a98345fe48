"""OTLP as protobuf."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from passmuster.traces.spans._span import Attributes, Event, Span, SpanSink


def add_protobuf(data: bytes, gathering: SpanSink) -> None:
    """Add the spans and log records of a message.

    Raises `ImportError` without the extra, and `ValueError` for other data.
    """
    from google.protobuf.message import DecodeError
    from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
    from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

    try:
        traces: Any = TracesData.FromString(data)
        found = add_spans(traces.resource_spans, gathering)
    except (DecodeError, UnicodeDecodeError):
        found = 0
    if found:
        return
    try:
        logs: Any = LogsData.FromString(data)
    except (DecodeError, UnicodeDecodeError) as error:
        raise ValueError("it is damaged, cut off, or something else") from error
    if not add_logs(logs.resource_logs, gathering):
        raise ValueError("it has neither spans nor log records")


def add_spans(resources: Iterable[Any], gathering: SpanSink) -> int:
    """Add the spans of these resources, and return how many there are: none where one has an id that is no id."""
    spans = [
        (span, scope.scope.name) for resource in resources for scope in resource.scope_spans for span in scope.spans
    ]
    if not all(len(span.trace_id) == 16 and len(span.span_id) == 8 for span, _ in spans):
        return 0
    for span, scope in spans:
        gathering.add(
            Span(
                span.trace_id.hex(),
                span.span_id.hex(),
                span.parent_span_id.hex(),
                span.name,
                span.start_time_unix_nano,
                span.end_time_unix_nano,
                plain_attributes(span.attributes),
                [
                    Event(event.name, plain_attributes(event.attributes), None, event.time_unix_nano)
                    for event in span.events
                ],
                span.status.code == 2,
                span.status.message,
                scope,
                0,
                1,
                [link.trace_id.hex() for link in span.links] or None,
            )
        )
    return len(spans)


def add_logs(resources: Iterable[Any], gathering: SpanSink) -> int:
    """Add the log records of these resources, and return how many there are."""
    count = 0
    for resource in resources:
        for scope in resource.scope_logs:
            for log in scope.log_records:
                attributes = plain_attributes(log.attributes)
                name = log.event_name or str(attributes.get("event.name", ""))
                when = log.time_unix_nano or log.observed_time_unix_nano
                gathering.log(
                    log.trace_id.hex(), log.span_id.hex(), Event(name, attributes, _value(log.body), when, 0, 1)
                )
                count += 1
    return count


def plain_attributes(pairs: Any) -> Attributes:
    """Attributes as plain values."""
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    if kind == "array_value":
        return [_value(one) for one in value.array_value.values]
    if kind == "kvlist_value":
        return {pair.key: _value(pair.value) for pair in value.kvlist_value.values}
    found = getattr(value, kind)
    return found.hex() if isinstance(found, bytes) else found
