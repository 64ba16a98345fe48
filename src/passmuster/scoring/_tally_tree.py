"""Many tallies merged as a tree: each with others of its size, so that none is copied more than log n times."""

from __future__ import annotations

from passmuster.scoring._tally import Tally


class TallyTree:
    """Takes in tallies one by one; holds at most one for each power of two."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, Tally]] = []

    def add(self, tally: Tally) -> None:
        """Take in a tally, which is not to be used any more."""
        height = 0
        while self._waiting and self._waiting[-1][0] == height:
            other = self._waiting.pop()[1]
            other.merge(tally)
            tally, height = other, height + 1
        self._waiting.append((height, tally))

    def total(self) -> Tally | None:
        """One tally of all; None where there was none."""
        while len(self._waiting) > 1:
            _, last = self._waiting.pop()
            self._waiting[-1][1].merge(last)
        return self._waiting[0][1] if self._waiting else None
