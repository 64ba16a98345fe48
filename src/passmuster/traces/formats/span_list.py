"""Spans as plain objects with plain attributes: as OpenTelemetry's SDK prints them, in lists, or nested."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from passmuster.traces._building import Fields, Reading
from passmuster.traces._model import Trace
from passmuster.traces._records import BadRecord, Record
from passmuster.traces.spans._gathering import Gathering, gathered
from passmuster.traces.spans._lines import Lines
from passmuster.traces.spans._plain_spans import is_span, spans_in

DESCRIPTION = "Spans as plain objects, one a record or in a list `spans`; flat, or nested in `child_spans`."
SHAPE = '{"name": …, "attributes": {…}, "start_time": …} or {"spans": […]}'
LACKS = ()

_LISTS = ("spans", "data")
"""Where records list spans; the second as Phoenix answers."""


def detect(record: Fields) -> float:
    """Fairly sure of a name with attributes and an id or a time, alone or in a list of spans."""
    if is_span(record):
        return 0.8
    for name in _LISTS:
        spans = bytes(record.get(name, b"")).lstrip()
        if spans.startswith(b"[") and b"attributes" in spans[:4000] and (name == "spans" or b'"span_kind"' in spans):
            return 0.7
    return 0


def splittable(first: Fields) -> bool:
    """The spans of a trace have to be read together."""
    return False


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """The runs whose spans a file holds. Spans without the id of a trace are one run."""
    return gathered(records, reading, _add)


def _add(record: Record, gathering: Gathering) -> None:
    lines = Lines(record)
    for trace_id, value in _spans(record):
        for span in spans_in(value, lines, trace_id):
            gathering.add(span)


def _spans(record: Record) -> Iterator[tuple[str, dict[str, Any]]]:
    value = msgspec.json.decode(record.data)
    listed = next((value[name] for name in _LISTS if name in value), None) if isinstance(value, dict) else None
    if isinstance(value, dict) and isinstance(listed, list):
        trace_id = value.get("trace_id") or value.get("traceId") or ""
        for place, one in enumerate(listed):
            if not isinstance(one, dict) or not is_span(one):
                raise BadRecord(record.offset, f"'spans[{place}]' is not a span: expected a name, attributes and an id")
            yield str(trace_id), one
    elif isinstance(value, dict) and is_span(value):
        yield "", value
    else:
        raise BadRecord(record.offset, "is not a span: expected an object with a name, attributes, and an id or a time")
