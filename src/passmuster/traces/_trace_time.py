"""When a trace began."""

from __future__ import annotations

import datetime
import math

from passmuster.traces._model import Moment, Trace

_UNITS = ((1e11, 1.0), (1e14, 1e3), (1e17, 1e6), (math.inf, 1e9))
"""A number up to each bound is a time in seconds, milliseconds, microseconds or nanoseconds."""


def trace_time(trace: Trace) -> float | None:
    """When it began, in seconds since 1970: as it states, else as its first timed step does; None if neither does."""
    if trace.started_at is not None:
        return _seconds(trace.started_at)
    for step in trace.steps:
        if (moment := getattr(step, "started_at", None)) is not None:
            return _seconds(moment)
    return None


def trace_day(trace: Trace) -> str | None:
    """The day on which it began, in UTC."""
    seconds = trace_time(trace)
    if seconds is None or not 0 <= seconds < 253_402_300_800:  # the year 10000
        return None
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).date().isoformat()


def _seconds(moment: Moment) -> float | None:
    if isinstance(moment, str):
        try:
            found = datetime.datetime.fromisoformat(moment)
            return (found if found.tzinfo else found.replace(tzinfo=datetime.UTC)).timestamp()
        except (ValueError, OverflowError):
            return None
    if not 0 < moment < math.inf:
        return None
    return moment / next(unit for bound, unit in _UNITS if moment < bound)
