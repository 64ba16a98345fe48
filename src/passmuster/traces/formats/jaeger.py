"""Exports of Jaeger: `{"data": [{"traceID": …, "spans": […]}]}`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from passmuster.traces._building import Fields, Reading
from passmuster.traces._model import Trace
from passmuster.traces._records import BadRecord, Record
from passmuster.traces.spans._gathering import Gathering, gathered
from passmuster.traces.spans._lines import Lines
from passmuster.traces.spans._plain_spans import spans_in

DESCRIPTION = "Exports of Jaeger, with the spans of one or more traces."
SHAPE = '{"data": [{"traceID": …, "spans": […]}]}'
LACKS = ()
_HEAD = 4000


def detect(record: Fields) -> float:
    """Sure of Jaeger's spelling of ids."""
    if "traceID" in record and ("spans" in record or "operationName" in record):
        return 1
    head = bytes(record.get("data", b""))[:_HEAD]
    return 1 if b'"traceID"' in head and b'"spans"' in head else 0


def splittable(first: Fields) -> bool:
    """The spans of a trace have to be read together."""
    return False


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """The runs whose spans an export holds."""
    return gathered(records, reading, _add)


def _add(record: Record, gathering: Gathering) -> None:
    lines = Lines(record)
    for span in _spans(record):
        for one in spans_in(span, lines):
            gathering.add(one)


def _spans(record: Record) -> Iterator[dict[str, Any]]:
    value = msgspec.json.decode(record.data)
    if isinstance(value, dict) and "operationName" in value:  # a span of its own, as in an index of Elasticsearch
        yield _plain(value, record)
        return
    traces = value.get("data", [value]) if isinstance(value, dict) else None
    for trace in traces if isinstance(traces, list) else [traces]:
        if not isinstance(trace, dict) or not isinstance(trace.get("spans"), list):
            raise BadRecord(record.offset, "is not an export of Jaeger: expected a list of traces with their 'spans'")
        for span in trace["spans"]:
            if isinstance(span, dict):
                yield _plain(span, record)


def _plain(span: dict[str, Any], record: Record) -> dict[str, Any]:
    """A span with its parent, its end and its times in nanoseconds."""
    start, duration = span.get("startTime"), span.get("duration")
    begin = start * 1000 if isinstance(start, int) else 0
    end = begin + duration * 1000 if isinstance(duration, int) else 0
    above = span.get("references")
    parents = [one for one in above if isinstance(one, dict)] if isinstance(above, list) else []
    child_of = next((one.get("spanID") for one in parents if one.get("refType") == "CHILD_OF"), None)
    listed = span.get("tags") or []
    if not isinstance(listed, list):
        raise BadRecord(record.offset, "has a span of Jaeger whose 'tags' are not a list")
    tags = {str(tag.get("key")): tag.get("value") for tag in listed if isinstance(tag, dict)}
    indexed = span.get("tag")
    if isinstance(indexed, dict):
        tags |= {key.replace("@", "."): one for key, one in indexed.items()}
    kept = {key: span.get(key) for key in ("traceID", "spanID", "operationName", "logs")}
    scope = tags.get("otel.scope.name")
    return {**kept, "startTime": begin, "endTime": end, "parentSpanID": child_of, "tags": tags, "scope_name": scope}
