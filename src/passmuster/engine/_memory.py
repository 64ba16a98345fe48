"""How a process that judges much input holds its memory."""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Iterator
from functools import cache

from passmuster.traces import Trace

__all__ = ["Reserve", "keep_freed_memory", "rare_collections"]

_OBJECTS = 100_000
"""New objects between two looks for reference cycles."""
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_MOST_KEPT, _LARGEST_KEPT = 256 << 20, 32 << 20
_LONG, _STRIDE = 2_000, 8
_QUARTER = 18
"""Bits of an address within a quarter of an arena."""
_MOST_HELD = 512
"""Quarters: 128 MB."""


@contextlib.contextmanager
def rare_collections() -> Iterator[None]:
    """Let the collector of reference cycles look seldom: traces have none, and a long one holds many objects."""
    before = gc.get_threshold()
    gc.set_threshold(_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@cache
def keep_freed_memory() -> None:
    """Have glibc keep what is freed for the next trace.

    It would hand the memory of each long line back to the system and ask for it again: page by page that costs as much
    as reading the line. Other systems and C libraries are left as they are.
    """
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            adjust = ctypes.CDLL(None).mallopt
            adjust(_M_TRIM_THRESHOLD, _MOST_KEPT)
            adjust(_M_MMAP_THRESHOLD, _LARGEST_KEPT)


class Reserve:
    """Keeps the interpreter's own memory of long traces for the next one.

    Small objects live in arenas of a mebibyte. One that is wholly free goes back to the system, and the next long trace
    faults it in again, page by page, which takes a quarter of the time of judging it. An arena in which a single object
    stays is kept, so one call's arguments stay in every quarter of a mebibyte that a long trace has filled.
    """

    def __init__(self) -> None:
        self._held: dict[int, object] = {}

    def keep(self, trace: Trace) -> None:
        """Remember where a trace lies, if it is a long one."""
        calls = trace.tool_calls
        if len(calls) < _LONG or len(self._held) >= _MOST_HELD:
            return
        for call in calls[::_STRIDE]:
            self._held.setdefault(id(call.arguments) >> _QUARTER, call.arguments)
