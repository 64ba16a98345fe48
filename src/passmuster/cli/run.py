"""`passmuster run`: judge traces by one suite or several."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TextIO, get_args

import click
from msgspec.structs import replace

from passmuster._problems import InputError, OutsideError, Problem, UsageError
from passmuster.cli._inputs import Workers, day_of, sources_of
from passmuster.cli._keeping import keep_run
from passmuster.cli._printing import complain, open_pipe, print_bytes, say
from passmuster.cli._progress import progress_bar
from passmuster.engine import compared_with, load_suite, worker_count
from passmuster.engine import judge as judge_traces
from passmuster.redaction import Redactor
from passmuster.reports import FILE_NAMES, check_format, check_writable, one_line, redact_report, render, write_whole
from passmuster.scoring import JudgeMode, Report, Settings
from passmuster.suite import Suite, find_suite
from passmuster.traces import Source, standard_input

__all__ = ["command"]

_GRAVITY = (0, 3, 1, 2)
"""Exit codes from best to worst: what could not be judged because it is written wrong comes last."""

Destination = tuple[str, str]
"""A report format, and the path it goes to; `-` is standard output."""


@click.command("run")
@click.argument("suites", metavar="[SUITE]...", nargs=-1)
@click.option("--traces", "traces", multiple=True, metavar="PATH", help="File, folder or glob; - is standard input.")
@click.option(
    "--report", "reports", multiple=True, metavar="FORMAT=PATH", help="console, json, junit or sarif; - prints."
)
@click.option("--baseline", metavar="PATH", help="What to compare with: a baseline file, or golden traces.")
@click.option("--only", multiple=True, metavar="ID|GLOB", help="Only these tests and scenarios.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Only tests and scenarios with this tag.")
@click.option(
    "--judge",
    type=click.Choice(get_args(JudgeMode)),
    default="live",
    help="Ask judges (the default), go by remembered verdicts only, or leave judges out.",
)
@click.option("--agent-version", metavar="V", help="The agent's version, for progressive thresholds.")
@click.option("--strict", is_flag=True, help="A warning fails the gate.")
@click.option("--skip-bad-lines", is_flag=True, help="Go on past unreadable trace lines and count them.")
@click.option("--root", metavar="DIR", help="The folder that policies have to lie in (default: git top level).")
@click.option("--no-plugins", is_flag=True, help="Refuse suites that name plugins.")
@click.option(
    "--workers", type=Workers(), metavar="N|auto", help="Processes to use (default: auto, one a CPU for large input)."
)
@click.option(
    "--today", metavar="DATE", help="The day that waivers and calibrations are judged by (default: today, UTC)."
)
@click.option("--no-history", is_flag=True, help="Do not keep this run in the history.")
@click.option("--quiet", is_flag=True, help="Do not print the console report.")
def command(
    suites: tuple[str, ...],
    traces: tuple[str, ...],
    reports: tuple[str, ...],
    baseline: str | None,
    only: tuple[str, ...],
    tags: tuple[str, ...],
    judge: JudgeMode,
    agent_version: str | None,
    strict: bool,
    skip_bad_lines: bool,
    root: str | None,
    no_plugins: bool,
    workers: int | None,
    today: str | None,
    no_history: bool,
    quiet: bool,
) -> None:
    """Judge an agent's traces by a suite.

    SUITE is a file, or a folder that holds one; without it the nearest one upwards from here is taken.
    Exit codes: 0 the gate passed, 1 it failed, 2 the input is wrong, 3 an outside part failed.
    """
    codes: list[int] = []
    try:
        settings = Settings(
            today=day_of(today),
            strict=strict,
            only=only,
            tags=tags,
            skip_bad_lines=skip_bad_lines,
            judge=judge,
            agent_version=agent_version,
        )
        wanted = _destinations(reports, len(suites))
    except UsageError as error:
        complain(error)
        sys.exit(2)
    with contextlib.ExitStack() as stack:
        stdin: list[Source] = []
        for given in suites or (None,):
            try:
                suite = load_suite(find_suite(given, Path.cwd()), root=root, plugins=not no_plugins)
                if "-" in traces and not stdin:
                    stdin.append(stack.enter_context(standard_input()))
                destinations = wanted or _default_reports(suite)
                sources = sources_of(suite, traces, stdin)
                check_writable(
                    [path for _, path in destinations if path != "-"],
                    inputs=[*suite.documents, *(source.path for source in sources), *_recorded(suite, baseline)],
                    make_folders=not wanted,
                )
                with progress_bar(sources, quiet) as bar:
                    compared, named = compared_with(suite, baseline)
                    report = judge_traces(
                        suite,
                        sources,
                        replace(settings, baseline=named),
                        workers=worker_count(workers, sources),
                        plugins=not no_plugins,
                        baseline=compared,
                        progress=bar.advance,
                        asked=bar.asked,
                    )
                codes.append(_deliver(report, suite, destinations, quiet, not wanted, history=not no_history))
            except InputError as error:
                complain(error)
                codes.append(2)
            except OutsideError as error:
                _tell(error)
                say("The gate could not be decided: an outside part failed.")
                codes.append(3)
    sys.exit(max(codes, key=_GRAVITY.index))


def _destinations(reports: tuple[str, ...], suites: int) -> list[Destination]:
    wanted = [_destination(report) for report in reports]
    if suites > 1 and any(path != "-" for _, path in wanted):
        raise UsageError(Problem("--report names one file but there are several suites; use 'output:' in each"))
    if sum(path == "-" for _, path in wanted) > 1:
        raise UsageError(Problem("--report: only one report can go to standard output"))
    return wanted


def _destination(report: str) -> Destination:
    name, sign, path = report.partition("=")
    if not sign or not path:
        raise UsageError(Problem(f"--report: expected FORMAT=PATH, such as json=report.json, found '{report}'"))
    check_format(name)
    return name, path


def _default_reports(suite: Suite) -> list[Destination]:
    folder = suite.folder / suite.output.folder
    return [(name, str(folder / FILE_NAMES[name])) for name in suite.output.formats if name != "console"]


def _deliver(
    report: Report, suite: Suite, destinations: list[Destination], quiet: bool, make_folders: bool, history: bool
) -> int:
    """Write and print the reports. Nothing leaves the house but through the one door that hides secrets."""
    safe = redact_report(report, Redactor(suite.redact.patterns, suite.redact.arguments))
    printed = next((name for name, path in destinations if path == "-"), None)
    rendered = [(path, render(name, safe)) for name, path in destinations if (name, path) != ("console", "-")]
    codes = [report.exit_code]
    try:
        if not quiet or printed == "console":
            _show(safe, sys.stdout if printed in (None, "console") else sys.stderr)
        for path, data in rendered:
            if path == "-":
                print_bytes(data)
            else:
                write_whole(path, data, make_folders=make_folders)
    except OutsideError as error:
        _tell(error)
        say(f"The verdict is '{report.verdict}', but not every report could be delivered.")
        codes.append(3)
    if history:
        keep_run(safe, suite, [data for path, data in rendered if ("json", path) in destinations])
    return max(codes, key=_GRAVITY.index)


def _recorded(suite: Suite, baseline: str | None) -> list[str | Path]:
    """The files of an earlier run that this one may be compared with."""
    own = suite.baseline.file if suite.baseline else None
    return [*([baseline] if baseline else []), *([suite.folder / own] if own else [])]


def _tell(error: OutsideError) -> None:
    say(f"error: {one_line(str(error.problem))}")


def _show(report: Report, stream: TextIO | None) -> None:
    if stream is None:  # closed by whoever started us, who does not want to read it
        return
    from passmuster.reports import show_console

    with open_pipe(stream):
        show_console(report, stream)
        stream.flush()
