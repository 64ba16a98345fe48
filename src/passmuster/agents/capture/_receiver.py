"""The receiver of OpenTelemetry: OTLP over HTTP, as protobuf or JSON, for runs that are being observed."""

from __future__ import annotations

import msgspec

from passmuster.agents.capture._http import Refusal, Request
from passmuster.agents.capture._observed_run import ObservedRun
from passmuster.agents.capture._open_runs import OpenRuns
from passmuster.traces import SpanBatch, read_otlp

RUN_ATTRIBUTE = "passmuster.run.key"
"""The attribute of a resource that says which run it is part of."""
_PATHS = ("/v1/traces", "/v1/logs", "/v1/metrics")
_MISSING_EXTRA = "it sent OTLP as protobuf, which needs another package: pip install 'passmuster[otlp]'"


def is_otlp(path: str) -> bool:
    """Whether a path, without the key of a run, is one that exporters send to."""
    return path in _PATHS


def receive(request: Request, path: str, run: ObservedRun | None, runs: OpenRuns) -> None:
    """Take what an exporter sends; `run` is the one that the address names.

    Without it, each resource names its run, or each trace is one that an agent was asked to continue. What belongs to
    no run is not kept, and the exporter is told how much that was.
    """
    if request.method != "POST":
        raise Refusal(405, "expected POST")
    json = "json" in request.headers.get("content-type", "")
    rejected = 0
    if not path.endswith("/metrics"):
        try:
            batches = read_otlp(request.body, json=json)
        except (ValueError, ImportError) as error:
            why = _MISSING_EXTRA if isinstance(error, ImportError) else f"it sent what cannot be read: {error}"
            if run is not None:
                run.lose(why)
            raise Refusal(415 if isinstance(error, ImportError) else 400, why) from error
        for batch in batches:
            rejected += _assign(batch, run or runs.by_key(batch.resource.get(RUN_ATTRIBUTE)), runs)
    kind = "application/json" if json else "application/x-protobuf"
    request.connection.answer(200, kind, _accepted(path, json, rejected))


def _assign(batch: SpanBatch, run: ObservedRun | None, runs: OpenRuns) -> int:
    """Give a batch to its run, or its spans to theirs; how many belong to none."""
    if run is not None:
        run.take(batch)
        return 0
    parts: dict[str, SpanBatch] = {}
    rejected = 0
    for span in batch.spans:
        owner = runs.by_trace(span.trace_id)
        if owner is None:
            rejected += 1
        else:
            parts.setdefault(owner.key, SpanBatch({}, [], [])).spans.append(span)
    for log in batch.logs:
        owner = runs.by_trace(log[0])
        if owner is None:
            rejected += 1
        else:
            parts.setdefault(owner.key, SpanBatch({}, [], [])).logs.append(log)
    runs.unclaimed += rejected
    for key, part in parts.items():
        owner = runs.by_key(key)
        if owner is not None:
            owner.take(part)
    return rejected


def _accepted(path: str, json: bool, rejected: int) -> bytes:
    """The answer to an exporter: empty, or how much was not kept."""
    why = "belongs to no run that is being observed"
    if json:
        name = "rejectedSpans" if path.endswith("traces") else "rejectedLogRecords"
        return msgspec.json.encode({"partialSuccess": {name: rejected, "errorMessage": why}} if rejected else {})
    if not rejected:
        return b""
    inner = b"\x08" + _varint(rejected) + b"\x12" + _varint(len(why)) + why.encode()
    return b"\x0a" + _varint(len(inner)) + inner


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])
