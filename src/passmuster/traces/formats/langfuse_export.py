"""Exports of Langfuse: traces with their observations, lists of these, batches of a client, and `observations_v2`.

Observations of one trace may stand in any order and in any record. Inputs and outputs are JSON, or text that holds it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import msgspec

from passmuster.traces._building import Fields, Reading
from passmuster.traces._model import Trace
from passmuster.traces._records import BadRecord, Record
from passmuster.traces.spans._gathering import Gathering, gathered
from passmuster.traces.spans._lines import Lines
from passmuster.traces.spans._plain_spans import moment
from passmuster.traces.spans._span import Span
from passmuster.traces.spans._values import first, opened

DESCRIPTION = "Exports of Langfuse: traces with `observations`, lists of observations, rows of `observations_v2`."
SHAPE = '{"id": …, "observations": [{"type": "GENERATION", …}]}'
LACKS = ("handoffs",)

_KINDS = (b"GENERATION", b"SPAN", b"EVENT", b"AGENT", b"TOOL", b"CHAIN", b"RETRIEVER", b"EMBEDDING", b"GUARDRAIL")
_OF_TRACE = ("traceId", "trace_id")
_OWN = "langfuse.observation."
_USAGE = ("usageDetails", "usage_details", "usage", "provided_usage_details")
_COSTS = ("costDetails", "cost_details")


def detect(record: Fields) -> float:
    """Sure of observations with a type of Langfuse."""
    if "observations" in record and bytes(record["observations"])[:1] == b"[":
        return 0.99
    if _is_observation(record):
        return 0.99
    if b'"body"' in bytes(record.get("batch", b"")) and b'-create"' in bytes(record["batch"]):
        return 0.98
    listed = bytes(record.get("data", b""))
    if listed[:1] == b"[" and b'"traceId"' in listed and any(kind in listed for kind in _KINDS):
        return 0.98
    return 0


def _is_observation(record: Fields) -> bool:
    kind = bytes(record.get("type", b"")).strip(b'"').upper()
    times = ("startTime", "start_time")
    return kind in _KINDS and any(name in record for name in _OF_TRACE) and any(name in record for name in times)


def splittable(first: Fields) -> bool:
    """The observations of a trace have to be read together."""
    return False


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """One trace per trace of Langfuse."""
    batches = _Batches()

    def add(record: Record, gathering: Gathering) -> None:
        if record is _END:
            for span in batches.spans():
                gathering.add(span)
            return
        value = msgspec.json.decode(record.data)
        if isinstance(value, dict) and isinstance(value.get("batch"), list):
            batches.add(value["batch"], record)
            return
        lines = Lines(record)
        for observation, trace in _observations(value, record):
            gathering.add(_span(observation, trace, lines))

    return gathered(chain(records, [_END]), reading, add)


_END = Record(-1, b"")
"""Comes after the last record of a file."""


def _observations(value: Any, record: Record) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each observation of a record, with what its trace states."""
    if not isinstance(value, dict):
        raise BadRecord(record.offset, "is no trace and no observation of Langfuse")
    listed = value.get("observations", value.get("data"))
    if isinstance(listed, list) and listed and all(isinstance(one, str) for one in listed):
        raise BadRecord(
            record.offset,
            "is a trace of Langfuse that only names its observations: export them too (GET /api/public/traces/ID)",
        )
    if isinstance(listed, list) and "startTime" not in value:
        for one in listed:
            if isinstance(one, dict) and isinstance(one.get("observations"), list):
                yield from _observations(one, record)
            elif isinstance(one, dict):
                yield one, value if "observations" in value else {}
            else:
                raise BadRecord(record.offset, "lists an observation that is not an object")
        return
    if first(value, _OF_TRACE) is None:
        raise BadRecord(record.offset, "is no trace and no observation of Langfuse: it has no 'traceId'")
    yield value, {}


class _Batches:
    """The observations that events of a client create, and update later, maybe in another batch."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[dict[str, Any], Record]] = {}
        self._traces: dict[str, dict[str, Any]] = {}

    def add(self, events: list[Any], record: Record) -> None:
        for event in events:
            body = event.get("body") if isinstance(event, dict) else None
            kind, _, action = str(event.get("type") if isinstance(body, dict) else "").rpartition("-")
            if action not in ("create", "update") or not isinstance(body, dict) or kind == "score":
                continue
            key = str(body.get("id"))
            if kind == "trace":
                known = self._traces.setdefault(key, {})
            else:
                known, _ = self._found.setdefault(key, ({"type": kind.upper()}, record))
            known |= {name: inner for name, inner in body.items() if inner is not None}

    def spans(self) -> Iterator[Span]:
        lines: dict[int, Lines] = {}
        for one, record in self._found.values():
            trace = self._traces.get(str(first(one, _OF_TRACE)), {})
            yield _span(one, trace, lines.setdefault(record.offset, Lines(record)))


def _span(one: dict[str, Any], trace: dict[str, Any], lines: Lines) -> Span:
    key = str(one.get("id") or "")
    parent = str(first(one, ("parentObservationId", "parent_observation_id")) or "")
    level, status = str(one.get("level") or ""), first(one, ("statusMessage", "status_message"))
    attributes: dict[str, Any] = {
        _OWN + "type": str(one.get("type") or "span").lower(),
        _OWN + "input": one.get("input"),
        _OWN + "output": one.get("output"),
        _OWN + "level": level,
        _OWN + "status_message": status,
        _OWN + "model.name": first(one, ("model", "providedModelName", "provided_model_name")),
        _OWN + "usage_details": _usage(one),
        _OWN + "cost_details": _costs(one),
    }
    if not parent and trace:
        attributes |= {"langfuse.trace.input": trace.get("input"), "langfuse.trace.output": trace.get("output")}
    return Span(
        str(first(one, _OF_TRACE) or trace.get("id") or ""),
        key,
        parent,
        str(one.get("name") or ""),
        moment(first(one, ("startTime", "start_time"))),
        moment(first(one, ("endTime", "end_time"))),
        {name: value for name, value in attributes.items() if value is not None},
        [],
        level == "ERROR",
        str(status or ""),
        "",
        *lines.of(key),
    )


def _usage(one: dict[str, Any]) -> Any:
    """What a generation used, under the names of this or of an earlier version."""
    stated = next((inner for name in _USAGE if isinstance(inner := opened(one.get(name)), dict) and inner), None)
    if stated is None:
        given, made = one.get("promptTokens"), one.get("completionTokens")
        return {"input": given, "output": made} if given or made else None
    return stated


def _costs(one: dict[str, Any]) -> Any:
    stated = next((inner for name in _COSTS if isinstance(inner := opened(one.get(name)), dict) and inner), None)
    total = first(one, ("calculatedTotalCost", "total_cost", "totalCost"))
    return stated if stated is not None else {"total": total} if isinstance(total, int | float) and total else None
