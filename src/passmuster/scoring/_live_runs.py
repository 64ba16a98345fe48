"""How traces came about where the agent was run for the verdict, and the gate lines about it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from passmuster._problems import plural
from passmuster.scoring._report import GateLine, LiveSummary

CAPTURE = "capture"
"""The id of notes on what was observed of the runs."""


class LiveNote(Struct, frozen=True, order=True):
    """Something to know about runs: a warning, or only for the record."""

    id: str
    """The run, or what the note is about."""
    message: str
    warns: bool = True


class LiveRuns(Struct, frozen=True, kw_only=True):
    """The runs of an agent that a verdict rests on."""

    planned: int
    finished: int
    failed: int = 0
    """Runs in which the agent, or something outside it, failed."""
    spent_usd: float | None = None
    """None where no run tells its cost."""
    notes: tuple[LiveNote, ...] = ()
    out_of_budget: str | None = None
    """Why the rest of the runs did not take place."""

    @property
    def summary(self) -> LiveSummary:
        """The figures, as a report has them."""
        return LiveSummary(self.planned, self.finished, self.spent_usd)


def live_lines(live: LiveRuns | None) -> Iterator[GateLine]:
    """A line for each note, and one that blocks where runs are missing because of their cost."""
    if live is None:
        return
    if live.out_of_budget:
        left = live.planned - live.finished
        message = f"{plural(left, 'run')} of {live.planned} did not take place: {live.out_of_budget}"
        yield GateLine("error", "max_cost_usd", "blocking", "error", message, live.finished, live.planned)
    for note in live.notes:
        yield GateLine("input", note.id, "warning", "fail" if note.warns else "pass", note.message)
