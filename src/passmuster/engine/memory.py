"""How a process that judges much input holds its memory."""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Iterator
from functools import cache

__all__ = ["keep_freed_memory", "rare_collections"]

_OBJECTS = 100_000
"""New objects between two looks for reference cycles."""
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_MOST_KEPT, _LARGEST_KEPT = 256 << 20, 32 << 20


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
