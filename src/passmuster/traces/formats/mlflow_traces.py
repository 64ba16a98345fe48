"""Traces of MLflow: `{"info": {…}, "data": {"spans": […]}}`, one a record."""

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

DESCRIPTION = "Traces of MLflow, one a record."
SHAPE = '{"info": {…}, "data": {"spans": […]}}'
LACKS = ()
_HEAD = 4000


def detect(record: Fields) -> float:
    """Sure of information and data side by side, with MLflow's names in them."""
    if "info" not in record or b'"spans"' not in bytes(record.get("data", b""))[:_HEAD]:
        return 0
    return 1 if b"trace" in bytes(record["info"])[:_HEAD] else 0.6


def splittable(first: Fields) -> bool:
    """Runs without a root span may be joined across records."""
    return False


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """One run per record."""
    return gathered(records, reading, _add)


def _add(record: Record, gathering: Gathering) -> None:
    lines = Lines(record)
    trace_id, spans = _spans(record)
    for value in spans:
        for span in spans_in(value, lines):
            span.trace_id = trace_id or span.trace_id
            gathering.add(span)


def _spans(record: Record) -> tuple[str, list[dict[str, Any]]]:
    value = msgspec.json.decode(record.data)
    data = value.get("data") if isinstance(value, dict) else None
    spans = data.get("spans") if isinstance(data, dict) else None
    if not isinstance(spans, list):
        raise BadRecord(record.offset, "is not a trace of MLflow: expected 'data' with a list of 'spans'")
    info = value.get("info")
    named = (info.get("trace_id") or info.get("request_id")) if isinstance(info, dict) else None
    return str(named or ""), [span for span in spans if isinstance(span, dict)]
