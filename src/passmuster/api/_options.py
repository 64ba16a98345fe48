"""How a suite is run, as every front end says it."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence

from msgspec import Struct

from passmuster._problems import Problem, UsageError
from passmuster.engine import Execution, PartFiles, ViolationFormat, worker_count
from passmuster.scoring import JudgeMode, Settings
from passmuster.traces import Source


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
    accept_loss: bool = False
    sample: str | None = None
    """The share of the traces to evaluate, such as `1%`; None: all."""
    since: str | None = None
    """A day or a time as in RFC 3339: only traces that began then or later."""
    until: str | None = None
    """Only traces that began before that time, or on that day at the latest."""
    group_by: tuple[str, ...] = ()
    """Keys that the report groups the traces by."""
    violations: str | None = None
    """The folder that all violations are written to, one file for each part of the input."""
    violations_format: ViolationFormat = "jsonl"
    checkpoint: str | None = None
    """The folder that keeps what is finished, for the next run to go on from."""
    root: str | None = None
    plugins: bool = True
    history: str | None = None
    """The file of the history; None: `.passmuster/history.db` under the root."""
    workers: int | None = None
    """None: one process for small input, one per CPU for large; with Ray as many as the cluster has CPUs."""
    executor: str | None = None
    """`inline`, `processes` or `ray`; None: this process or several, by the number of workers."""
    ray_address: str | None = None
    """The Ray cluster to use; None: one that is started for this run."""
    today: datetime.date | None = None
    """The day that waivers and calibrations are compared with; None: today, UTC."""

    def execution(self, sources: Sequence[Source], tell: Callable[[str], None]) -> Execution:
        """How a run over these files is carried out; `tell` is told what the user should know."""
        if self.ray_address is not None and self.executor != "ray":
            raise UsageError(Problem("--ray-address is for --executor ray"))
        if self.executor == "inline" and (self.workers or 1) > 1:
            raise UsageError(Problem("--executor inline has one worker only"))
        workers = self.workers or 0 if self.executor == "ray" else worker_count(self.workers, sources)
        return Execution(
            workers=1 if self.executor == "inline" else workers,
            executor=self.executor,
            ray_address=self.ray_address,
            files=PartFiles(self.checkpoint, self.violations, self.violations_format),
            tell=tell,
        )

    @property
    def settings(self) -> Settings:
        """Those that can change the verdict. Raises `UsageError` for what cannot be understood."""
        since, until = _moment("--since", self.since), _moment("--until", self.until, end=True)
        if since and until and since >= until:
            raise UsageError(Problem(f"--since {self.since} is not before --until {self.until}"))
        return Settings(
            today=self.today or datetime.datetime.now(datetime.UTC).date(),
            strict=self.strict,
            only=self.only,
            tags=self.tags,
            skip_bad_lines=self.skip_bad_lines,
            accept_loss=self.accept_loss,
            trace_format=self.trace_format,
            judge=self.judge,
            agent_version=self.agent_version,
            sample=_sample(self.sample),
            since=since,
            until=until,
            group_by=_group_keys(self.group_by),
        )


def _group_keys(keys: tuple[str, ...]) -> tuple[str, ...]:
    if not keys:
        return ()
    from passmuster.scoring import check_group_keys  # late, for few runs group their traces

    return check_group_keys(keys)


def _sample(text: str | None) -> float | None:
    if text is None:
        return None
    from passmuster.suite import share  # late, for few runs draw a sample

    try:
        found = share(text)
    except ValueError as error:
        raise UsageError(Problem(f"--sample: {error}")) from None
    if not found:
        raise UsageError(Problem(f"--sample: expected a share above 0%, found '{text}'"))
    return found


def _moment(option: str, text: str | None, *, end: bool = False) -> datetime.datetime | None:
    """The time that an option states, in UTC unless it says otherwise; of a day its beginning, or its `end`."""
    if text is None:
        return None
    try:
        if len(text) == len("2026-01-31"):
            day = datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.UTC)
            return day + datetime.timedelta(days=1) if end else day
        found = datetime.datetime.fromisoformat(text)
        return found if found.tzinfo else found.replace(tzinfo=datetime.UTC)
    except (ValueError, OverflowError):
        example = "2026-01-31 or 2026-01-31T08:00:00Z"
        raise UsageError(Problem(f"{option}: expected a day or a time such as {example}, found '{text}'")) from None
