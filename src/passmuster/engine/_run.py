"""A run: traces in, one report out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import perf_counter_ns
from typing import TYPE_CHECKING

from msgspec.structs import replace

from passmuster._problems import Problem, TraceError, UsageError
from passmuster.checks import Golden
from passmuster.engine._evaluation import evaluator
from passmuster.engine._judge_questions import needs_one_process, with_calibration
from passmuster.engine._parts import cut
from passmuster.engine._plan import Job, Plan
from passmuster.engine._progress import OnProgress, Progress
from passmuster.engine._select import select
from passmuster.engine.executors import executor
from passmuster.scoring import Report, Settings, Tally, baseline_of, conclude, scenario_runs
from passmuster.suite import Suite
from passmuster.traces import BadLines, Source, Trace, lines_of, read_source

if TYPE_CHECKING:
    from passmuster.scoring import Baseline


def evaluate_traces(
    suite: Suite, traces: Iterable[Trace], settings: Settings, baseline: Baseline | Sequence[Source] = ()
) -> Report:
    """The verdict of a suite on traces at hand."""
    started = perf_counter_ns()
    job, recorded = _prepared(suite, settings, baseline)
    with evaluator(job, Progress()) as evaluate:
        for trace in traces:
            evaluate.trace(trace)
    return conclude_run(job.suite, evaluate.tally, job.settings, started, recorded)


def evaluate_sources(
    suite: Suite,
    sources: Sequence[Source],
    settings: Settings,
    *,
    workers: int = 1,
    plugins: bool = True,
    baseline: Baseline | Sequence[Source] = (),
    on_progress: OnProgress | None = None,
) -> Report:
    """The verdict of a suite on trace files, the same for any number of workers.

    `baseline` is a recorded run, or golden traces, which only path and cost are compared with.
    """
    started = perf_counter_ns()
    job, recorded = _prepared(suite, settings, baseline, plugins=plugins)
    tally = tally_sources(job, sources, workers, on_progress)
    return conclude_run(job.suite, tally, job.settings, started, recorded)


def tally_sources(job: Job, sources: Sequence[Source], workers: int, on_progress: OnProgress | None) -> Tally:
    """What a job counts in trace files."""
    if needs_one_process(job.suite, job.settings):
        workers = 1
    parts = cut(sources, workers)
    name = "processes" if min(workers, len(parts)) > 1 else "inline"
    return executor(name).execute(job, parts, workers, Progress(sources, on_progress))


def _prepared(
    suite: Suite, settings: Settings, baseline: Baseline | Sequence[Source], *, plugins: bool = True
) -> tuple[Job, Baseline | None]:
    """The job, and the recorded run that its report is compared with."""
    suite = select(suite, settings.only, settings.tags)
    settings = with_calibration(suite, settings)
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
    return plan.golden(trace for source in sources for trace in read_source(source, BadLines(source, skip=False)))


def conclude_run(
    suite: Suite, tally: Tally, settings: Settings, started: int, baseline: Baseline | None = None
) -> Report:
    """The report on what was counted. Raises `TraceError` if there was no trace at all."""
    if not tally.read:
        lines = f": all {tally.bad_lines} lines of the input are bad" if tally.bad_lines else ""
        raise TraceError(Problem(f"no trace found{lines}, so there is nothing to evaluate"))
    report = conclude(suite, tally, settings, lines_of(tally.spots(), tally.part_lines()), baseline)
    return replace(report, duration_ms=round((perf_counter_ns() - started) / 1e6, 3))


def record(
    suite: Suite,
    sources: Sequence[Source],
    settings: Settings,
    *,
    day: str | None = None,
    workers: int = 1,
    plugins: bool = True,
    on_progress: OnProgress | None = None,
) -> tuple[Baseline, Report]:
    """A run of the whole suite as a baseline, and its report.

    The runs are their own reference for path and cost, so the same traces compared with this baseline later give the
    same outcomes.
    """
    started = perf_counter_ns()
    settings = with_calibration(suite, settings)
    golden = golden_in(suite, sources, settings) if suite.scenarios else {}
    golden = {id_: replace(one, sequences=tuple(sorted(one.sequences))) for id_, one in golden.items()}
    tally = tally_sources(Job(suite, settings, golden, plugins), sources, workers, on_progress)
    report = conclude_run(suite, tally, settings, started)
    return baseline_of(suite, scenario_runs(suite, suite.scenarios, tally), report, golden, day=day), report
