"""A run of one suite whose agent is run for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from passmuster._problems import Problem, UsageError
from passmuster.agents import PlannedRun
from passmuster.api._live_session import LiveOptions, OnLive, live_session, ready
from passmuster.api._load_suite import load_suite
from passmuster.api._options import RunOptions
from passmuster.api._run import Run, evaluated_run, prepared_run
from passmuster.engine import NeededRuns, OnProgress, needed_runs, select, stop_early
from passmuster.traces import find_sources


def run_live(
    path: str | None,
    options: RunOptions,
    live: LiveOptions,
    *,
    on_live: OnLive | None = None,
    on_progress: OnProgress | None = None,
) -> Run:
    """Run the agent of a suite as often as its scenarios say, and evaluate the traces; no report is written yet.

    Raises `InputError` before anything is spent, and `OutsideError` where a part outside this program failed. Finished
    runs are kept, whatever happens.
    """
    if options.traces or options.trace_format:
        raise UsageError(Problem("--live makes its own traces: leave out --traces and --format"))
    stop = stop_early(live.stop_early)
    suite = load_suite(path, root=options.root, plugins=options.plugins)
    prepared = prepared_run(suite, options, ())
    chosen = ready(select(suite, options.only, options.tags), live)
    settings = replace(options.settings, baseline=prepared.compared_name)

    def needed(order: Sequence[PlannedRun], seed: int) -> NeededRuns:
        return needed_runs(chosen.suite, settings, prepared.compared, order, stop, seed)

    with live_session(chosen, live, on_live, needed) as session:
        if not session.live.finished:
            raise UsageError(Problem("no run took place, so there is nothing to evaluate", suite.file))
        sources = find_sources([str(session.runs.path)], Path.cwd(), suite.root, "native")
        found = replace(prepared, suite=session.suite)
        return evaluated_run(found, sources, on_progress, session.live, session.early_stop)
