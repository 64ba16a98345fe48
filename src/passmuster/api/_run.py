"""A run of one suite over trace files: the report, and where it goes."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from passmuster.api._inputs import StandardInput, compared_with, trace_files
from passmuster.api._load_suite import load_suite
from passmuster.api._options import Destination, RunOptions
from passmuster.api._output_files import check_writable, write_file
from passmuster.api._redact_report import redact_report
from passmuster.engine import OnProgress, evaluate_sources, redactor_of, worker_count
from passmuster.reports import file_name, render
from passmuster.scoring import Report
from passmuster.suite import Suite


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


def run(path: str | None, options: RunOptions, stdin: StandardInput, *, on_progress: OnProgress | None = None) -> Run:
    """Evaluate traces by one suite; nothing is written yet.

    Raises `InputError` for mistakes in the input, report paths that cannot be written included, and `OutsideError`
    where a part outside this program failed.
    """
    suite = load_suite(path, root=options.root, plugins=options.plugins)
    destinations = options.reports or _named_by(suite)
    sources = trace_files(suite, options.traces, stdin, options.trace_format)
    check_writable(
        [to.path for to in destinations if to.path != "-"],
        inputs=[*suite.documents, *(source.path for source in sources), *_baselines(suite, options.baseline)],
        make_folders=not options.reports,
    )
    compared, name = compared_with(suite, options.baseline, options.trace_format)
    report = evaluate_sources(
        suite,
        sources,
        replace(options.settings, baseline=name),
        workers=worker_count(options.workers, sources),
        plugins=options.plugins,
        baseline=compared,
        on_progress=on_progress,
    )
    safe = redact_report(report, redactor_of(suite))
    rendered = (
        RenderedReport(to.format, to.path, render(to.format, safe), make_folders=not options.reports)
        for to in destinations
        if to != Destination("console", "-")
    )
    return Run(safe, tuple(rendered))


def write_report(rendered: RenderedReport) -> None:
    """Write a report to its file. Raises `OutsideError` if that fails."""
    write_file(rendered.path, rendered.data, make_folders=rendered.make_folders)


def add_to_history(run: Run) -> None:
    """Add a run to the history of its suite; a partial run is not added. Raises `HistoryError` if that fails."""
    if run.report.partial:
        return
    from passmuster.history import keep  # late, for not every run is added

    written = next((one.data for one in run.rendered if one.format == "json"), None)
    keep(run.report, written or render("json", run.report), Path(run.report.root))


def _named_by(suite: Suite) -> tuple[Destination, ...]:
    folder = suite.folder / suite.output.folder
    formats = (name for name in suite.output.formats if name != "console")
    return tuple(Destination(name, str(folder / file_name(name))) for name in formats)


def _baselines(suite: Suite, given: str | None) -> list[str | Path]:
    """The files of an earlier run that this one may be compared with."""
    own = suite.baseline.file if suite.baseline else None
    return [*([given] if given else []), *([suite.folder / own] if own else [])]
