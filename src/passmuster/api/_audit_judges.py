"""How good the judges of a suite are: compared with people, with checks, and with themselves."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct, to_builtins

from passmuster._problems import Problem, SuiteError
from passmuster.api._inputs import StandardInput, trace_files
from passmuster.api._load_suite import load_suite
from passmuster.api._output_files import check_writable, write_file
from passmuster.checks import JudgeAnswer, Question
from passmuster.engine import AuditCases, OnProgress, audit_cases, open_judges, redactor_of
from passmuster.judges import (
    MOST_UNANSWERED,
    Audit,
    Calibration,
    JudgeConfig,
    Judges,
    audit,
    calibration_of,
    calibration_path,
    config_of,
    read_labels,
)
from passmuster.reports import encoded
from passmuster.suite import Suite, display
from passmuster.traces import BadLines, read_source


class AuditOptions(Struct, frozen=True, kw_only=True):
    """How judges are audited."""

    labels: str
    """The file with what people say."""
    traces: tuple[str, ...] = ()
    trace_format: str | None = None
    accept_loss: bool = False
    repeats: int = 3
    canaries: bool = False
    judge: Literal["live", "cached"] = "live"
    output: str | None = None
    valid_days: int = 90
    today: datetime.date | None = None
    """The day of the audit; None: today, UTC."""
    root: str | None = None
    plugins: bool = True


class JudgeAudit(Struct, frozen=True):
    """The calibration that an audit came to. Secrets are hidden in all of it."""

    calibration: Calibration
    traces: int
    rounds: int
    """How often each question was asked."""
    saved: str | None
    """The file it was written to."""
    silence: str | None
    """Why it was not: too few answers."""


def audit_judges(path: str | None, options: AuditOptions, *, on_progress: OnProgress | None = None) -> JudgeAudit:
    """Audit the judges of a suite and write their calibration.

    Raises `InputError` for mistakes in the input and `OutsideError` where a part outside this program failed.
    """
    suite = load_suite(path, root=options.root, plugins=options.plugins)
    config = _config(suite)
    with StandardInput() as stdin:
        sources = trace_files(suite, options.traces, stdin, options.trace_format)
        labels = read_labels(Path(options.labels), options.labels)
        accept = options.accept_loss
        read = (trace for one in sources for trace in read_source(one, BadLines(one, False, accept)))
        cases = audit_cases(suite, read, labels, options.labels)
    target = _target(config, suite, options.output)
    if target is not None:
        inputs = [*suite.documents, *(source.path for source in sources), options.labels]
        check_writable([target], inputs=inputs, what="calibration")
    found = _ask(suite, cases, options, on_progress)
    redactor = redactor_of(suite)
    today = options.today or datetime.datetime.now(datetime.UTC).date()
    calibration = calibration_of(suite.file, config.members, found, today, options.valid_days, redactor)
    silence = _silence(calibration.audit)
    if silence is None and target is not None:
        write_file(target, encoded(to_builtins(calibration)), what="calibration")
    return JudgeAudit(
        calibration,
        cases.traces,
        options.repeats if options.judge == "live" else 1,
        display(target, suite.root) if silence is None and target is not None else None,
        silence,
    )


def _config(suite: Suite) -> JudgeConfig:
    config = config_of(suite)
    if config is None:
        raise SuiteError(Problem("there is no judge to audit: the suite has no judge_config", suite.file))
    if not suite.may_ask:
        raise SuiteError(Problem("no scenario asks a judge anything, so there is nothing to audit", suite.file))
    return config


def _target(config: JudgeConfig, suite: Suite, output: str | None) -> Path | None:
    """Where the calibration goes: where the options say, else where a run looks for it, else nowhere."""
    if output is not None:
        return Path(output)
    wanted = config.require_calibration or config.calibration is not None
    return calibration_path(config, suite.folder) if wanted else None


def _ask(suite: Suite, cases: AuditCases, options: AuditOptions, on_progress: OnProgress | None) -> Audit:
    """Live judges are asked again in every round: a stored verdict says nothing about the judge of today."""

    def asked(done: int, total: int) -> None:
        if on_progress is not None:
            on_progress("asking judges", done, total)

    cached = options.judge == "cached"
    with open_judges(suite, options.judge, asked, remember=cached) as judges:
        if cached:
            return audit(cases.rated, cases.overruled, [judges.ask], "cached verdicts cannot measure it")
        ask = _asking_again(judges)
        canaries = ask if options.canaries else "--canaries was not given"
        return audit(cases.rated, cases.overruled, [ask] * options.repeats, canaries)


def _asking_again(judges: Judges) -> Callable[[Sequence[Question]], list[JudgeAnswer]]:
    def ask(questions: Sequence[Question]) -> list[JudgeAnswer]:
        judges.forget()
        return judges.ask(questions)

    return ask


def _silence(found: Audit) -> str | None:
    if found.unanswered <= MOST_UNANSWERED * found.labels:
        return None
    reason = f": {found.no_verdict}" if found.no_verdict else ""
    return f"the judges gave no verdict on {found.unanswered} of {found.labels} labels{reason}"
