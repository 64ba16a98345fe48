"""A run recorded as a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter_ns

from msgspec.structs import replace

from passmuster.engine._judge_questions import with_calibration
from passmuster.engine._plan import Job
from passmuster.engine._progress import OnProgress
from passmuster.engine._run import conclude_run, golden_in, tally_sources
from passmuster.scoring import Baseline, Report, Settings, baseline_of, scenario_runs
from passmuster.suite import Suite
from passmuster.traces import Source


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
