"""Which traces a run is asked to evaluate: a stable sample of them, those of a time, or all."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

from passmuster.scoring import LeftOut, Settings
from passmuster.traces import Trace, native_line, trace_time

_BYTES = 8


def trace_filter(settings: Settings) -> Callable[[Trace, LeftOut], bool] | None:
    """Tells whether a trace is to be evaluated, and counts it if not; None where all are.

    Which traces are in a sample depends on each trace alone: on its id, else on its content.
    """
    if not settings.some_traces:
        return None
    since = settings.since.timestamp() if settings.since else float("-inf")
    until = settings.until.timestamp() if settings.until else float("inf")
    timed = settings.since is not None or settings.until is not None
    below = None if settings.sample is None else round(settings.sample * 256**_BYTES)

    def is_wanted(trace: Trace, left_out: LeftOut) -> bool:
        if timed:
            began = trace_time(trace)
            if began is None:
                left_out.untimed += 1
                return False
            left_out.began(began)
            if not since <= began < until:
                left_out.outside += 1
                return False
        if below is not None and _draw(trace) >= below:
            left_out.unsampled += 1
            return False
        return True

    return is_wanted


def _draw(trace: Trace) -> int:
    """A number below 256 to the power of `_BYTES`, the same for a trace whenever and wherever it is read."""
    if trace.trace_id is not None:
        told = trace.trace_id.encode("utf-8", "surrogatepass")
    else:
        try:
            told = native_line(trace)
        except (ValueError, TypeError, OverflowError, RecursionError):  # what this encoder refuses
            told = repr(trace.steps).encode("utf-8", "backslashreplace")
    return int.from_bytes(blake2b(told, digest_size=_BYTES).digest(), "big")
