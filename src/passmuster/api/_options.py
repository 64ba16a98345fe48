"""How a suite is run, as every front end says it."""

from __future__ import annotations

import datetime

from msgspec import Struct

from passmuster.scoring import JudgeMode, Settings


class Destination(Struct, frozen=True):
    """A report format, and the path that the report goes to; `-` is standard output."""

    format: str
    path: str


class RunOptions(Struct, frozen=True, kw_only=True):
    """The options of a run. What is left out is as on the command line."""

    traces: tuple[str, ...] = ()
    """Files, folders, globs, `-` for standard input; if empty, those that the suite names."""
    trace_format: str | None = None
    """The format of all traces, golden ones included; None to detect it."""
    reports: tuple[Destination, ...] = ()
    """If empty, those that the suite names."""
    baseline: str | None = None
    only: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    judge: JudgeMode = "live"
    agent_version: str | None = None
    strict: bool = False
    skip_bad_lines: bool = False
    root: str | None = None
    plugins: bool = True
    workers: int | None = None
    """None: one process for small input, one per CPU for large."""
    today: datetime.date | None = None
    """The day that waivers and calibrations are compared with; None: today, UTC."""

    @property
    def settings(self) -> Settings:
        """Those that can change the verdict."""
        return Settings(
            today=self.today or datetime.datetime.now(datetime.UTC).date(),
            strict=self.strict,
            only=self.only,
            tags=self.tags,
            skip_bad_lines=self.skip_bad_lines,
            trace_format=self.trace_format,
            judge=self.judge,
            agent_version=self.agent_version,
        )
