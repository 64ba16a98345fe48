"""A run of one suite over trace files: the report, and where it goes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from passmuster._problems import Problem, UsageError
from passmuster.api._input_digests import with_input_digests
from passmuster.api._inputs import StandardInput, compared_with, trace_files
from passmuster.api._load_suite import load_suite
from passmuster.api._options import Destination, RunOptions
from passmuster.api._output_files import check_writable, write_file
from passmuster.api._redact_report import redact_report
from passmuster.engine import OnProgress, evaluate_sources, redactor_of
from passmuster.reports import file_name, render, shows_evidence
from passmuster.scoring import Report
from passmuster.suite import Suite
from passmuster.traces import Source

if TYPE_CHECKING:
    from passmuster.scoring import Baseline, EarlyStop, LiveRuns, Pool, Settings


class RenderedReport(Struct, frozen=True):
    """A report in one format, ready to be written to its path; `-` is standard output."""

    format: str
    path: str
    data: bytes
    make_folders: bool = False


class Run(Struct, frozen=True):
    """What a run came to. Secrets are hidden in all of it."""

    report: Report
    rendered: tuple[RenderedReport, ...]
    """All that were asked for but the console report on standard output, whose form depends on the terminal."""
    notes: tuple[str, ...] = ()
    """What the user should know besides the report."""


def run(path: str | None, options: RunOptions, stdin: StandardInput, *, on_progress: OnProgress | None = None) -> Run:
    """Evaluate traces by one suite; nothing is written yet.

    Raises `InputError` for mistakes in the input, report paths that cannot be written included, and `OutsideError`
    where a part outside this program failed.
    """
    suite = load_suite(path, root=options.root, plugins=options.plugins)
    sources = trace_files(suite, options.traces, stdin, options.trace_format)
    return evaluated_run(prepared_run(suite, options, sources), sources, on_progress)


class PreparedRun(Struct, frozen=True):
    """A run about which all is known but its traces."""

    suite: Suite
    options: RunOptions
    destinations: tuple[Destination, ...]
    compared: Baseline | Sequence[Source]
    compared_name: str | None


def prepared_run(suite: Suite, options: RunOptions, sources: Sequence[Source]) -> PreparedRun:
    """What a run is compared with, and where its reports go. Raises `InputError` where these cannot be used."""
    destinations = options.reports or _named_by(suite)
    compared, name = compared_with(suite, options.baseline, options.trace_format)
    if not options.reports:
        _refuse_outside(suite, destinations)
    check_writable(
        [to.path for to in destinations if to.path != "-"],
        inputs=[*suite.documents, *(source.path for source in sources), *_baselines(suite, options.baseline)],
        make_folders=not options.reports,
    )
    return PreparedRun(suite, options, destinations, compared, name)


def evaluated_run(
    run: PreparedRun,
    sources: Sequence[Source],
    on_progress: OnProgress | None,
    live: LiveRuns | None = None,
    early_stop: EarlyStop | None = None,
) -> Run:
    """The run with its verdict on the traces in these files; where the agent was run for it, `live` and `early_stop`
    say how."""
    notes: list[str] = []
    settings = replace(run.options.settings, baseline=run.compared_name, live=live, early_stop=early_stop)
    safe = _evaluated(run, sources, on_progress, settings, notes)
    if live is None:
        safe = with_input_digests(safe, sources)
    rendered = (
        RenderedReport(to.format, to.path, render(to.format, safe), make_folders=not run.options.reports)
        for to in run.destinations
        if to != Destination("console", "-")
    )
    slow = (_slow(pattern) for pattern in redactor_of(run.suite).given_up)
    return Run(safe, tuple(rendered), (*map(str, run.suite.remarks), *notes, *slow))


def _slow(pattern: str) -> str:
    return (
        f"redact.patterns: '{pattern}' took too long and was given up, so texts are hidden whole; "
        "write it without nested repetition"
    )


def _evaluated(
    run: PreparedRun,
    sources: Sequence[Source],
    on_progress: OnProgress | None,
    settings: Settings,
    notes: list[str],
) -> Report:
    """The redacted report, with its evidence where that is asked for."""
    suite, options, baseline = run.suite, run.options, run.compared
    redactor = redactor_of(suite)
    execution = options.execution(sources, notes.append)
    pool = _pool(suite, options)
    if not _asks_evidence(run.destinations):
        report = evaluate_sources(
            suite,
            sources,
            settings,
            execution=execution,
            plugins=options.plugins,
            baseline=baseline,
            pool=pool,
            on_progress=on_progress,
        )
        return redact_report(report, redactor)
    from passmuster.api._evidence import with_evidence  # late, for few runs show it
    from passmuster.engine import evaluate_for_page

    gathered = evaluate_for_page(
        suite,
        sources,
        settings,
        execution=execution,
        plugins=options.plugins,
        baseline=baseline,
        pool=pool,
        on_progress=on_progress,
    )
    recorded = None if isinstance(baseline, Sequence) else baseline
    return with_evidence(gathered, redact_report(gathered.report, redactor), suite, redactor, recorded)


def _pool(suite: Suite, options: RunOptions) -> Pool | None:
    """The last runs that were not blocked, where the suite compares with them."""
    wanted = suite.baseline.pool if suite.baseline else None
    if wanted is None:
        return None
    from passmuster.history import unblocked_reports
    from passmuster.scoring import pool_of

    file = Path(options.history) if options.history else None
    return pool_of(unblocked_reports(suite.root, suite.file, wanted, file), wanted)


def _asks_evidence(destinations: Sequence[Destination]) -> bool:
    return any(shows_evidence(to.format) for to in destinations)


def write_report(rendered: RenderedReport) -> None:
    """Write a report to its file. Raises `OutsideError` if that fails."""
    write_file(rendered.path, rendered.data, make_folders=rendered.make_folders)


def add_to_history(run: Run, file: str | None = None) -> None:
    """Add a run to the history of its suite, or to that in a file; an incomplete run is not added.

    Raises `HistoryError` if that fails.
    """
    if run.report.incomplete:
        return
    from passmuster.history import keep  # late, for not every run is added

    written = next((one.data for one in run.rendered if one.format == "json"), None)
    keep(run.report, written or render("json", run.report), Path(run.report.root), Path(file) if file else None)


def _named_by(suite: Suite) -> tuple[Destination, ...]:
    folder = suite.folder / suite.output.folder
    formats = (name for name in suite.output.formats if name != "console")
    return tuple(Destination(name, str(folder / file_name(name))) for name in formats)


def _refuse_outside(suite: Suite, destinations: Sequence[Destination]) -> None:
    """What a suite names is written within the root, wherever a link in its report folder leads."""
    outside = [to.path for to in destinations if not Path(os.path.realpath(to.path)).is_relative_to(suite.root)]
    if outside:
        message = f"this report would be written outside the root ({suite.root}), because a link leads there"
        raise UsageError([Problem(message, path) for path in outside])


def _baselines(suite: Suite, given: str | None) -> list[str | Path]:
    """The files of an earlier run that this one may be compared with."""
    own = suite.baseline.file if suite.baseline else None
    return [*([given] if given else []), *([suite.folder / own] if own else [])]
