"""The spans of a file, gathered until it ends, and the traces they add up to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import chain

from passmuster.traces._building import Reading, located_error
from passmuster.traces._model import Trace
from passmuster.traces._records import UNREADABLE, BadRecord, Record
from passmuster.traces.spans._log_spans import span_of_messages, spans_of_claude_code
from passmuster.traces.spans._runs import Run, run_of, trace_of
from passmuster.traces.spans._span import Event, Span
from passmuster.traces.spans._span_store import SpanStore
from passmuster.traces.spans._stitching import is_loose, stitched
from passmuster.traces.spans._tree import tree_of
from passmuster.traces.spans.dialects.genai import is_model_call
from passmuster.traces.spans.dialects.genai_events import DETAILS

_MOST_HELD = 1 << 27
"""Bytes of records whose spans are in memory at once."""


def gathered(records: Iterator[Record], reading: Reading, add: Callable[[Record, Gathering], None]) -> Iterator[Trace]:
    """The runs whose spans a file holds; `add` adds those of one record."""
    with closing(Gathering(reading)) as gathering:
        for record in records:
            try:
                add(record, gathering)
            except BadRecord as bad:
                reading.on_bad(bad)
            except UNREADABLE as error:
                reading.on_bad(located_error(record, error))
            gathering.make_room(len(record.data))
        yield from gathering.traces()


class Gathering:
    """The spans and log records of a file. Those of one trace may stand anywhere in it, in any order."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._store = SpanStore()
        self._bytes = 0
        self._logs: dict[tuple[str, str], list[Event]] = {}
        self._links: list[tuple[str, str]] = []
        self._count = 0
        self._inferred: list[int] = []
        self._refused = False

    def add(self, span: Span) -> None:
        self._count += 1
        span.order = self._count
        self._store.add(span)
        if span.links and any(key.startswith("messaging.") for key in span.attributes):
            self._links += [(span.trace_id, other) for other in span.links]

    def log(self, trace_id: str, span_id: str, event: Event) -> None:
        """Keep a log record for the span that it belongs to: that of the call it names, else the one it was made in."""
        call = event.attributes.get("tool_use_id")
        key = ("", call) if isinstance(call, str) and call else (trace_id, span_id)
        self._logs.setdefault(key, []).append(event)

    def close(self) -> None:
        """Delete what is kept outside of memory."""
        self._store.close()

    def make_room(self, more: int) -> None:
        """Account for a record of so many bytes. Log records are joined in memory, so that spans stay there too."""
        self._bytes += more
        if self._bytes > _MOST_HELD and not self._logs:
            self._store.move_out()
            self._bytes = 0

    def traces(self) -> Iterator[Trace]:
        """The runs that the spans record, in the order they begin in the file."""
        if self._logs:
            self._add_logs()
        groups = self._linked()
        hold = any(map(self._store.may_be_a_tool_alone, groups))
        kept: list[Run] = []
        empty = True
        for trace_ids in groups:
            run = self._run(self._store.take(trace_ids))
            if run is None:
                continue
            if hold or is_loose(run):
                kept.append(run)
                continue
            for trace in self._traces_of([run]):
                empty = False
                yield trace
        for trace in self._traces_of(stitched(kept)):
            empty = False
            yield trace
        if empty and not self._refused:
            found = f"none of its {self._count} spans" if self._count else "nothing"
            message = f"holds no run of an agent: {found} is a model call, a tool call or an answer"
            self._reading.on_bad(BadRecord(0, message))
        self._tell_inferred()

    def _traces_of(self, runs: list[Run]) -> Iterator[Trace]:
        runs.reverse()
        while runs:
            run = runs.pop()
            if run.inferred:
                self._inferred.append(run.nodes[0].span.offset)
            try:
                trace = trace_of(run, self._reading)
            except BadRecord as bad:
                self._refuse(bad)
            except _DAMAGE as error:
                self._refuse(_damaged(run.nodes[0].span, error))
            else:
                if trace is not None:
                    yield trace
            for turn in run.turns:
                turn.requests.clear()  # which hold their turns: without a cycle, all is freed here

    def _run(self, spans: list[Span]) -> Run | None:
        try:
            _add_details(spans)
            run = run_of(tree_of(spans))
            if self._links and any(span.trace_id != spans[0].trace_id for span in spans):
                run.inferred = ("run",)
            return run
        except _DAMAGE as error:
            self._refuse(_damaged(spans[0], error))
            return None

    def _refuse(self, bad: BadRecord) -> None:
        self._refused = True
        self._reading.on_bad(bad)

    def _tell_inferred(self) -> None:
        count = len(self._inferred)
        if count:
            self._reading.warn(
                self._inferred[0],
                "a root span, which there is none of: which spans are one run was worked out from messages or links "
                f"({count} {'run' if count == 1 else 'runs'})",
            )

    def _linked(self) -> list[list[str]]:
        """The ids of traces, by run: a trace of a message between agents belongs to the one that it goes on from."""
        if not self._links:
            return [[trace_id] for trace_id in self._store.ids()]
        head = {trace_id: trace_id for trace_id in self._store.ids()}
        for one, other in self._links:
            ends = []
            for trace_id in (one, other):
                while head.get(trace_id, trace_id) != trace_id:
                    trace_id = head[trace_id]
                ends.append(trace_id)
            if ends[1] in head:
                head[ends[0]] = ends[1]
        groups: dict[str, list[str]] = {}
        for trace_id in head:
            top = trace_id
            while head[top] != top:
                top = head[top]
            groups.setdefault(top, []).append(trace_id)
        return list(groups.values())

    def _add_logs(self) -> None:
        """Join log records to their spans; those whose spans are not in the file stand for them."""
        self._store.move_in()
        traces = self._store.held
        spans = list(chain.from_iterable(traces.values()))
        for span in spans:
            span.events += self._logs.pop((span.trace_id, span.span_id), ())
            call = span.attributes.get("tool_use_id")
            if isinstance(call, str) and span.name != "claude_code.tool.execution":
                span.events += self._logs.pop(("", call), ())
        rest, self._logs = self._logs, {}
        for (trace_id, span_id), events in rest.items():
            if not span_id and (models := [span for span in traces.get(trace_id, ()) if is_model_call(span)]):
                self._add_by_time(events, models)
                continue
            model_call = span_of_messages(trace_id, span_id, events)
            if model_call is not None:
                self.add(model_call)
                spans.append(model_call)
        if rest and not any(span.name.startswith("claude_code.") for span in spans):
            for span in spans_of_claude_code([event for events in rest.values() for event in events]):
                self.add(span)

    def _add_by_time(self, events: list[Event], models: list[Span]) -> None:
        """Join log records that name their trace only to the model call that was going on; others are lost."""
        for event in events:
            fitting = [span for span in models if span.start <= event.time <= span.end] if len(models) > 1 else models
            if len(fitting) == 1:
                fitting[0].events.append(event)
            elif event.name.startswith("gen_ai."):
                found = f"a log record '{event.name}' names no span and fits {len(fitting)} model calls"
                with self._refusing():
                    self._reading.lose(event.offset, found)

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except BadRecord as bad:
            self._refuse(bad)


_DAMAGE = (TypeError, ValueError, KeyError, IndexError, AttributeError, RecursionError, OverflowError)
"""What values of shapes that no instrumentation writes may raise in a dialect."""


def _damaged(span: Span, error: Exception) -> BadRecord:
    kind = type(error).__name__
    return BadRecord(span.offset, f"holds a trace whose attributes have values that cannot be read ({kind}: {error})")


def _add_details(spans: list[Span]) -> None:
    """Add what an event repeats of the attributes of its span."""
    for span in spans:
        for event in span.events:
            if event.name == DETAILS:
                for key, value in event.attributes.items():
                    span.attributes.setdefault(key, value)
