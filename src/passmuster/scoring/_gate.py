"""The gate: one line for each reason of the verdict, and the exit code that follows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec.structs import replace

from passmuster._problems import did_you_mean, plural
from passmuster.checks import KnownTools
from passmuster.scoring._live_runs import live_lines
from passmuster.scoring._report import GateLine, Kind, ScenarioReport, TestReport
from passmuster.scoring._scenario_runs import ScenarioRuns
from passmuster.scoring._settings import Settings
from passmuster.scoring._tally import Tally
from passmuster.scoring._test_lines import idle_rule_lines, misspelt_lines, test_lines
from passmuster.scoring._tolerance import OPTIONAL, Tolerance, tolerated_by
from passmuster.suite import Suite
from passmuster.traces import Spot

_ELSEWHERE = "not on the run shown"
_HINTS = 10
"""Unknown ids that get a did-you-mean hint: finding one is slow in large suites."""


def gate_lines(
    suite: Suite,
    tests: list[TestReport],
    scenarios: list[tuple[ScenarioRuns, ScenarioReport]],
    about_suite: Sequence[GateLine],
    known: Sequence[Tolerance],
    tally: Tally,
    settings: Settings,
    lines: Mapping[Spot, int],
) -> list[GateLine]:
    """Every line: about tests, scenarios, the suite as a whole, judges and the input."""
    tools = KnownTools(suite, tally.tools_seen)
    gate = [
        *test_lines(suite, tests, tools),
        *idle_rule_lines(suite, tests, tools),
        *(line for one, report in scenarios for line in scenario_lines(suite, one, report, known)),
        *about_suite,
        *_calibration_line(suite, settings),
        *_bad_lines(tally),
        *tally.losses.lines(lines),
        *tally.left_out.lines(),
        *_grouping_lines(tally),
        *live_lines(settings.live),
        *([] if settings.partial else [*_input_lines(suite, tally, settings), *misspelt_lines(suite, tools)]),
    ]
    if settings.strict:
        gate = [strict_line(line) for line in gate]
    judges = list(_judge_lines(suite, [one for one, _ in scenarios]))
    if settings.strict and settings.judge == "off":  # an earlier failure spared no judge that would have been asked
        judges = [strict_line(line) for line in judges]
    return [*gate, *judges]


def exit_code_of(gate: list[GateLine]) -> int:
    """1 for a blocking failure, 3 where only infrastructure or judges failed, else 0."""
    blocking = [line for line in gate if line.level == "blocking" and line.status != "pass"]
    outside = [line for line in blocking if line.status == "error" and line.kind != "test"]
    if len(outside) < len(blocking):
        return 1
    return 3 if outside else 0


def scenario_lines(
    suite: Suite, one: ScenarioRuns, report: ScenarioReport, known: Sequence[Tolerance]
) -> Iterator[GateLine]:
    if report.status == "not_run":
        return
    status: Literal["pass", "fail", "error"] = "pass"
    level: Literal["blocking", "warning"] = "blocking"
    tolerated = None
    message = status_reason(report)
    if report.status in ("missing", "fail", "error"):
        status = "error" if report.status == "error" else "fail"
        tolerated = tolerated_by(one, report, known)
        if tolerated is None and one.tally.open_ways and tolerated_by(one, report, known, left_open=False):
            status = "error"  # how it failed for certain is tolerated; what else a judge left open is not
    elif report.status in ("warn", "skip"):
        status, level = "fail", "warning"
        tolerated = OPTIONAL if one.optional else None
    yield GateLine(
        kind="scenario",
        id=report.id,
        level="warning" if tolerated else level,
        status=status,
        message=message,
        actual=report.status,
        expected="pass",
        tolerated_by=tolerated,
        file=suite.file,
        line=report.line,
    )
    if one.required_at is not None:
        yield _required_line(suite, one.required_at, report, message)
    excused = report.status in ("missing", "fail", "error") and tolerated is not None
    for warning in _warnings(suite, one, report, excused):
        yield replace(warning, tolerated_by=OPTIONAL) if one.optional else warning


def _warnings(suite: Suite, one: ScenarioRuns, report: ScenarioReport, excused: bool) -> Iterator[GateLine]:
    """The warnings about a scenario besides its own line; `excused` says that this line is a tolerated failure."""

    def warning(kind: Kind, message: str, actual: Any = None, expected: Any = None, by: str | None = None) -> GateLine:
        return GateLine(kind, report.id, "warning", "fail", message, actual, expected, by, suite.file, report.line)

    tally, runs = one.tally, plural(report.runs, "run")
    if tally.warned and excused:  # a failure that is tolerated does not excuse what warns besides
        reasons = _why(report, "warn") or _ELSEWHERE
        yield warning("scenario", f"checks warned on {tally.warned} of {runs}: {reasons}", "warn", "pass")
    failed = tally.runs - sum(tally.statuses.get(status, 0) for status in ("pass", "warn", "skip"))
    if failed and report.status in ("pass", "warn"):
        message = f"{failed} of {runs} did not pass: {_why(report, 'fail') or _ELSEWHERE}"
        yield warning("scenario", message, failed, 0, "repeat_policy")
    if tally.skipped and report.status != "skip":
        reasons = _why(report, "skip") or _ELSEWHERE
        yield warning("vacuous", f"checks were skipped on {tally.skipped} of {runs}: {reasons}")
    if tally.unheard and report.status in ("pass", "warn"):
        silent = plural(sum(tally.unheard.values()), "question")
        yield warning("vacuous", f"it passed, though {silent} to judges had no verdict: {min(tally.unheard)}")
    for name, times in sorted(tally.idle.items()):
        yield warning("vacuous", f"the behavior '{name}' was not exercised on {times} of {runs}")
    if not one.scenario.states_something:  # a test that names it changes nothing: one more test never gives less
        yield warning("vacuous", "checks nothing: it states no expectation")
    if 0 < report.runs < (wanted := one.scenario.repeat - tally.not_run):
        yield warning("input", f"{runs} of {wanted}: fewer traces than 'repeat' states", report.runs, wanted)


def _required_line(suite: Suite, required_at: int, report: ScenarioReport, message: str) -> GateLine:
    """A required scenario has to pass; one that could not be evaluated has not."""
    status: Literal["pass", "fail", "error"] = "pass" if report.status in ("pass", "warn") else "fail"
    return GateLine(
        kind="required",
        id=report.id,
        level="blocking",
        status="error" if report.status == "error" else status,
        message=message,
        actual=report.status,
        expected="pass",
        file=suite.file,
        line=required_at,
    )


def status_reason(report: ScenarioReport) -> str:
    """The reason for a scenario's status."""
    match report.status:
        case "missing":
            return "no trace belongs to this scenario: it never ran"
        case "error":
            return f"could not be evaluated: {_why(report, 'error') or _fault(report, 'error')}"
        case "fail" if report.undecided:
            why = _why(report, "skip")
            told = f"could not be decided, and the scenario is required: {', '.join(report.undecided)}"
            return f"{told} ({why})" if why else told
        case "fail":
            why = _why(report, "fail")
            fault = _fault_of_worst_run(report) if why else _fault(report, "fail")
            return "; ".join(filter(None, (f"the agent failed: {fault}" if fault else "", why)))
        case "warn" | "skip":
            return _why(report, report.status) or "nothing could be decided"
        case _:
            passed = sum(attempt.status in ("pass", "warn") for attempt in report.attempts)
            some = report.runs == len(report.attempts) and passed < report.runs
            return f"{passed} of {plural(report.runs, 'run')} passed" if some else plural(report.runs, "run")


def _judge_lines(suite: Suite, scenarios: Sequence[ScenarioRuns]) -> Iterator[GateLine]:
    """Questions without a verdict, in one line. The scenarios' own lines decide, so `--strict` changes nothing here."""
    reasons: dict[str, int] = {}
    spared = 0
    for one in scenarios:
        spared += one.tally.spared
        for reason, times in one.tally.unheard.items():
            reasons[reason] = reasons.get(reason, 0) + times
    if reasons:
        first = min(reasons)
        why = first if first.startswith("no verdict") else f"no verdict: {first}"
        message = f"{plural(sum(reasons.values()), 'question')} had {why}"
        yield GateLine("judge", "no_verdict", "warning", "error", message, actual=sum(reasons.values()), expected=0)
    if spared:
        message = f"judges were not asked on {plural(spared, 'run')}, because an earlier check failed"
        yield GateLine("judge", "not_asked", "warning", "fail", message, actual=spared)


def _calibration_line(suite: Suite, settings: Settings) -> Iterator[GateLine]:
    """Why judges can only warn; an ordinary warning, so that `--strict` blocks."""
    if settings.uncalibrated is None:
        return
    remedy = f"run `passmuster judge audit {suite.file} --labels FILE`"
    message = f"judges can only warn: {settings.uncalibrated}; {remedy}"
    yield GateLine("judge", "calibration", "warning", "fail", message, file=suite.file, line=settings.uncalibrated_at)


def _why(report: ScenarioReport, status: str) -> str:
    """The checks of the shown run with this status, each with its reason; a check that broke counts as failed."""
    wanted = (status, "error") if status == "fail" else (status,)
    told = [
        f"{check.name}: {check.message}"
        for layer in report.layers.values()
        for check in layer.checks
        if check.status in wanted
    ]
    behaviors = report.behaviors
    lists = {
        "fail": (("must not", behaviors.violated), ("not observed", behaviors.missing)),
        "error": (("no verdict on", behaviors.undecided),),
        "skip": (("undecided", behaviors.undecided),),
    }
    told += [f"{words}: {', '.join(names)}" for words, names in lists.get(status, ()) if names]
    if status in lists:
        told += behaviors.reasons_for("skip") if status == "skip" else behaviors.reasons
    return "; ".join(told)


def _fault(report: ScenarioReport, status: str) -> str:
    return next((run.message for run in report.attempts if run.status == status and run.message), "no reason recorded")


def _fault_of_worst_run(report: ScenarioReport) -> str:
    """Why the agent itself failed on the run whose checks are shown; that explains what they miss."""
    worst = report.worst_run.trace_id if report.worst_run else None
    shown = (run.message for run in report.attempts if run.status == "fail" and run.trace_id == worst)
    return next(shown, None) or ""


def _bad_lines(tally: Tally) -> Iterator[GateLine]:
    if tally.bad_lines:
        were = "was" if tally.bad_lines == 1 else "were"
        message = f"{plural(tally.bad_lines, 'line')} could not be read and {were} skipped"
        yield GateLine("input", "bad_lines", "warning", "fail", message)


def _grouping_lines(tally: Tally) -> Iterator[GateLine]:
    """For the record: what is not told exactly because there is too much of it."""
    if tally.groups is not None:
        from passmuster.scoring._group_report import group_lines  # late, for few runs group their traces

        yield from group_lines(tally.groups)
    if tally.figures is not None and tally.figures.durations.bins:
        message = f"percentiles of {tally.figures.durations.known} durations are those of bins 0.8 % wide at most"
        yield GateLine("input", "latency", "warning", "pass", message)


def _input_lines(suite: Suite, tally: Tally, settings: Settings) -> Iterator[GateLine]:
    def line(id_: str, message: str, at: int | None = None) -> GateLine:
        return GateLine("input", id_, "warning", "fail", message, file=suite.file if at else None, line=at)

    ids = [scenario.id for scenario in suite.scenarios]
    for number, name in enumerate(sorted(tally.unknown_scenarios)):
        hint = did_you_mean(name, ids) if number < _HINTS else ""
        times = plural(tally.unknown_scenarios[name], "trace")
        yield line(name, f"the suite does not have this scenario, which {times} named{hint}")
    for query in sorted(tally.ambiguous_queries):
        yield line(
            query,
            f"by its query {plural(tally.ambiguous_queries[query], 'trace')} fitted all of these; state 'scenario'",
        )
    if tally.unmatched_agent_errors:
        yield line(
            "agent_errors",
            f"on {plural(tally.unmatched_agent_errors, 'trace')} without a scenario the agent itself failed",
        )
    for notice in suite.notices:
        yield line("suite", notice.message, notice.line)
    for waiver, used in zip(suite.waivers, tally.waivers_used, strict=True):
        id_ = f"waiver:{waiver.test}"
        if waiver.expires < settings.today:
            yield line(id_, f"the waiver '{waiver.reason}' expired on {waiver.expires.isoformat()}", waiver.line)
        elif not used:
            yield line(id_, f"the waiver '{waiver.reason}' matched no violation: remove it", waiver.line)


def strict_line(line: GateLine) -> GateLine:
    """Under `--strict` a warning blocks, unless something tolerates it."""
    if line.level == "warning" and line.status != "pass" and line.tolerated_by is None:
        return replace(line, level="blocking")
    return line
