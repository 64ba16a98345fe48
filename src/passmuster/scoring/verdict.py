"""From a tally to a verdict: every gate line with its reason, and the exit code that follows from them."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from passmuster._version import __version__
from passmuster.checks.outcome import Status, Violation, worst
from passmuster.checks.spec import spec_of
from passmuster.problems import Problem, SuiteError, did_you_mean
from passmuster.scoring.report import (
    Attempt,
    Behaviors,
    GateLine,
    Metric,
    Provenance,
    Report,
    RuleReport,
    ScenarioReport,
    TestReport,
    TraceCounts,
)
from passmuster.scoring.stats import plain_stats
from passmuster.scoring.tally import Found, ScenarioTally, Tally, TestTally
from passmuster.suite.model import Scenario, Suite, Test
from passmuster.traces.locate import Spot

__all__ = ["Settings", "conclude"]


class Settings(Struct, frozen=True, kw_only=True):
    """The options of a run that can change its verdict."""

    today: datetime.date
    strict: bool = False
    only: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    skip_bad_lines: bool = False

    @property
    def partial(self) -> bool:
        return bool(self.only or self.tags)


def conclude(suite: Suite, tally: Tally, settings: Settings, lines: Mapping[Spot, int]) -> Report:
    """The verdict of a suite, from everything that was counted."""
    tests = [_test_report(suite, test, counted, lines) for test, counted in zip(suite.tests, tally.tests, strict=True)]
    _refuse_idle_tags(suite, tests)
    chosen = [scenario for scenario in suite.scenarios if scenario.selected]
    scenarios = [_scenario_report(suite, one, tally.scenarios[one.id], lines) for one in chosen]
    gate = [
        *_test_lines(suite, tests),
        *(_idle_rule_lines(suite, tests) if settings.strict else ()),
        *_scenario_lines(suite, chosen, scenarios),
        *([] if settings.partial else _input_lines(suite, tally, settings)),
    ]
    if settings.strict:
        gate = [_tightened(line) for line in gate]
    exit_code = _exit_code(gate)
    warned = any(line.level == "warning" and line.status != "pass" for line in gate)
    verdicts: dict[int, Literal["pass", "fail", "error"]] = {0: "pass", 1: "fail", 3: "error"}
    return Report(
        suite=suite.name,
        suite_file=suite.file,
        verdict="warn" if exit_code == 0 and warned else verdicts[exit_code],
        exit_code=exit_code,
        partial=settings.partial,
        metrics=_metrics(suite, tally),
        gate=gate,
        tests=tests,
        scenarios=scenarios,
        traces=TraceCounts(tally.read, tally.read, tally.unmatched, tally.bad_lines),
        provenance=Provenance(__version__, suite.sha256, _options(settings)),
        root=str(suite.root),
    )


def _options(settings: Settings) -> dict[str, Any]:
    return {
        "strict": settings.strict,
        "only": list(settings.only),
        "tag": list(settings.tags),
        "skip_bad_lines": settings.skip_bad_lines,
        "today": settings.today.isoformat(),
    }


def _test_report(suite: Suite, test: Test, tally: TestTally, lines: Mapping[Spot, int]) -> TestReport:
    status: Status = "skip" if tally.statuses else "warn"
    for one in tally.statuses:
        status = worst(status, one)
    if not tally.exercised and status == "pass":
        status = "warn"  # what never fired is not a pass
    types = spec_of(test).rule_lines()
    tally.settle()
    return TestReport(
        id=test.id,
        metric=test.metric,
        status=status,
        exercised=tally.exercised > 0,
        severity=test.severity,
        file=suite.file,
        line=test.line,
        traces=tally.traces,
        failed_traces=sum(tally.statuses.get(bad, 0) for bad in ("fail", "error")),
        rules=[
            RuleReport(type_, line, "fail" if violated else "pass", exercised, violated)
            for (type_, line), exercised, violated in zip(types, tally.exercised_rules, tally.violated, strict=True)
        ],
        violations=[_placed(found, lines) for found in tally.found],
        violation_count=tally.violations,
        waived_count=tally.waived,
        stats={"calls_checked": tally.checked, **plain_stats(tally.stats)}
        if tally.checked
        else plain_stats(tally.stats),
        duration_ms=round(tally.duration_ns / 1e6, 3),
        error=_broken(tally, lines),
    )


def _stats(tally: TestTally) -> dict[str, Any]:
    counted = {"calls_checked": tally.checked} if tally.checked else {}
    return {**counted, **plain_stats(tally.stats)}


def _placed(found: Found, lines: Mapping[Spot, int]) -> Violation:
    violation = replace(found.violation, trace_line=lines.get(found.spot))
    return violation if violation.trace_id is not None else replace(violation, trace_id=_name(found.spot, lines))


def _name(spot: Spot, lines: Mapping[Spot, int]) -> str | None:
    """What a trace without an id is called: the place it stands in."""
    return f"{spot.file}:{lines[spot]}" if spot in lines else spot.file or None


def _broken(tally: TestTally, lines: Mapping[Spot, int]) -> str | None:
    if tally.broken is None:
        return None
    name = _name(tally.broken.spot, lines)
    return f"on the trace at {name}:\n{tally.broken.message}" if name else tally.broken.message


def _refuse_idle_tags(suite: Suite, tests: list[TestReport]) -> None:
    """A test whose tags neither a scenario nor a trace has selects nothing: the suite is wrong."""
    known = {tag for scenario in suite.scenarios for tag in scenario.tags}
    problems = [
        Problem(
            f"tests.{test.id}.tags: {', '.join(test.tags)} select nothing: no scenario and no trace has them"
            f"{did_you_mean(test.tags[0], known)}",
            suite.file,
            test.line,
        )
        for test, report in zip(suite.tests, tests, strict=True)
        if test.tags and not report.traces and not known & set(test.tags)
    ]
    if problems:
        raise SuiteError(problems)


def _scenario_report(
    suite: Suite, scenario: Scenario, tally: ScenarioTally, lines: Mapping[Spot, int]
) -> ScenarioReport:
    status: Status = "missing" if not tally.runs else "pass"
    for one in tally.statuses:
        status = worst(status, one)
    score = {"missing": None, "pass": 1.0}.get(status, 0.0)
    return ScenarioReport(
        id=scenario.id,
        category=scenario.category,
        status=status,
        score=score,
        weight=1.0,
        runs=tally.runs,
        layers={},
        behaviors=Behaviors(),
        attempts=[
            Attempt(
                run.trace_id or _name(run.spot, lines) or "",
                run.status,
                1.0 if run.status == "pass" else 0.0,
                run.message,
            )
            for run in tally.kept
        ],
        file=suite.file,
        line=scenario.line,
    )


def _many(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _test_lines(suite: Suite, tests: list[TestReport]) -> Iterator[GateLine]:
    for test in tests:
        broken = test.status == "error"
        blocks = broken or test.status == "fail" or (test.severity == "block" and test.status == "pass")
        place = {"file": suite.file, "line": test.line}
        if not test.exercised and test.status in ("pass", "warn", "skip"):
            yield GateLine("vacuous", test.id, "warning", "fail", _why_idle(test), actual=0, **place)  # type: ignore[arg-type]
            continue
        yield GateLine(
            kind="test",
            id=test.id,
            level="blocking" if blocks else "warning",
            status="error" if broken else "fail" if test.status in ("fail", "warn") else "pass",
            message=_test_message(test),
            actual=test.violation_count,
            expected=0,
            file=suite.file,
            line=test.line,
        )


def _idle_rule_lines(suite: Suite, tests: list[TestReport]) -> Iterator[GateLine]:
    """The rules that never fired in tests that did: only listed, but under `--strict` no more a pass than such a test.

    Were they let off, one more rule that fires would turn the gate of a strict run green.
    """
    for test in tests:
        for rule in test.rules if test.exercised else ():
            if not rule.exercised_on:
                message = f"the rule {rule.type} on line {rule.line} was never exercised"
                id_ = f"{test.id}:{rule.line}"
                yield GateLine("vacuous", id_, "warning", "fail", message, actual=0, file=suite.file, line=rule.line)


def _why_idle(test: TestReport) -> str:
    if not test.traces:
        return f"{test.metric} met no trace: none belongs to what its scenarios and tags select"
    return f"{test.metric} was never exercised on {_many(test.traces, 'trace')}: nothing in them is what it looks at"


def _test_message(test: TestReport) -> str:
    if test.status == "error":
        last = (test.error or "").strip().splitlines()
        return f"{test.metric} broke: {last[-1] if last else 'no reason given'}"
    if not test.violation_count:
        return f"{test.metric} held on {_many(test.traces, 'trace')}"
    text = f"{_many(test.violation_count, 'violation')} of {test.metric}"
    if test.failed_traces:
        text += f" on {test.failed_traces} of {_many(test.traces, 'trace')}"
    if test.waived_count:
        reasons = sorted({violation.waived for violation in test.violations if violation.waived})
        text += f"; {test.waived_count} waived: {'; '.join(reasons)}"
    return text


def _scenario_lines(suite: Suite, scenarios: list[Scenario], reports: list[ScenarioReport]) -> Iterator[GateLine]:
    named = {id_ for test in suite.tests for id_ in test.scenarios or ()}
    tagged = {tag for test in suite.tests for tag in test.tags or ()}
    for scenario, report in zip(scenarios, reports, strict=True):
        status: Literal["pass", "fail", "error"] = "pass"
        message = f"{_many(report.runs, 'run')}"
        if report.status == "missing":
            status, message = "fail", "no trace belongs to this scenario: it never ran"
        elif report.status == "error":
            status, message = "error", f"did not finish: {_fault(report, 'error')}"
        elif report.status == "fail":
            status, message = "fail", f"the agent failed: {_fault(report, 'fail')}"
        yield GateLine(
            kind="scenario",
            id=report.id,
            level="blocking",
            status=status,
            message=message,
            actual=report.status,
            expected="pass",
            file=suite.file,
            line=report.line,
        )
        if report.id not in named and not tagged & set(scenario.tags):
            message = "asks nothing: it states no expectation, and no test names it"
            yield GateLine("vacuous", report.id, "warning", "fail", message, file=suite.file, line=report.line)


def _fault(report: ScenarioReport, status: str) -> str:
    return next((run.message for run in report.attempts if run.status == status and run.message), "no reason recorded")


def _input_lines(suite: Suite, tally: Tally, settings: Settings) -> Iterator[GateLine]:
    def line(id_: str, message: str, at: int | None = None) -> GateLine:
        return GateLine("input", id_, "warning", "fail", message, file=suite.file if at else None, line=at)

    if tally.bad_lines:
        yield line("bad_lines", f"{_many(tally.bad_lines, 'line')} could not be read and were skipped")
    for name in sorted(tally.unknown_scenarios):
        hint = did_you_mean(name, [scenario.id for scenario in suite.scenarios])
        yield line(
            name, f"{_many(tally.unknown_scenarios[name], 'trace')} name a scenario the suite does not have{hint}"
        )
    for query in sorted(tally.ambiguous_queries):
        yield line(
            query, f"{_many(tally.ambiguous_queries[query], 'trace')} fit several scenarios by query; state 'scenario'"
        )
    if tally.stray_faults:
        yield line(
            "agent_errors", f"on {_many(tally.stray_faults, 'trace')} without a scenario the agent itself failed"
        )
    for waiver, used in zip(suite.waivers, tally.waivers_used, strict=True):
        id_ = f"waiver:{waiver.test}"
        if waiver.expires < settings.today:
            yield line(id_, f"the waiver '{waiver.reason}' expired on {waiver.expires.isoformat()}", waiver.line)
        elif not used:
            yield line(id_, f"the waiver '{waiver.reason}' matched no violation: remove it", waiver.line)


def _tightened(line: GateLine) -> GateLine:
    """Under `--strict` a warning blocks, unless something tolerates it."""
    if line.level == "warning" and line.status != "pass" and line.tolerated_by is None:
        return replace(line, level="blocking")
    return line


def _exit_code(gate: list[GateLine]) -> int:
    blocking = [line for line in gate if line.level == "blocking" and line.status != "pass"]
    outside = [line for line in blocking if line.status == "error" and line.kind != "test"]
    if len(outside) < len(blocking):
        return 1
    return 3 if outside else 0


def _metrics(suite: Suite, tally: Tally) -> dict[str, Metric]:
    """Scores of custom metrics, averaged over traces."""
    return {
        test.id: Metric(counted.score_sum.mean(counted.scores), counted.scores)
        for test, counted in zip(suite.tests, tally.tests, strict=True)
        if counted.scores
    }
