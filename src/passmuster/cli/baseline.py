"""`passmuster baseline`: record a run, show it, aim beyond it, and raise a suite's bounds to it."""

from __future__ import annotations

import contextlib
import difflib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import click

from passmuster._problems import InputError, OutsideError, Problem, UsageError
from passmuster.cli._inputs import Workers, day_of, sources_of
from passmuster.cli._printing import complain, print_lines, refuse, say
from passmuster.cli._progress import progress_bar
from passmuster.engine import baseline_for, baseline_path, load_suite, read_baseline, record, worker_count
from passmuster.redaction import Redactor
from passmuster.reports import (
    baseline_text,
    check_writable,
    encoded_baseline,
    kept_text,
    one_line,
    plural,
    raised_text,
    suggestion_text,
    write_whole,
)
from passmuster.scoring import Baseline, JudgeMode, Settings
from passmuster.suite import Suite, find_suite, share
from passmuster.traces import standard_input

__all__ = ["command"]


class _Share(click.ParamType[float]):
    """`1%`, or `0.01`."""

    name = "share"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            found = share(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)
        if found == 1:
            self.fail("expected less than 100%, for nothing else would be left of what was reached", param, ctx)
        return found


@click.group("baseline")
def command() -> None:
    """Record a run, and compare, aim or tighten by it.

    `passmuster run --baseline FILE` compares a run with one that was recorded here.
    """


@command.command("save")
@click.argument("suite", metavar="[SUITE]", required=False)
@click.option("--traces", multiple=True, metavar="PATH", help="File, folder or glob; - is standard input.")
@click.option("-o", "--output", metavar="FILE", help="Where to write it (default: 'baseline.file' of the suite).")
@click.option(
    "--judge",
    type=click.Choice(get_args(JudgeMode)),
    default="live",
    help="Ask judges (the default), go by remembered verdicts only, or leave judges out.",
)
@click.option("--agent-version", metavar="V", help="The agent's version (default: what suite or traces say).")
@click.option("--root", metavar="DIR", help="The folder that policies have to lie in (default: git top level).")
@click.option("--no-plugins", is_flag=True, help="Refuse suites that name plugins.")
@click.option(
    "--workers", type=Workers(), metavar="N|auto", help="Processes to use (default: auto, one a CPU for large input)."
)
@click.option(
    "--today", metavar="DATE", help="The day that waivers and calibrations are judged by; if given, it is recorded."
)
def save(
    suite: str | None,
    traces: tuple[str, ...],
    output: str | None,
    judge: JudgeMode,
    agent_version: str | None,
    root: str | None,
    no_plugins: bool,
    workers: int | None,
    today: str | None,
) -> None:
    """Judge traces by a suite, and record what came out.

    Exit codes: 0 it was written, 2 the input is wrong, 3 an outside part failed and nothing was written.
    """
    try:
        settings = Settings(today=day_of(today), judge=judge, agent_version=agent_version)
        with contextlib.ExitStack() as stack:
            loaded = load_suite(find_suite(suite, Path.cwd()), root=root, plugins=not no_plugins)
            path = _destination(loaded, output)
            stdin = [stack.enter_context(standard_input())] if "-" in traces else []
            sources = sources_of(loaded, traces, stdin)
            inputs = [*loaded.documents, *(source.path for source in sources)]
            check_writable([path], inputs=inputs, what="baseline")
            bar = stack.enter_context(progress_bar(sources, quiet=False))
            recorded, report = record(
                loaded,
                sources,
                settings,
                day=settings.today.isoformat() if today is not None else None,
                workers=worker_count(workers, sources),
                plugins=not no_plugins,
                progress=bar.advance,
                asked=bar.asked,
            )
        if report.exit_code == 3:
            raise OutsideError(Problem("the gate could not be decided; run 'passmuster run' to see why", loaded.file))
        write_whole(
            path, encoded_baseline(recorded, Redactor(loaded.redact.patterns, loaded.redact.arguments)), what="baseline"
        )
    except InputError as error:
        complain(error)
        sys.exit(2)
    except OutsideError as error:
        say(f"error: {one_line(str(error.problem))}")
        say("No baseline was written: an outside part failed.")
        sys.exit(3)
    if report.exit_code:
        say("note: this run fails the gate; it is recorded as it is")
    if judge == "off" and loaded.may_ask:
        say("note: judges were off, so that what only they can say is not recorded")
    unjudged = [scenario.id for scenario in report.scenarios if scenario.status in ("error", "skip")]
    if unjudged:
        say(f"note: not judged, and recorded so: {one_line(', '.join(unjudged))}")
    scenarios, tests = plural(len(recorded.scenarios), "scenario"), plural(len(recorded.tests), "test")
    print_lines([f"{one_line(path)}: {scenarios} and {tests} of {plural(report.traces.read, 'trace')}"])


def _destination(suite: Suite, output: str | None) -> str:
    if output is not None:
        return output
    if suite.baseline is None or suite.baseline.file is None:
        message = "nowhere to write to: give -o FILE, or name a 'baseline.file' in the suite"
        raise UsageError(Problem(message, suite.file))
    return str(baseline_path(suite))


@command.command("show")
@click.argument("file", metavar="FILE")
def show(file: str) -> None:
    """Show what a baseline file records.

    Exit codes: 0 it was shown, 2 the input is wrong.
    """
    with _refusing():
        print_lines(baseline_text(read_baseline(file)))


@command.command("suggest", short_help="Propose thresholds a little above what was reached.")
@click.argument("suite", metavar="[SUITE]", required=False)
@click.option("--baseline", metavar="FILE", help="The baseline file (default: 'baseline.file' of the suite).")
@click.option("--margin", type=_Share(), default="1%", metavar="SHARE", help="How much better (default: 1%).")
@click.option("--root", metavar="DIR", help="The folder that policies have to lie in (default: git top level).")
@click.option("--no-plugins", is_flag=True, help="Refuse suites that name plugins.")
def suggest(suite: str | None, baseline: str | None, margin: float, root: str | None, no_plugins: bool) -> None:
    """Print thresholds a little better than what was reached, as YAML to paste.

    They are a target, not today's bar: the recorded run itself does not meet them.
    Exit codes: 0 they were printed, 2 the input is wrong.
    """
    with _refusing():
        from passmuster.scoring import targets

        loaded = load_suite(find_suite(suite, Path.cwd()), root=root, plugins=not no_plugins)
        recorded, name = _recorded(loaded, baseline)
        print_lines(suggestion_text(list(targets(loaded, recorded, margin)), name, margin))


@command.command("ratchet", short_help="Raise the bounds of a suite to what was reached.")
@click.argument("suite", metavar="[SUITE]", required=False)
@click.option("--baseline", metavar="FILE", help="The baseline file (default: 'baseline.file' of the suite).")
@click.option("--slack", type=_Share(), default="0%", metavar="SHARE", help="How much less will do (default: 0%).")
@click.option("--dry-run", is_flag=True, help="Print the change and write nothing.")
@click.option("--root", metavar="DIR", help="The folder that policies have to lie in (default: git top level).")
@click.option("--no-plugins", is_flag=True, help="Refuse suites that name plugins.")
def ratchet(
    suite: str | None, baseline: str | None, slack: float, dry_run: bool, root: str | None, no_plugins: bool
) -> None:
    """Raise the bounds of a suite file to what was reached; none is ever lowered.

    Only the numbers change: comments, order and quoting stay. The recorded run still passes afterwards.
    Exit codes: 0 the bounds are where they should be, 2 the input is wrong.
    """
    with _refusing():
        from passmuster.engine import ratchet as turn

        loaded = load_suite(find_suite(suite, Path.cwd()), root=root, plugins=not no_plugins)
        recorded, _ = _recorded(loaded, baseline)
        result = turn(loaded, recorded, slack, plugins=not no_plugins)
        lines = [raised_text(one, loaded.file) for one in result.raised]
        lines += [kept_text(one) for one in result.kept]
        if dry_run:
            lines += _diff(result.before, result.after, loaded.file)
        elif result.after != result.before:
            write_whole(loaded.path, result.after, what="suite")
        if not result.raised:
            lines.append("No bound was raised.")
        elif dry_run:
            lines.append("Nothing was written (--dry-run).")
        print_lines(lines)


def _recorded(suite: Suite, given: str | None) -> tuple[Baseline, str]:
    if given is None and (suite.baseline is None or suite.baseline.file is None):
        message = "no baseline: give --baseline FILE, or name a 'baseline.file' in the suite"
        raise UsageError(Problem(message, suite.file))
    path = given or str(baseline_path(suite))
    baseline, name = baseline_for(suite, path, path), one_line(path if given else Path(path).name)
    here, there = {scenario.id for scenario in suite.scenarios}, set(baseline.scenarios)
    if here != there:  # what was reached by other scenarios says little about these
        counts = f"{len(here - there)} are new and {len(there - here)} are gone"
        say(f"note: {name} was saved with other scenarios ({counts}); save it again to go by these")
    return baseline, name


def _diff(before: bytes, after: bytes, name: str) -> list[str]:
    old, new = (text.decode("utf-8").splitlines() for text in (before, after))
    found = difflib.unified_diff(old, new, name, f"{name} (raised)", lineterm="", n=1)
    return [one_line(line) for line in found]


@contextlib.contextmanager
def _refusing() -> Iterator[None]:
    """What is wrong with the input is told, and ends with exit code 2."""
    try:
        yield
    except InputError as error:
        refuse(error)
