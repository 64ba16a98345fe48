"""How far a run has come: bytes evaluated, and questions to judges answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from passmuster.engine._parts import Part
from passmuster.traces import Source

Stage = Literal["evaluating", "asking judges"]
OnProgress = Callable[[Stage, int, int], None]
"""Called now and then with what is going on, how much of it is done, and how much there is."""


class Progress:
    """Adds up what executors report per part; without a listener it does nothing."""

    def __init__(self, sources: Sequence[Source] = (), listener: OnProgress | None = None) -> None:
        self._listener = listener
        self._total = sum(source.size for source in sources) if listener else 0
        self._done: dict[Part, int] = {}
        self._sum = 0

    def evaluated(self, part: Part, size: int) -> None:
        """So many bytes of a part are evaluated."""
        if self._listener:
            done = min(size, part.size)  # a gzip file unpacks to more than it is
            self._sum += done - self._done.get(part, 0)
            self._done[part] = done
            self._listener("evaluating", self._sum, self._total)

    def asked(self, done: int, total: int) -> None:
        """So many questions of a batch are answered."""
        if self._listener:
            self._listener("asking judges", done, total)
