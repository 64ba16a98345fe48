"""The runs that are being observed, by their ids and by what tells their messages apart."""

from __future__ import annotations

import threading
from collections import deque

from passmuster.agents.capture._observed_run import ObservedRun

_MOST_REMEMBERED = 1_000


class OpenRuns:
    """Runs from when they are first asked for until they are collected."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.unclaimed = 0
        """How many spans and log records have arrived that belong to no run."""
        self._by_id: dict[str, ObservedRun] = {}
        self._by_key: dict[str, ObservedRun] = {}
        self._by_trace: dict[str, ObservedRun] = {}
        self._over: deque[str] = deque(maxlen=_MOST_REMEMBERED)

    def open(self, run_id: str, name: str = "") -> ObservedRun:
        """The run of this id, which is observed from now on, and what it is called on tapes."""
        with self._lock:
            run = self._by_id.get(run_id)
            if run is None:
                run = ObservedRun(run_id)
                self._by_id[run_id] = self._by_key[run.key] = self._by_trace[run.trace_id] = run
            run.name = name or run.name or run_id
            return run

    def close(self, run: ObservedRun) -> None:
        """Take nothing more for a run."""
        with self._lock:
            self._by_id.pop(run.run_id, None)
            self._by_key.pop(run.key, None)
            self._by_trace.pop(run.trace_id, None)
            self._over.append(run.trace_id)

    def all(self) -> list[ObservedRun]:
        with self._lock:
            return list(self._by_id.values())

    def by_key(self, key: object) -> ObservedRun | None:
        return self._by_key.get(key) if isinstance(key, str) else None

    def is_over(self, trace_id: str) -> bool:
        """Whether this is the trace of a run that was collected lately."""
        return trace_id in self._over

    def by_trace(self, trace_id: str) -> ObservedRun | None:
        return self._by_trace.get(trace_id)
