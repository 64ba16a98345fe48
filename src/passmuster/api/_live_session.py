"""Running a suite's agent: everything is checked first, and every finished run is on disk before the next counts."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import os
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePath

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from passmuster._atomic_write import PRIVATE_FOLDER, make_private_folder
from passmuster._problems import OutsideError, Problem, UsageError, plural
from passmuster.agents import (
    Budget,
    CaptureServer,
    FinishedRun,
    LiveAgent,
    LivePlan,
    PlannedRun,
    RunsFile,
    agent_of,
    check_agent,
    planned_runs,
    random_order,
    run_agent,
    runs_file,
)
from passmuster.engine import NeededRuns, price_list
from passmuster.scoring import CAPTURE, EarlyStop, LiveNote, LiveRuns
from passmuster.suite import Suite
from passmuster.traces import PriceList, Trace, total_cost_usd


class LiveOptions(Struct, frozen=True, kw_only=True):
    """How an agent is run."""

    resume: bool = False
    """Go on with the runs of an interrupted session."""
    max_cost_usd: float | None = None
    stop_early: str | None = None
    """When runs are skipped: `off`, `certain`, or a chance such as `1%`; None: repeats, once the verdict is certain."""


class LiveProgress(Struct, frozen=True):
    """How far a session has come."""

    done: int
    total: int
    failed: int
    """Runs that failed, as far as that is known without a judge; when recording, those with an error."""
    spent_usd: float | None


OnLive = Callable[[LiveProgress], None]


class LiveSession(Struct, frozen=True):
    """A session that has ended."""

    suite: Suite
    """Scenarios that the money was not enough for are left out."""
    plan: Sequence[PlannedRun]
    runs: RunsFile
    live: LiveRuns
    early_stop: EarlyStop | None = None
    """Which runs were skipped, and why; None where all of them were asked for."""


class Ready(Struct, frozen=True):
    """A suite whose agent can be run, as far as one can tell without running it."""

    suite: Suite
    agent: LiveAgent
    plan: Sequence[PlannedRun]


def ready(suite: Suite, options: LiveOptions) -> Ready:
    """Raises `InputError` with what keeps the agent from being run; nothing is spent yet."""
    agent = agent_of(suite)
    if agent is None:
        message = "the suite does not say how to run its agent: 'agent:' needs one of python, command, http"
        raise UsageError(Problem(message, suite.file, suite.agent.line or None))
    if options.max_cost_usd is not None and not options.max_cost_usd > 0:
        raise UsageError(Problem(f"--max-cost-usd: expected more than 0, found {options.max_cost_usd:g}"))
    plan = planned_runs(suite, agent)
    check_agent(agent)
    return Ready(suite, agent, plan)


RunsNeeded = Callable[[Sequence[PlannedRun], int], NeededRuns]
"""Tells which runs are needed, from the order in which they take place and its seed."""


@contextlib.contextmanager
def live_session(
    ready: Ready, options: LiveOptions, on_live: OnLive | None = None, needed: RunsNeeded | None = None
) -> Iterator[LiveSession]:
    """Run the agent in a random order of runs; what came of it can be read until the context ends."""
    suite, plan = ready.suite, ready.plan
    new = uuid.uuid4()
    identity = LivePlan(suite=suite.file, sha256=_sha256(suite), session=new.hex, seed=new.time_low)
    prices = price_list(suite, datetime.datetime.now(datetime.UTC).date())
    budget = Budget(options.max_cost_usd, prices)
    with contextlib.ExitStack() as stack:
        with CaptureServer(ready.agent.capture, suite.folder, os.environ, options.resume) as capture:
            runs = stack.enter_context(runs_file(_folder(suite), identity, resume=options.resume))
            seed = runs.plan.seed or 0
            order = random_order(plan, seed)
            left = [one for one in order if one.name not in runs.done]
            stop = needed(order, seed) if needed else None
            if stop is not None:
                _tell_earlier(stop, order, runs)
            tracker = _Tracker(len(plan), len(plan) - len(left), budget, on_live, stop)

            def finished(run: FinishedRun) -> None:
                runs.add(run)
                tracker.add(run)

            try:
                end = run_agent(
                    ready.agent, left, capture, finished, session=runs.plan.session, budget=budget, stop=stop
                )
            except KeyboardInterrupt as interrupt:
                interrupt.add_note(f"{len(runs.done)} of {plural(len(plan), 'run')} are finished; go on with --resume.")
                raise
        runs.sort(plan)
        ran = {one.scenario for one in plan if one.name in runs.done}
        if end.out_of_budget:
            kept = tuple(replace(one, selected=one.selected and one.id in ran) for one in suite.scenarios)
            suite = replace(suite, scenarios=kept)
        early_stop = stop.early_stop() if stop else None
        yield LiveSession(suite, plan, runs, _live_runs(len(plan), runs, end.out_of_budget, prices), early_stop)


def _tell_earlier(stop: NeededRuns, order: Sequence[PlannedRun], runs: RunsFile) -> None:
    """Count the runs of the session that is gone on with."""
    planned = {one.name: one for one in order}
    for trace in runs.traces():
        if one := planned.get(f"{trace.scenario}/{trace.run}"):
            stop.finished(FinishedRun(one, trace))


class _Tracker:
    """Tells how far a session has come."""

    def __init__(
        self, total: int, done: int, budget: Budget, on_live: OnLive | None, needed: NeededRuns | None
    ) -> None:
        self._needed = needed
        self._total, self._done, self._failed = total, done, 0
        self._budget, self._on_live = budget, on_live
        self._tell()

    def add(self, run: FinishedRun) -> None:
        if self._on_live:
            self._done += 1
            self._failed += self._needed.fails(run) if self._needed else run.trace.error is not None
            self._tell()

    def _tell(self) -> None:
        if self._on_live:
            spent = self._budget.spent if self._budget.known else None
            self._on_live(LiveProgress(self._done, self._total, self._failed, spent))


class _Live(Struct):
    warnings: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)


class _Metadata(Struct):
    live: _Live = field(default_factory=_Live)


def _live_runs(planned: int, runs: RunsFile, out_of_budget: str | None, prices: PriceList | None) -> LiveRuns:
    """What is known of the runs in a file, those of an earlier session included."""
    finished = failed = 0
    spent: float | None = None
    notes: list[LiveNote] = []
    told: dict[str, int] = {}
    for trace in runs.traces():
        finished += 1
        failed += trace.error is not None
        cost = total_cost_usd(prices(trace) if prices else trace)
        spent = spent if cost is None else (spent or 0.0) + cost
        said = _said(trace)
        notes += [LiveNote(f"{trace.scenario}/{trace.run}", warning) for warning in said.warnings]
        for notice in dict.fromkeys(said.notices):
            told[notice] = told.get(notice, 0) + 1
    for notice, times in sorted(told.items()):
        notes.append(LiveNote(CAPTURE, f"{notice} (on {plural(times, 'run')})", False))
    return LiveRuns(
        planned=planned,
        finished=finished,
        failed=failed,
        spent_usd=spent,
        notes=tuple(notes),
        out_of_budget=out_of_budget,
    )


def _said(trace: Trace) -> _Live:
    if not trace.metadata_json:
        return _Live()
    try:
        return msgspec.json.decode(trace.metadata_json, type=_Metadata).live
    except msgspec.MsgspecError:  # somebody else's
        return _Live()


def _sha256(suite: Suite) -> str:
    """Of the suite and everything that it names."""
    digest = hashlib.sha256()
    for path, content in sorted(suite.documents.items()):
        digest.update(f"{path}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
        digest.update(content)
    return digest.hexdigest()


def _folder(suite: Suite) -> Path:
    """Where the runs of a suite are kept: in a folder of its own, which git does not see."""
    own = suite.root / PRIVATE_FOLDER
    named = PurePath(suite.file)
    if named.is_absolute() or ".." in named.parts:
        named = PurePath(hashlib.sha256(str(suite.path).encode("utf-8", "surrogateescape")).hexdigest()[:16])
    folder = own / "live" / named
    if not Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(suite.root)):
        message = f"a link leads out of the root ({suite.root}); replace it by a folder, or widen --root"
        raise UsageError(Problem(message, str(folder)))
    try:
        make_private_folder(own)
    except OSError as error:
        raise OutsideError(Problem(f"cannot write the runs: {error.strerror or error}", str(own))) from error
    return folder
