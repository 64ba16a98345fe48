"""`passmuster run`: evaluate traces by one suite or several."""

from __future__ import annotations

import sys
from typing import Any, TextIO

import click

from passmuster import api, reports
from passmuster._problems import InputError, OutsideError, Problem, UsageError
from passmuster.cli import _options as options
from passmuster.cli._printing import complain, open_pipe, print_bytes, say
from passmuster.cli._progress import progress_bar

_SEVERITY = (0, 3, 1, 2)
"""Exit codes from best to worst: what could not be evaluated for mistakes in the input comes last."""


@click.command("run")
@click.argument("suites", metavar="[SUITE]...", nargs=-1)
@options.traces
@options.trace_format
@click.option("--report", multiple=True, metavar="FORMAT=PATH", help=f"{', '.join(reports.FORMATS)}; - prints.")
@click.option("--baseline", metavar="PATH", help="Baseline file or golden traces to compare with.")
@click.option("--only", multiple=True, metavar="ID|GLOB", help="Only these tests and scenarios.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Only tests and scenarios with this tag.")
@options.judge
@click.option("--agent-version", metavar="V", help="The agent's version, for progressive thresholds.")
@click.option("--strict", is_flag=True, help="A warning fails the gate.")
@click.option("--skip-bad-lines", is_flag=True, help="Skip trace lines that cannot be read, and count them.")
@options.root
@options.no_plugins
@options.workers
@options.today
@click.option("--no-history", is_flag=True, help="Do not add this run to the history.")
@click.option("--quiet", is_flag=True, help="Do not print the console report.")
def command(suites: tuple[str, ...], report: tuple[str, ...], no_history: bool, quiet: bool, **given: Any) -> None:
    """Evaluate an agent's traces by a suite.

    SUITE is a file, or a folder that holds one; without it the nearest one upwards from here is taken.
    Exit codes: 0 the gate passed, 1 it failed, 2 the input is wrong, 3 it could not be decided.
    """
    try:
        chosen = api.RunOptions(reports=_destinations(report, len(suites)), **options.values(given))
    except UsageError as error:
        complain(error)
        sys.exit(2)
    with api.StandardInput() as stdin:
        codes = [_run(suite, chosen, stdin, quiet, history=not no_history) for suite in suites or (None,)]
    sys.exit(_worst(codes))


def _run(suite: str | None, chosen: api.RunOptions, stdin: api.StandardInput, quiet: bool, history: bool) -> int:
    """Run one suite, deliver its reports, and give the exit code."""
    try:
        with progress_bar(quiet) as on_progress:
            run = api.run(suite, chosen, stdin, on_progress=on_progress)
    except InputError as error:
        complain(error)
        return 2
    except OutsideError as error:
        _tell(error)
        say("The gate could not be decided.")
        return 3
    code = _deliver(run, chosen.reports, quiet)
    if history:
        try:
            api.add_to_history(run)
        except Exception as error:  # the verdict stands whatever happens to the history
            say(f"note: this run was not added to the history: {reports.one_line(str(error))}")
    return code


def _deliver(run: api.Run, wanted: tuple[api.Destination, ...], quiet: bool) -> int:
    """Print and write the reports."""
    printed = next((to.format for to in wanted if to.path == "-"), None)
    try:
        if not quiet or printed == "console":
            _show(run.report, sys.stdout if printed in (None, "console") else sys.stderr)
        for rendered in run.rendered:
            if rendered.path == "-":
                print_bytes(rendered.data)
            else:
                api.write_report(rendered)
    except OutsideError as error:
        _tell(error)
        say(f"The verdict is '{run.report.verdict}', but not every report could be written.")
        return _worst([run.report.exit_code, 3])
    return run.report.exit_code


def _destinations(given: tuple[str, ...], suites: int) -> tuple[api.Destination, ...]:
    wanted = tuple(_destination(report) for report in given)
    if suites > 1 and any(to.path != "-" for to in wanted):
        raise UsageError(Problem("--report names one file but there are several suites; use 'output:' in each"))
    if sum(to.path == "-" for to in wanted) > 1:
        raise UsageError(Problem("--report: only one report can go to standard output"))
    return wanted


def _destination(report: str) -> api.Destination:
    name, sign, path = report.partition("=")
    if not sign or not path:
        raise UsageError(Problem(f"--report: expected FORMAT=PATH, such as json=report.json, found '{report}'"))
    reports.check_format(name)
    return api.Destination(name, path)


def _worst(codes: list[int]) -> int:
    return max(codes, key=_SEVERITY.index)


def _tell(error: OutsideError) -> None:
    say(f"error: {reports.one_line(str(error.problem))}")


def _show(report: api.Report, stream: TextIO | None) -> None:
    if stream is None:  # closed by whoever started this process, who does not want to read it
        return
    with open_pipe(stream):
        reports.show_console(report, stream)
        stream.flush()
