"""`passmuster baseline`: save a run, show it, and derive thresholds from it."""

from __future__ import annotations

import sys
from typing import Any, Literal

from passmuster import api, reports
from passmuster._problems import InputError, OutsideError, plural
from passmuster.cli import _options as options
from passmuster.cli._command_line import argument, cli_group, option
from passmuster.cli._printing import complain, print_lines, refusing, say
from passmuster.cli._progress import progress_bar


def _share(text: str) -> float:
    """`1%`, or `0.01`."""
    found = api.share(text)
    if found == 1:
        raise ValueError("expected less than 100%")
    return found


_baseline = option("--baseline", metavar="FILE", help="Baseline file (default: 'baseline.file' of the suite).")


@cli_group("baseline")
def command() -> None:
    """Save a baseline, compare with it, tighten thresholds.

    `passmuster run --baseline FILE` compares a run with one that was saved here.

    Example:
      passmuster baseline save evals --traces traces/ -o baseline.json
    """


@command.subcommand("save")
@options.suite
@options.traces
@options.trace_format
@option("-o", "--output", metavar="FILE", help="Where to write it (default: 'baseline.file' of the suite).")
@options.judge
@option("--agent-version", metavar="V", help="The agent's version (default: from the suite or traces).")
@options.accept_loss
@options.root
@options.no_plugins
@options.workers
@option("--today", metavar="DATE", help="Day for waivers and calibrations; recorded if given.")
def save(suite: str | None, output: str | None, **given: Any) -> None:
    """Evaluate traces by a suite, and save the result as a baseline.

    Exit codes: 0 it was written, 2 the input is wrong, 3 nothing was written, for the reason shown.

    Example:
      passmuster baseline save evals --traces traces/ -o baseline.json
    """
    try:
        chosen = api.RunOptions(**options.values(given))
        with api.StandardInput() as stdin, progress_bar() as on_progress:
            saved = api.save_baseline(suite, chosen, stdin, output=output, on_progress=on_progress)
    except InputError as error:
        complain(error)
        sys.exit(2)
    except OutsideError as error:
        say(f"error: {reports.one_line(str(error.problem))}")
        say("No baseline was written.")
        sys.exit(3)
    report = saved.report
    if report.exit_code:
        say("note: this run fails the gate; it is recorded anyway")
    if saved.without_judges:
        say("note: judges were off, so checks that need them are not recorded")
    undecided = [scenario.id for scenario in report.scenarios if scenario.status in ("error", "skip")]
    if undecided:
        say(f"note: recorded as undecided: {reports.one_line(', '.join(undecided))}")
    baseline = saved.baseline
    scenarios, tests = plural(len(baseline.scenarios), "scenario"), plural(len(baseline.tests), "test")
    print_lines([f"{reports.one_line(saved.path)}: {scenarios} and {tests} of {plural(report.traces.read, 'trace')}"])


@command.subcommand("show")
@argument("file", metavar="FILE")
def show(file: str) -> None:
    """Show what a baseline file records.

    Exit codes: 0 it was shown, 2 the input is wrong.

    Example:
      passmuster baseline show baseline.json
    """
    with refusing():
        print_lines(reports.baseline_text(api.read_baseline(file)))


@command.subcommand("suggest", "Propose thresholds slightly better than the recorded values.")
@options.suite
@_baseline
@option("--margin", convert=_share, default=0.01, metavar="SHARE", help="How much better (default: 1%).")
@options.root
@options.no_plugins
def suggest(suite: str | None, baseline: str | None, margin: float, root: str | None, no_plugins: bool) -> None:
    """Print thresholds a little better than what was reached, as YAML to paste.

    They are a target: the recorded run itself does not meet them.
    Exit codes: 0 they were printed, 2 the input is wrong.

    Example:
      passmuster baseline suggest evals --baseline baseline.json --margin 2%
    """
    with refusing():
        found = api.suggest_thresholds(suite, baseline=baseline, margin=margin, root=root, plugins=not no_plugins)
        _note(found.note)
        print_lines(reports.suggestion_text(found.targets, reports.one_line(found.baseline), margin))


@command.subcommand("ratchet", "Tighten the thresholds of a suite to what a fresh run will reach.")
@options.suite
@_baseline
@option("--slack", convert=_share, default=0.0, metavar="SHARE", help="How much less is enough (default: 0%).")
@option(
    "--to",
    choices=("prediction", "value"),
    default="prediction",
    help="What a fresh run reaches in 95 of 100 cases (default), or the recorded value.",
)
@option("--dry-run", is_flag=True, help="Print the change and write nothing.")
@options.root
@options.no_plugins
def ratchet(
    suite: str | None,
    baseline: str | None,
    slack: float,
    to: Literal["prediction", "value"],
    dry_run: bool,
    root: str | None,
    no_plugins: bool,
) -> None:
    """Tighten the thresholds in a suite file to what a fresh run will reach; none is ever loosened.

    Only the numbers change: comments, order and quoting stay. The recorded run still passes afterwards.
    Exit codes: 0 the thresholds are up to date, 2 the input is wrong.

    Example:
      passmuster baseline ratchet evals --baseline baseline.json
    """
    with refusing():
        found = api.tighten_thresholds(
            suite, baseline=baseline, slack=slack, to=to, dry_run=dry_run, root=root, plugins=not no_plugins
        )
        _note(found.note)
        print_lines(
            reports.tightening_text(found.suite_file, found.before, found.after, found.raised, found.kept, dry_run)
        )


def _note(text: str | None) -> None:
    if text is not None:
        say(f"note: {reports.one_line(text)}")
