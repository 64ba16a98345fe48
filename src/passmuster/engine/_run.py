"""A run: traces in, one report out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import perf_counter_ns
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from passmuster._problems import Problem, TraceError, UsageError
from passmuster.checks import Golden
from passmuster.engine._evaluation import evaluator
from passmuster.engine._execution import ONE_PROCESS, Execution
from passmuster.engine._judge_questions import needs_one_process, with_calibration
from passmuster.engine._parts import LARGEST_PART, Part, cut
from passmuster.engine._plan import Job, Plan
from passmuster.engine._prices import with_prices
from passmuster.engine._progress import OnProgress, Progress
from passmuster.engine._select import select
from passmuster.engine.executors import executor
from passmuster.scoring import Report, Settings, Tally, baseline_of, conclude, scenario_runs
from passmuster.suite import Suite
from passmuster.traces import BadLines, Source, Trace, lines_of, read_source, unchanged

if TYPE_CHECKING:
    from passmuster.scoring import Baseline, PolicyChanges, Pool
    from passmuster.traces import PartLines


class Counted(Struct, frozen=True):
    """What two suites say differently about traces."""

    changes: PolicyChanges
    read: int
    bad_lines: int
    part_lines: PartLines


def evaluate_traces(
    suite: Suite, traces: Iterable[Trace], settings: Settings, baseline: Baseline | Sequence[Source] = ()
) -> Report:
    """The verdict of a suite on traces at hand."""
    started = perf_counter_ns()
    job, recorded = prepared(suite, settings, baseline)
    with evaluator(job, Progress()) as evaluate:
        for trace in traces:
            evaluate.trace(evaluate.unwrap(trace, []) if trace.wrapped else trace)
    return conclude_run(job.suite, evaluate.tally, job.settings, started, recorded)


def evaluate_sources(
    suite: Suite,
    sources: Sequence[Source],
    settings: Settings,
    *,
    execution: Execution = ONE_PROCESS,
    plugins: bool = True,
    baseline: Baseline | Sequence[Source] = (),
    pool: Pool | None = None,
    on_progress: OnProgress | None = None,
) -> Report:
    """The verdict of a suite on trace files, the same for any number of workers.

    `baseline` is a recorded run, or golden traces, which only path and cost are compared with.
    """
    started = perf_counter_ns()
    job, recorded = prepared(suite, settings, baseline, plugins=plugins)
    tally = tally_sources(job, sources, execution, on_progress)
    return conclude_run(job.suite, tally, job.settings, started, recorded, pool)


def tally_sources(job: Job, sources: Sequence[Source], execution: Execution, on_progress: OnProgress | None) -> Tally:
    """What a job counts in trace files."""
    alone = needs_one_process(job.suite, job.settings)
    workers, name = (1, "inline") if alone else (execution.workers, execution.executor)
    if execution.executor == "ray" and (alone or (job.suite.may_ask and job.settings.judge != "off")):
        workers, name = 1, "inline"
        execution.tell("judges are asked by this process, so that Ray is not used")
    progress = Progress(sources, on_progress)

    def run(job: Job, parts: Sequence[Part]) -> Tally:
        with unchanged(sources):
            several = "processes" if min(workers, len(parts)) > 1 else "inline"
            return executor(name or several).execute(job, parts, execution, progress)

    # With files or a cluster, parts must not depend on the workers: another run may have more of them.
    part_bytes = LARGEST_PART if execution.files or name == "ray" else None
    parts = cut(sources, workers, part_bytes)
    if not execution.files:
        return run(job, parts)
    from passmuster.engine._part_files import tally_with_files  # late, for few runs write them

    return tally_with_files(replace(job, files=execution.files), parts, run, execution.tell)


def prepared(
    suite: Suite, settings: Settings, baseline: Baseline | Sequence[Source], *, plugins: bool = True
) -> tuple[Job, Baseline | None]:
    """The job, and the recorded run that its report is compared with."""
    suite = select(suite, settings.only, settings.tags)
    settings = with_prices(suite, with_calibration(suite, settings))
    if not isinstance(baseline, Sequence):
        return Job(suite, settings, baseline.golden(), plugins), baseline
    golden = golden_in(suite, baseline, settings)
    if baseline and not golden:
        raise UsageError(Problem("no trace of the baseline belongs to a scenario of the suite", suite.file))
    return Job(suite, settings, golden, plugins), None


def golden_in(suite: Suite, sources: Sequence[Source], settings: Settings) -> dict[str, Golden]:
    """What recorded runs did, per scenario."""
    if not sources:
        return {}
    plan = Plan(suite, settings.today)
    accept = settings.accept_loss
    with unchanged(sources):
        return plan.golden(trace for one in sources for trace in read_source(one, BadLines(one, False, accept)))


def policy_changes(
    before: Suite,
    after: Suite,
    sources: Sequence[Source],
    settings: Settings,
    *,
    execution: Execution = ONE_PROCESS,
    plugins: bool = True,
    on_progress: OnProgress | None = None,
) -> Counted:
    """What changes between the verdicts of two suites, each trace read once. Judges are not asked."""
    job = Job(after, with_prices(after, settings), plugins=plugins, before=before)
    tally = tally_sources(job, sources, execution, on_progress)
    _refuse_nothing(tally)
    assert tally.changes is not None
    return Counted(tally.changes, tally.read, tally.bad_lines, tally.part_lines())


def scenarios_of(suite: Suite, traces: Sequence[Trace], settings: Settings) -> list[str]:
    """The scenarios that traces belong to, in the order of the suite."""
    found = Plan(suite, settings.today).golden(traces)
    return [scenario.id for scenario in suite.scenarios if scenario.id in found]


def conclude_run(
    suite: Suite,
    tally: Tally,
    settings: Settings,
    started: int,
    baseline: Baseline | None = None,
    pool: Pool | None = None,
) -> Report:
    """The report on what was counted. Raises `TraceError` if there was no trace at all."""
    _refuse_nothing(tally)
    report = conclude(suite, tally, settings, lines_of(tally.spots(), tally.part_lines()), baseline, pool)
    return replace(report, duration_ms=round((perf_counter_ns() - started) / 1e6, 3))


def _refuse_nothing(tally: Tally) -> None:
    """Raise where there is no trace."""
    if not tally.read and tally.left_out.total:
        raise UsageError(Problem(tally.left_out.why_nothing()))
    if not tally.read and tally.losses.counts:
        raise TraceError([Problem(one.found, one.spot.file) for one in tally.losses.counts])
    if not tally.read:
        lines = f": all {tally.bad_lines} lines of the input are bad" if tally.bad_lines else ""
        raise TraceError(Problem(f"no trace found{lines}, so there is nothing to evaluate"))


def record(
    suite: Suite,
    sources: Sequence[Source],
    settings: Settings,
    *,
    day: str | None = None,
    execution: Execution = ONE_PROCESS,
    plugins: bool = True,
    on_progress: OnProgress | None = None,
) -> tuple[Baseline, Report]:
    """A run of the whole suite as a baseline, and its report.

    The runs are their own reference for path and cost, so the same traces compared with this baseline later give the
    same outcomes.
    """
    started = perf_counter_ns()
    settings = with_prices(suite, with_calibration(suite, settings))
    golden = golden_in(suite, sources, settings) if suite.scenarios else {}
    golden = {id_: replace(one, sequences=tuple(sorted(one.sequences))) for id_, one in golden.items()}
    tally = tally_sources(Job(suite, settings, golden, plugins), sources, execution, on_progress)
    report = conclude_run(suite, tally, settings, started)
    return baseline_of(suite, scenario_runs(suite, suite.scenarios, tally), report, golden, day=day), report
