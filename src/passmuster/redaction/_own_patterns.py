"""The patterns that a suite adds, searched within a limit: a report must not take hours because one backtracks.

A text on which a pattern runs out of time is hidden whole. A pattern that has used up its time in this process is not
tried again: from then on, every text is hidden whole.
"""

from __future__ import annotations

from functools import lru_cache
from time import perf_counter
from typing import Any

from passmuster.redaction._token_shapes import Span

_FIRST, _LATER = 0.5, 0.05
"""Seconds for a search, before and after the first one that ran out of time."""
_BUDGET = 3.0
_SLOW = 0.005
"""Searches that take longer count against the budget."""


class OwnPattern:
    """One pattern, and how long it has taken so far."""

    def __init__(self, pattern: str) -> None:
        import regex  # late, for most suites have no pattern

        self._search: Any = regex.compile(pattern)
        self._timeout = _FIRST
        self._spent = 0.0

    @property
    def gave_up(self) -> bool:
        """Whether it is no longer tried."""
        return self._spent >= _BUDGET

    def spans(self, text: str) -> list[Span]:
        """Where it matches; the whole text where that could not be found out in time."""
        if self.gave_up:
            return [(0, len(text))]
        started = perf_counter()
        try:
            return [found.span() for found in self._search.finditer(text, timeout=self._timeout) if found.group()]
        except TimeoutError:
            self._timeout = _LATER
            return [(0, len(text))]
        finally:
            taken = perf_counter() - started
            if taken > _SLOW:
                self._spent += taken


@lru_cache(maxsize=256)
def own_pattern(pattern: str) -> OwnPattern:
    """The pattern, compiled once in a process: its time is counted over all that is redacted."""
    return OwnPattern(pattern)
