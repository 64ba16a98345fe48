"""Turns a tally into a report: results of tests and scenarios, metrics, gate and exit code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace

from passmuster._problems import Problem, SuiteError, did_you_mean
from passmuster._version import __version__
from passmuster.checks import Status, Violation, spec_of, worst
from passmuster.scoring._gate import exit_code_of, gate_lines
from passmuster.scoring._metric import Measured
from passmuster.scoring._metrics import measure
from passmuster.scoring._report import GateLine, Metric, Provenance, Report, RuleReport, TestReport, TraceCounts
from passmuster.scoring._scenario_report import place_of, scenario_report
from passmuster.scoring._scenario_runs import ScenarioRuns, scenario_runs
from passmuster.scoring._scenario_tally import Figures
from passmuster.scoring._settings import Settings, agent_version
from passmuster.scoring._stats import plain_stats
from passmuster.scoring._tally import Found, Tally, TestTally
from passmuster.scoring._tolerance import Tolerance, tolerances
from passmuster.suite import Suite, Test
from passmuster.traces import Spot

if TYPE_CHECKING:
    from passmuster.scoring._baseline import Baseline


def conclude(
    suite: Suite, tally: Tally, settings: Settings, lines: Mapping[Spot, int], baseline: Baseline | None = None
) -> Report:
    """The report of a suite, from the tally of its traces and, where there is one, a baseline."""
    tally.settle()
    tests = [_test_report(suite, test, counted, lines) for test, counted in zip(suite.tests, tally.tests, strict=True)]
    _refuse_idle_tags(suite, tests)
    chosen = scenario_runs(suite, [scenario for scenario in suite.scenarios if scenario.selected], tally)
    scenarios = [scenario_report(suite, one, lines) for one in chosen]
    # What a partial run used up says nothing: its traces are those of all scenarios.
    figures = None if settings.partial else tally.figures
    measured = _measured(suite, chosen, tally, figures)
    about_suite, known = _about_suite(suite, chosen, measured, tally, settings)
    if baseline is not None and not settings.partial:
        from passmuster.scoring._baseline_gate import baseline_lines

        about_suite += baseline_lines(suite, baseline, chosen, scenarios, tests, measured)
    gate = gate_lines(suite, tests, list(zip(chosen, scenarios, strict=True)), about_suite, known, tally, settings)
    exit_code = exit_code_of(gate)
    version = agent_version(suite, tally, settings)
    warned = any(line.level == "warning" and line.status != "pass" for line in gate)
    verdicts: dict[int, Literal["pass", "fail", "error"]] = {0: "pass", 1: "fail", 3: "error"}
    return Report(
        suite=suite.name,
        suite_file=suite.file,
        agent_version=version[0] if version else None,
        verdict="warn" if exit_code == 0 and warned else verdicts[exit_code],
        exit_code=exit_code,
        partial=settings.partial,
        metrics=_metrics(suite, measured),
        gate=gate,
        tests=tests,
        scenarios=scenarios,
        traces=TraceCounts(tally.read, tally.read, tally.unmatched, tally.bad_lines),
        provenance=Provenance(__version__, suite.sha256, _options(settings)),
        tools=dict(sorted(figures.tools.items())) if figures else {},
        root=str(suite.root),
    )


def _options(settings: Settings) -> dict[str, bool | str | list[str] | None]:
    return {
        "strict": settings.strict,
        "only": list(settings.only),
        "tag": list(settings.tags),
        "skip_bad_lines": settings.skip_bad_lines,
        "format": settings.trace_format,
        "baseline": settings.baseline,
        "judge": settings.judge,
        "agent_version": settings.agent_version,
        "today": settings.today.isoformat(),
    }


def _test_report(suite: Suite, test: Test, tally: TestTally, lines: Mapping[Spot, int]) -> TestReport:
    status: Status = "skip" if tally.statuses else "warn"
    for one in tally.statuses:
        status = worst(status, one)
    if not tally.exercised and status == "pass":
        status = "warn"  # what never fired is not a pass
    types = spec_of(test).rule_lines()
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
    return violation if violation.trace_id is not None else replace(violation, trace_id=place_of(found.spot, lines))


def _broken(tally: TestTally, lines: Mapping[Spot, int]) -> str | None:
    if tally.broken is None:
        return None
    name = place_of(tally.broken.spot, lines)
    return f"on the trace at {name}:\n{tally.broken.message}" if name else tally.broken.message


def _refuse_idle_tags(suite: Suite, tests: list[TestReport]) -> None:
    """Raise for a test whose tags no scenario and no trace has: it selects nothing."""
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


def _measured(
    suite: Suite, chosen: Sequence[ScenarioRuns], tally: Tally, figures: Figures | None
) -> dict[str, Measured]:
    """The metrics of a run. A suite of tests alone has only the scores of its custom metrics."""
    if not suite.asks_figures and not any(counted.scores for counted in tally.tests):
        return {}
    return measure(suite, chosen, tally, figures)


def _about_suite(
    suite: Suite, chosen: Sequence[ScenarioRuns], measured: dict[str, Measured], tally: Tally, settings: Settings
) -> tuple[list[GateLine], list[Tolerance]]:
    """The lines about the suite as a whole, and what they tolerate. A partial run has neither."""
    if settings.partial or not suite.states_bounds:
        return [], []
    from passmuster.scoring._suite_gate import blocking_bounds, stages_of, suite_lines

    staged = stages_of(suite, settings, tally)
    return list(suite_lines(suite, chosen, measured, staged)), tolerances(suite, blocking_bounds(suite, staged))


def _metrics(suite: Suite, measured: dict[str, Measured]) -> dict[str, Metric]:
    """The metrics that have a value, and those without one that the suite names."""
    named: list[str] = []
    if suite.states_bounds or suite.baseline is not None:
        from passmuster.scoring._suite_gate import named_metrics

        named = named_metrics(suite)
    return {name: one.reported() for name, one in measured.items() if one.value is not None or name in named}
