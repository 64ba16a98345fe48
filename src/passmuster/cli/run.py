"""`passmuster run`: evaluate traces by one suite or several."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING, Any, TextIO, get_args

from passmuster import api, reports
from passmuster._problems import InputError, OutsideError, Problem, UsageError
from passmuster.cli import _options as options
from passmuster.cli._command_line import argument, cli_command, option
from passmuster.cli._printing import complain, open_pipe, print_bytes, say
from passmuster.cli._progress import live_bar, progress_bar

if TYPE_CHECKING:
    from passmuster.cli._github_actions import JobReport

_SEVERITY = (0, 3, 1, 2)
"""Exit codes from best to worst: what could not be evaluated for mistakes in the input comes last."""


@cli_command("run")
@argument("suites", metavar="[SUITE]...", many=True)
@options.traces
@options.trace_format
@option("--report", multiple=True, metavar="FORMAT=PATH", help=f"{', '.join(reports.FORMATS)}; - prints.")
@option("--baseline", metavar="PATH", help="Baseline file or golden traces to compare with.")
@option("--only", multiple=True, metavar="ID|GLOB", help="Only these tests and scenarios.")
@option("--tag", "tags", multiple=True, metavar="TAG", help="Only tests and scenarios with this tag.")
@options.sample
@options.since
@options.until
@option(
    "--group-by", multiple=True, metavar="KEY", help="Report by day, agent.version, agent.name, scenario, metadata.KEY."
)
@option("--violations", metavar="DIR", help="Write all violations to this folder.")
@option("--violations-format", choices=get_args(api.ViolationFormat), default="jsonl", help="Default: jsonl.")
@option("--checkpoint", metavar="DIR", help="Keep what is finished in this folder, and go on from there.")
@options.judge
@option("--agent-version", metavar="V", help="The agent's version, for progressive thresholds.")
@option("--strict", is_flag=True, help="A warning fails the gate.")
@options.skip_bad_lines
@options.accept_loss
@options.root
@options.no_plugins
@options.workers
@options.executor
@options.ray_address
@options.today
@options.live
@options.resume
@options.max_cost_usd
@options.stop_early
@option("--history", metavar="PATH", help="History file (default: .passmuster/history.db under the root).")
@option("--no-history", is_flag=True, help="Do not add this run to the history.")
@option("-v", "detail", count=True, help="Show more of what failed; -vv shows all.")
@option("-q", "--quiet", is_flag=True, help="Do not print the console report.")
def command(
    suites: tuple[str, ...], report: tuple[str, ...], no_history: bool, detail: int, quiet: bool, **given: Any
) -> None:
    """Evaluate an agent's traces by a suite. With --live the agent is run first.

    SUITE is a file, or a folder that holds one; without it the nearest one upwards from here is taken.
    Exit codes: 0 the gate passed, 1 it failed, 2 the input is wrong, 3 it could not be decided.

    Example:
      passmuster run evals --traces traces/ --report junit=junit.xml
    """
    try:
        live = options.live_options(given)
        chosen = api.RunOptions(reports=_destinations(report, len(suites)), **options.values(given))
        if len(suites) > 1 and chosen.violations is not None:
            raise UsageError(Problem("--violations names one folder but there are several suites"))
    except UsageError as error:
        complain(error)
        sys.exit(2)
    with api.StandardInput() as stdin:
        shown, job = None if quiet else detail, _job_report()
        codes = [_run(suite, chosen, live, stdin, shown, job, history=not no_history) for suite in suites or (None,)]
    sys.exit(_worst(codes))


def _run(
    suite: str | None,
    chosen: api.RunOptions,
    live: api.LiveOptions | None,
    stdin: api.StandardInput,
    detail: int | None,
    job: JobReport | None,
    history: bool,
) -> int:
    """Run one suite, deliver its reports, and give the exit code; `detail` is None where little is to be printed."""
    try:
        # What a plugin prints must not end up in a report on standard output.
        with progress_bar(detail is None) as on_progress, contextlib.redirect_stdout(sys.stderr):
            if live is None:
                run = api.run(suite, chosen, stdin, on_progress=on_progress)
            else:
                with live_bar(detail is None) as on_live:
                    run = api.run_live(suite, chosen, live, on_live=on_live, on_progress=on_progress)
    except InputError as error:
        complain(error)
        if job is not None:
            job.refuse(error)
        return 2
    except OutsideError as error:
        _tell(error)
        say("The gate could not be decided.")
        return 3
    except Exception as error:
        return _unexpected(error)
    for note in run.notes:
        say(f"note: {reports.one_line(note)}")
    code = _deliver(run, chosen.reports, detail)
    if job is not None:
        job.add(run.report)
    if history:
        try:
            api.add_to_history(run, chosen.history)
        except Exception as error:  # the verdict stands whatever happens to the history
            say(f"note: this run was not added to the history: {reports.one_line(str(error))}")
    return code


def _job_report() -> JobReport | None:
    """What tells a job of GitHub Actions; None elsewhere."""
    if os.environ.get("GITHUB_ACTIONS") != "true":
        return None
    from passmuster.cli._github_actions import JobReport  # late, for most runs are elsewhere

    return JobReport()


def _unexpected(error: Exception) -> int:
    """The exit code for an error that nobody foresaw; the other suites of the command still run."""
    from passmuster.cli._unexpected import tell_unexpected  # late, for it should never be needed

    code = tell_unexpected(error)
    say("The gate could not be decided.")
    return code


def _deliver(run: api.Run, wanted: tuple[api.Destination, ...], detail: int | None) -> int:
    """Print and write the reports."""
    printed = next((to.format for to in wanted if to.path == "-"), None)
    try:
        if detail is not None or printed == "console":
            _show(run.report, sys.stdout if printed in (None, "console") else sys.stderr, detail or 0)
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


def _show(report: api.Report, stream: TextIO | None, detail: int) -> None:
    if stream is None:  # closed by whoever started this process, who does not want to read it
        return
    with open_pipe(stream):
        reports.show_console(report, stream, detail=detail)
        stream.flush()
