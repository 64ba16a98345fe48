"""Which runs of a live run were skipped, because the verdict was known without them."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class SettledLine(Struct, frozen=True):
    """A line of the gate that a confidence sequence settled before all runs had taken place."""

    kind: str
    id: str
    expected: str
    """The bound, as the line has it."""
    status: Literal["pass", "fail"]
    runs: int
    """How many runs it was settled after, of `of`."""
    of: int
    chance: float
    """At most so likely would all runs have settled it otherwise."""


class EarlyStop(Struct, frozen=True, kw_only=True):
    """How a live run chose which runs take place, which it skipped, why, and what that saved."""

    rule: str
    """`off`, `repeats`, `certain`, or the chance of another verdict that was accepted, such as `1%`."""
    seed: int
    """Of the random order of the runs."""
    planned: int
    skipped: dict[str, int] = {}
    """How many runs of each scenario did not take place."""
    reason: str | None = None
    """Why they were not needed."""
    settled: tuple[SettledLine, ...] = ()
    """What is not certain, but settled to within the chance that was accepted."""
    saved_usd: float | None = None
    """What the skipped runs would have cost, by the mean of the others; None where some cost is unknown."""
    saved_ms: float | None = None
    """How long they would have taken, one after the other, by the mean of the others."""

    @property
    def not_run(self) -> int:
        """How many runs were skipped."""
        return sum(self.skipped.values())
