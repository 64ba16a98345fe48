"""What a run is asked, besides the suite, that can change its verdict."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

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
    trace_format: str | None = None
    """The format that all traces have to be read as; None where it is detected."""
    baseline: str | None = None
    judge: JudgeMode = "live"
    agent_version: str | None = None
    uncalibrated: str | None = None
    """Why judges can only warn, where the suite wants them calibrated and they are not."""
    uncalibrated_at: int | None = None
    """The line that wants it."""

    @property
    def partial(self) -> bool:
        return bool(self.only or self.tags)


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
