"""The spans and log records of one run, as exporters send them while it takes place."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from passmuster.traces._building import Loss, Reading
from passmuster.traces._model import Origin, Trace
from passmuster.traces._records import UNREADABLE, BadRecord, Record
from passmuster.traces._sources import Source
from passmuster.traces._tool_names import check_calls
from passmuster.traces.formats.otlp import add_document
from passmuster.traces.spans._gathering import Gathering
from passmuster.traces.spans._span import Attributes, Event, Span


class SpanBatch(Struct):
    """The spans and log records of one resource (a process that exports), out of one message."""

    resource: Attributes
    spans: list[Span] = []
    logs: list[tuple[str, str, Event]] = []
    """Each with the ids of its trace and of its span, which may be empty."""

    def add(self, span: Span) -> None:
        self.spans.append(span)

    def log(self, trace_id: str, span_id: str, event: Event) -> None:
        self.logs.append((trace_id, span_id, event))


def read_otlp(data: bytes, *, json: bool) -> list[SpanBatch]:
    """What an exporter has sent: the body of a request to `/v1/traces` or `/v1/logs`.

    Raises `ValueError` for other data, and `ImportError` where protobuf needs the extra `otlp`.
    """
    return _read_json(data) if json else _read_protobuf(data)


class _Resources(Struct):
    resourceSpans: list[Raw] = []
    resourceLogs: list[Raw] = []


class _Text(Struct):
    stringValue: str | None = None


class _Pair(Struct):
    key: str = ""
    value: _Text | None = None


class _Attributes(Struct):
    attributes: list[_Pair] = []


class _Resource(Struct):
    resource: _Attributes | None = None


def _read_json(data: bytes) -> list[SpanBatch]:
    try:
        document = msgspec.json.decode(data, type=_Resources)
        batches = []
        for name, resources in (("resourceSpans", document.resourceSpans), ("resourceLogs", document.resourceLogs)):
            for resource in resources:
                stated = msgspec.json.decode(resource, type=_Resource).resource or _Attributes()
                texts = {pair.key: pair.value.stringValue for pair in stated.attributes if pair.value is not None}
                batch = SpanBatch(texts)
                add_document(Record(0, b'{"%s":[%s]}' % (name.encode(), bytes(resource)), line=1), batch)
                batches.append(batch)
    except BadRecord as bad:
        raise ValueError(bad.message) from bad
    except UNREADABLE as error:
        raise ValueError(f"is not OTLP as JSON: {error}") from error
    return batches


def _read_protobuf(data: bytes) -> list[SpanBatch]:
    from google.protobuf.message import DecodeError  # late, as they need an extra
    from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
    from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

    from passmuster.traces.spans._protobuf import add_logs, add_spans, plain_attributes

    def batches(resources: Any, add: Any) -> list[SpanBatch]:
        found = []
        for resource in resources:
            batch = SpanBatch(plain_attributes(resource.resource.attributes))
            if add([resource], batch):
                found.append(batch)
        return found

    try:
        if spans := batches(TracesData.FromString(data).resource_spans, add_spans):
            return spans
    except (DecodeError, UnicodeDecodeError):  # log records look so
        pass
    try:
        return batches(LogsData.FromString(data).resource_logs, add_logs)
    except (DecodeError, UnicodeDecodeError) as error:
        raise ValueError("is not OTLP as protobuf: it is damaged, cut off, or something else") from error


class ReceivedSpans:
    """All that was received of one run. That it is one run is known, whatever ids its traces have."""

    def __init__(self) -> None:
        self._spans: dict[tuple[str, str], Span] = {}
        self._logs: list[tuple[str, str, Event]] = []
        self._ids: set[str] = set()
        self._parents: set[str] = set()

    def __len__(self) -> int:
        return len(self._spans) + len(self._logs)

    def add(self, span: Span) -> None:
        """Keep a span; one that is sent again replaces the one before."""
        self._spans[span.trace_id, span.span_id] = span
        self._ids.add(span.span_id)
        if span.parent_id:
            self._parents.add(span.parent_id)

    def log(self, trace_id: str, span_id: str, event: Event) -> None:
        """Keep a log record."""
        self._logs.append((trace_id, span_id, event))

    @property
    def missing_parents(self) -> set[str]:
        """The ids of spans that others name as their parents, and that have not arrived."""
        return self._parents - self._ids

    def trace(self) -> tuple[Trace | None, list[str]]:
        """The run that they record, and what could not be read; None where no span is of an agent."""
        problems: list[str] = []

        def lose(loss: Loss) -> None:
            if not loss.may_hold_call:  # else it was worked out that this is one run, which is known
                problems.append(loss.found)

        reading = Reading(Source("", "OpenTelemetry"), lambda bad: problems.append(bad.message), {}, on_loss=lose)
        gathering = Gathering(reading)
        one_id = next((trace_id for trace_id, _ in self._spans), "run")
        for span in self._spans.values():
            gathering.add(replace(span, trace_id=one_id, events=list(span.events)))
        for trace_id, span_id, event in self._logs:
            gathering.log(one_id if trace_id else "", span_id, event)
        traces = list(gathering.traces())
        if len(traces) != 1:
            return None, problems
        trace = traces[0]
        inferred = tuple(fact for fact in trace.inferred if fact != "run")
        try:
            return check_calls(replace(trace, inferred=inferred, origin=Origin())), problems
        except BadRecord as bad:
            return None, [*problems, bad.message]
