"""Traces of the OpenAI Agents SDK: `trace` and `trace.span` objects, in a list `data` or one a record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from passmuster.traces._building import Fields, Reading
from passmuster.traces._model import Trace
from passmuster.traces._records import BadRecord, Record
from passmuster.traces.spans._gathering import Gathering, gathered
from passmuster.traces.spans._lines import Lines
from passmuster.traces.spans._plain_spans import moment
from passmuster.traces.spans._span import Span

DESCRIPTION = "Traces of the OpenAI Agents SDK, as it sends or prints them."
SHAPE = '{"data": [{"object": "trace.span", "span_data": {…}}, …]}'
LACKS = ("cost",)
_HEAD = 2000
_OBJECTS = (b'"trace.span"', b'"trace"')


def detect(record: Fields) -> float:
    """Sure of the objects `trace` and `trace.span`."""
    if bytes(record.get("object", b"")) in _OBJECTS:
        return 1
    head = bytes(record.get("data", b""))[:_HEAD].replace(b" ", b"")
    return 1 if b'"object":"trace' in head else 0


def splittable(first: Fields) -> bool:
    """The spans of a trace have to be read together."""
    return False


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """The runs whose spans a file holds."""
    return gathered(records, reading, _add)


def _add(record: Record, gathering: Gathering) -> None:
    lines = Lines(record)
    for value in _objects(record):
        if value.get("object") == "trace.span":
            gathering.add(_span(value, *lines.of(str(value.get("id", "")))))


def _objects(record: Record) -> Iterator[dict[str, Any]]:
    value = msgspec.json.decode(record.data)
    listed = value.get("data", [value]) if isinstance(value, dict) else None
    for one in listed if isinstance(listed, list) else [None]:
        if not isinstance(one, dict) or one.get("object") not in ("trace", "trace.span"):
            raise BadRecord(record.offset, "holds an object that is neither a 'trace' nor a 'trace.span'")
        yield one


def _span(value: dict[str, Any], offset: int, line: int) -> Span:
    data, error = value.get("span_data"), value.get("error")
    message = error.get("message", "") if isinstance(error, dict) else ""
    return Span(
        str(value.get("trace_id") or ""),
        str(value.get("id") or ""),
        str(value.get("parent_id") or ""),
        str(data.get("name") or data.get("type") or "") if isinstance(data, dict) else "",
        moment(value.get("started_at")),
        moment(value.get("ended_at")),
        {"span_data": data},
        [],
        bool(error),
        str(message),
        "",
        offset,
        line,
    )
