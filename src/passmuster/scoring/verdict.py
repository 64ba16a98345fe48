"""From a tally to a verdict: what every test and scenario came to, the gate, and the exit code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import to_builtins
from msgspec.structs import replace

from passmuster._version import __version__
from passmuster.checks.outcome import Status, Violation, worst
from passmuster.checks.spec import spec_of
from passmuster.problems import Problem, SuiteError, did_you_mean
from passmuster.scoring.gate import exit_code_of, gate_lines
from passmuster.scoring.report import (
    Attempt,
    Behaviors,
    Metric,
    Provenance,
    Report,
    RuleReport,
    ScenarioReport,
    TestReport,
    TraceCounts,
)
from passmuster.scoring.settings import Settings
from passmuster.scoring.stats import plain_stats
from passmuster.scoring.tally import Found, ScenarioTally, Tally, TestTally
from passmuster.suite.model import Scenario, Suite, Test
from passmuster.traces.locate import Spot

__all__ = ["Settings", "conclude"]


def conclude(suite: Suite, tally: Tally, settings: Settings, lines: Mapping[Spot, int]) -> Report:
    """The verdict of a suite, from everything that was counted."""
    tests = [_test_report(suite, test, counted, lines) for test, counted in zip(suite.tests, tally.tests, strict=True)]
    _refuse_idle_tags(suite, tests)
    chosen = [scenario for scenario in suite.scenarios if scenario.selected]
    scenarios = [_scenario_report(suite, one, tally.scenarios[one.id], lines) for one in chosen]
    gate = gate_lines(suite, tests, chosen, scenarios, tally, settings)
    exit_code = exit_code_of(gate)
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
        "baseline": settings.baseline,
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
        stats=_stats(tally),
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
    status: Status = "skip" if tally.runs else "missing"
    for one in tally.statuses:
        status = worst(status, one)
    score = {"missing": None, "skip": None, "pass": 1.0, "warn": 1.0}.get(status, 0.0)
    return ScenarioReport(
        id=scenario.id,
        category=scenario.category,
        status=status,
        score=score,
        weight=1.0,
        runs=tally.runs,
        layers=to_builtins(tally.shown.layers) if tally.shown else {},
        behaviors=Behaviors(),
        attempts=[
            Attempt(
                run.trace_id or _name(run.spot, lines) or "",
                run.status,
                1.0 if run.status in ("pass", "warn") else 0.0,
                run.message,
            )
            for run in tally.kept
        ],
        file=suite.file,
        line=scenario.line,
    )


def _metrics(suite: Suite, tally: Tally) -> dict[str, Metric]:
    """Scores of custom metrics, averaged over traces."""
    return {
        test.id: Metric(counted.score_sum.mean(counted.scores), counted.scores)
        for test, counted in zip(suite.tests, tally.tests, strict=True)
        if counted.scores
    }
