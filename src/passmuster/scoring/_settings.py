"""What a run is asked, besides the suite, that can change its verdict."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from passmuster.scoring._early_stop import EarlyStop
from passmuster.scoring._live_runs import LiveRuns

if TYPE_CHECKING:
    from passmuster.scoring._tally import Tally
    from passmuster.suite import Suite

JudgeMode = Literal["live", "cached", "off"]
"""Whether judges are asked, only remembered, or left out."""


class Settings(Struct, frozen=True, kw_only=True):
    """The options of a run that can change its verdict."""

    today: datetime.date
    strict: bool = False
    only: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    skip_bad_lines: bool = False
    accept_loss: bool = False
    trace_format: str | None = None
    """The format that all traces have to be read as; None where it is detected."""
    baseline: str | None = None
    judge: JudgeMode = "live"
    prices: str | None = None
    """The price list that the suite names and its version."""
    agent_version: str | None = None
    sample: float | None = None
    """The share of the traces that is evaluated; None: all."""
    since: datetime.datetime | None = None
    """Only traces that began at this time or later."""
    until: datetime.datetime | None = None
    """Only traces that began before this time."""
    group_by: tuple[str, ...] = ()
    uncalibrated: str | None = None
    """Why judges can only warn, where the suite wants them calibrated and they are not."""
    uncalibrated_at: int | None = None
    """The line that wants it."""
    live: LiveRuns | None = None
    """Where the agent was run for this verdict."""
    early_stop: EarlyStop | None = None
    """Of a live run: which runs it skipped, and why."""

    @property
    def skipped_runs(self) -> dict[str, int]:
        """How many runs of each scenario did not take place, because the verdict was known without them."""
        return self.early_stop.skipped if self.early_stop else {}

    @property
    def partial(self) -> bool:
        """Whether some scenarios were not asked to run, or could not be afforded."""
        return bool(self.only or self.tags or self.some_traces or (self.live and self.live.out_of_budget))

    @property
    def some_traces(self) -> bool:
        """Whether some traces may be left out: a scenario without one was then not asked to run."""
        return self.sample is not None or self.since is not None or self.until is not None


def agent_version(suite: Suite, tally: Tally, settings: Settings) -> tuple[str, str] | None:
    """The version and where it was said; None where nobody says it, or the traces do not agree on one."""
    if settings.agent_version is not None:
        return settings.agent_version, "from --agent-version"
    if suite.agent.version is not None:
        return suite.agent.version, "from the suite"
    versions = versions_in(tally)
    return (versions[0], "from the traces") if len(versions) == 1 else None


def versions_in(tally: Tally) -> list[str]:
    """The versions that the traces tell."""
    return sorted(tally.figures.versions) if tally.figures else []
