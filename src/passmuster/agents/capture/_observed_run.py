"""A run that is being observed: the keys by which it is told from others, and what has arrived for it."""

from __future__ import annotations

import secrets
import threading
from collections import Counter

from passmuster.agents.capture._exchange import Exchange
from passmuster.traces import ReceivedSpans, SpanBatch

_MOST_SPANS = 100_000
_MOST_BYTES = 512 << 20


class ObservedRun:
    """What has arrived for one run. Whoever changes it holds `changed`, and notifies."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.name = ""
        """What the same run is called every time, by which it is found on a tape."""
        self.key = secrets.token_hex(12)
        """Stands in addresses, so that nobody else can send to this run."""
        self.trace_id = secrets.token_hex(16)
        self.span_id = secrets.token_hex(8)
        """The span that an agent which is a server continues. It is this program's, and never arrives."""
        self.spans = ReceivedSpans()
        self.exchanges: list[Exchange] = []
        """Requests to models, in the order in which they ended."""
        self.pending = 0
        """Requests that are going on."""
        self._kept = 0
        self.asked: Counter[bytes] = Counter()
        """How often it has asked for what is on a tape."""
        self.not_on_tape: list[str] = []
        """What it asked for that no tape has."""
        self.lost: list[str] = []
        """Why what was observed is not all there was."""
        self.changed = threading.Condition(threading.RLock())

    @property
    def traceparent(self) -> str:
        return f"00-{self.trace_id}-{self.span_id}-01"

    @property
    def missing_spans(self) -> set[str]:
        """Spans that others name as their parents and that have not arrived."""
        return self.spans.missing_parents - {self.span_id}

    def take(self, batch: SpanBatch) -> None:
        """Keep what an exporter sent."""
        with self.changed:
            for span in batch.spans:
                self.spans.add(span)
            for log in batch.logs:
                self.spans.log(*log)
            if len(self.spans) > _MOST_SPANS:
                self.spans = ReceivedSpans()
                self.lose(f"it sent more than {_MOST_SPANS:,} spans and log records")
            self.changed.notify_all()

    def begin(self) -> None:
        """Note that a request to a model goes on."""
        with self.changed:
            self.pending += 1

    def end(self, exchange: Exchange) -> None:
        """Keep a request that has ended."""
        with self.changed:
            self.pending -= 1
            self._kept += len(exchange.sent) + len(exchange.received)
            if self._kept <= _MOST_BYTES:
                self.exchanges.append(exchange)
            else:
                self.lose(f"its requests to the model have more than {_MOST_BYTES >> 20} MiB")
            self.changed.notify_all()

    def lose(self, why: str) -> None:
        """Note that something was not kept, so that the observation is not whole."""
        with self.changed:
            if len(self.lost) < 20 and why not in self.lost:
                self.lost.append(why)
            self.changed.notify_all()
