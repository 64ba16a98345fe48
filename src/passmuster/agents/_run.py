"""The values of a live run: what is planned, what an agent gave back, and what came of it."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from passmuster.traces import Trace


class PlannedRun(Struct, frozen=True):
    """One run of one scenario."""

    scenario: str
    run: int
    """Which repetition this is, from 1."""
    turns: tuple[str, ...]
    """What the user says; most scenarios have one turn."""

    @property
    def name(self) -> str:
        """How messages and traces call it."""
        return f"{self.scenario}/{self.run}"


class FinishedRun(Struct, frozen=True):
    """A run that took place, however it ended."""

    planned: PlannedRun
    trace: Trace
    """With scenario and run set."""
    warnings: tuple[str, ...] = ()
    """What went wrong outside the agent before the run could be repeated."""


class StopRule(Protocol):
    """Decides which runs are still needed. Called in one thread."""

    def finished(self, run: FinishedRun) -> None:
        """Take note of what a run came to."""

    def needless(self, run: PlannedRun) -> str | None:
        """Why this run need not take place any more; None where it has to."""
