"""`passmuster judge`: what there is to know about the judges of a suite."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import click
import msgspec

from passmuster._problems import InputError, Problem, SuiteError
from passmuster.checks import Heard, Question
from passmuster.cli._inputs import day_of, sources_of
from passmuster.cli._printing import print_document, print_lines, refuse, say
from passmuster.cli._progress import Bar, progress_bar
from passmuster.engine import Docket, docket_of, judge_config, load_suite, open_judges
from passmuster.judges import (
    MOST_UNANSWERED,
    Audit,
    JudgeConfig,
    Judges,
    audit,
    calibration_of,
    calibration_path,
    read_labels,
)
from passmuster.redaction import Redactor
from passmuster.reports import audit_lines, check_writable, encoded, one_line, write_whole
from passmuster.suite import Suite, display, find_suite
from passmuster.traces import BadLines, Source, read_source

__all__ = ["audit_command", "command"]

Mode = Literal["live", "cached"]


@click.group("judge")
def command() -> None:
    """Find out how good the judges of a suite are."""


@command.command("audit")
@click.argument("suite", metavar="[SUITE]", required=False)
@click.option("--labels", required=True, metavar="FILE", help="What people say: JSON lines, or a list in JSON or YAML.")
@click.option("--traces", multiple=True, metavar="PATH", help="File, folder or glob (default: those of the suite).")
@click.option("--repeats", type=click.IntRange(1, 100), default=3, metavar="N", help="Ask so often (default: 3).")
@click.option("--canaries/--no-canaries", default=False, help="Also try to sway the judges (default: no).")
@click.option("--judge", "mode", type=click.Choice(["live", "cached"]), default="live", help="Ask, or remember only.")
@click.option("-o", "--output", metavar="FILE", help="Where to save the calibration.")
@click.option(
    "--valid-days", type=click.IntRange(1, 3650), default=90, metavar="N", help="Valid so long (default: 90)."
)
@click.option("--today", metavar="DATE", help="The day of the audit (default: today, UTC).")
@click.option("--root", metavar="DIR", help="The folder that files have to lie in (default: git top level).")
@click.option("--no-plugins", is_flag=True, help="Refuse suites that name plugins.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def audit_command(
    suite: str | None,
    labels: str,
    traces: tuple[str, ...],
    repeats: int,
    canaries: bool,
    mode: Mode,
    output: str | None,
    valid_days: int,
    today: str | None,
    root: str | None,
    no_plugins: bool,
    as_json: bool,
) -> None:
    """Compare judges with people, with checks, and with themselves.

    SUITE is a file, or a folder that holds one; without it the nearest one upwards from here is taken.
    Exit codes: 0 the judges are usable, 1 they are not, 2 the input is wrong, 3 they could not be asked.
    """
    try:
        day = day_of(today)
        loaded = load_suite(find_suite(suite, Path.cwd()), root=root, plugins=not no_plugins)
        config = _config(loaded)
        sources = sources_of(loaded, traces, ())
        docket = _docket(loaded, sources, labels)
        target = _target(config, loaded, output)
        if target is not None:
            inputs = [*loaded.documents, *(source.path for source in sources), labels]
            check_writable([target], inputs=inputs, what="calibration")
        with progress_bar(sources, as_json) as bar:
            asked = _ask(loaded, docket, mode, repeats, canaries, bar)
        redactor = Redactor(loaded.redact.patterns, loaded.redact.arguments)
        kept = calibration_of(loaded.file, config.members, asked, day, valid_days, redactor)
        found = kept.audit
        heard = found.unanswered <= MOST_UNANSWERED * found.labels
        document = msgspec.to_builtins(kept)
        if heard and target is not None:
            write_whole(target, encoded(document), what="calibration")
        if as_json:
            print_document(document)
        else:
            where = None if target is None else display(target, loaded.root)
            print_lines(audit_lines(kept, docket.traces, repeats if mode == "live" else 1, where if heard else None))
    except InputError as error:
        refuse(error)
    else:
        if not heard:
            say(f"error: {one_line(_silence(found))}; nothing was saved")
        sys.exit((0 if found.usable else 1) if heard else 3)


def _config(suite: Suite) -> JudgeConfig:
    config = judge_config(suite)
    if config is None:
        raise SuiteError(Problem("there is no judge to audit: the suite has no judge_config", suite.file))
    if not suite.may_ask:
        raise SuiteError(Problem("no scenario asks a judge anything, so there is nothing to audit", suite.file))
    return config


def _docket(suite: Suite, sources: list[Source], labels: str) -> Docket:
    said = read_labels(Path(labels), labels)
    read = (trace for source in sources for trace in read_source(source, BadLines(source, skip=False)))
    return docket_of(suite, read, said, labels)


def _target(config: JudgeConfig, suite: Suite, output: str | None) -> Path | None:
    """Where the calibration goes: where the command says, else where a run looks for it, else nowhere."""
    if output is not None:
        return Path(output)
    wanted = config.require_calibration or config.calibration is not None
    return calibration_path(config, suite.folder) if wanted else None


def _ask(suite: Suite, docket: Docket, mode: Mode, repeats: int, canaries: bool, bar: Bar) -> Audit:
    """Live judges are asked afresh in every round: a remembered verdict says nothing about the judge of today."""
    with open_judges(suite, mode, bar.asked, remember=mode == "cached") as judges:
        if mode == "cached":
            return audit(docket.rated, docket.overruled, [judges.ask], "remembered verdicts are no test of it")
        ask = _afresh(judges)
        return audit(docket.rated, docket.overruled, [ask] * repeats, ask if canaries else "--canaries was not given")


def _afresh(judges: Judges) -> Callable[[Sequence[Question]], list[Heard]]:
    def ask(questions: Sequence[Question]) -> list[Heard]:
        judges.forget()
        return judges.ask(questions)

    return ask


def _silence(found: Audit) -> str:
    reason = f": {found.no_verdict}" if found.no_verdict else ""
    return f"the judges gave no verdict on {found.unanswered} of {found.labels} labels{reason}"
