"""Turns a tally into a report: results of tests and scenarios, metrics, gate and exit code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace

from passmuster._problems import Problem, SuiteError, did_you_mean
from passmuster._version import __version__
from passmuster.checks import Status, Violation, spec_of, uncovered_tools, worst
from passmuster.scoring._gate import exit_code_of, gate_lines
from passmuster.scoring._metric import Measured
from passmuster.scoring._metrics import measure
from passmuster.scoring._report import (
    GateLine,
    GroupReport,
    Metric,
    Provenance,
    Report,
    RuleReport,
    SampleReport,
    ScenarioCounts,
    ScenarioReport,
    Stage,
    TestReport,
    TraceCounts,
)
from passmuster.scoring._scenario_report import place_of, scenario_report
from passmuster.scoring._scenario_runs import ScenarioRuns, scenario_runs
from passmuster.scoring._scenario_tally import Figures
from passmuster.scoring._settings import Settings, agent_version
from passmuster.scoring._stats import plain_stats
from passmuster.scoring._tally import Found, Tally, TestTally
from passmuster.scoring._tolerance import Tolerance, tolerances
from passmuster.suite import Scenario, Suite, Test
from passmuster.traces import Spot

if TYPE_CHECKING:
    from passmuster.scoring._baseline import Baseline
    from passmuster.scoring._pool import Pool


def conclude(
    suite: Suite,
    tally: Tally,
    settings: Settings,
    lines: Mapping[Spot, int],
    baseline: Baseline | None = None,
    pool: Pool | None = None,
) -> Report:
    """The report of a suite, from the tally of its traces and, where there are, a baseline and a pool of runs."""
    tally.settle()
    for id_, runs in settings.skipped_runs.items():
        tally.scenarios[id_].not_run = runs
    tests = [_test_report(suite, test, counted, lines) for test, counted in zip(suite.tests, tally.tests, strict=True)]
    if not settings.some_traces:
        _refuse_idle_tags(suite, tests)
    chosen = scenario_runs(suite, [one for one in suite.scenarios if _is_chosen(one, tally, settings)], tally)
    if settings.some_traces:  # which may leave out some of the runs that a scenario asks for
        chosen = [replace(one, scenario=replace(one.scenario, repeat=1)) for one in chosen]
    scenarios = [scenario_report(suite, one, lines) for one in chosen]
    # What a run of some scenarios used up says nothing: its traces are those of all scenarios.
    figures = None if settings.only or settings.tags else tally.figures
    measured = _measured(suite, chosen, tally, figures)
    about_suite, known, stages = _about_suite(suite, chosen, measured, tally, settings)
    incomplete = settings.partial or bool(settings.skipped_runs)
    if baseline is not None and not incomplete:
        from passmuster.scoring._baseline_gate import baseline_lines

        about_suite += baseline_lines(suite, baseline, chosen, scenarios, tests, measured)
    wanted = suite.baseline.pool if suite.baseline else None
    if wanted is not None and not incomplete:
        from passmuster.scoring._baseline_gate import pool_lines
        from passmuster.scoring._pool import Pool

        about_suite += pool_lines(suite, pool or Pool(wanted), chosen, scenarios, measured)
    gate = gate_lines(
        suite, tests, list(zip(chosen, scenarios, strict=True)), about_suite, known, tally, settings, lines
    )
    stopped = settings.early_stop
    if stopped is not None:
        from passmuster.scoring._stopped_gate import stopped_gate, with_savings

        gate, stopped = stopped_gate(suite, tally, settings, gate), with_savings(stopped, figures)
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
        metrics=_metrics(suite, measured, settings),
        live=settings.live.summary if settings.live else None,
        gate=gate,
        tests=tests,
        scenarios=scenarios,
        scenario_counts=_counted(chosen, scenarios),
        groups=_groups(suite, tally),
        sample=_sample(suite, tally, settings),
        traces=TraceCounts(tally.read + tally.left_out.total, tally.read, tally.unmatched, tally.bad_lines),
        provenance=Provenance(__version__, suite.sha256, _options(settings), suite.policy_digests()),
        tools=dict(sorted(figures.tools.items())) if figures else {},
        uncovered_tools=uncovered_tools(suite, tally.tools_seen),
        stages=stages,
        judging=tally.judging.reported(),
        root=str(suite.root),
        early_stop=stopped,
    )


def _is_chosen(scenario: Scenario, tally: Tally, settings: Settings) -> bool:
    """Whether a report has the scenario: one without a trace was not asked to run where traces were left out."""
    return scenario.selected and (not settings.some_traces or tally.scenarios[scenario.id].runs > 0)


def _groups(suite: Suite, tally: Tally) -> list[GroupReport]:
    if tally.groups is None:
        return []
    from passmuster.scoring._group_report import group_reports  # late, for few runs group their traces

    return group_reports(tally.groups, suite.tests)


def _sample(suite: Suite, tally: Tally, settings: Settings) -> SampleReport | None:
    if settings.sample is None:
        return None
    from passmuster.scoring._group_report import sample_report

    return sample_report(settings.sample, tally, suite.tests)


def _counted(chosen: Sequence[ScenarioRuns], scenarios: Sequence[ScenarioReport]) -> ScenarioCounts | None:
    """The scenarios by their status, and their runs."""
    if not scenarios:
        return None
    passed = sum(one.status in ("pass", "warn") for one in scenarios)
    skipped = sum(one.status == "skip" for one in scenarios)
    every = sum(one.status in ("pass", "warn") and one.pass_rate == 1 for one in scenarios)
    not_run = sum(one.status == "not_run" for one in scenarios)
    runs = [one.runs() for one in chosen if one.tally.runs]
    return ScenarioCounts(
        total=len(scenarios),
        passed=passed,
        failed=len(scenarios) - passed - skipped - not_run,
        skipped=skipped,
        passed_every_run=every,
        runs=sum(counted for _, _, counted in runs),
        runs_passed=sum(done for done, _, _ in runs),
        not_run=not_run,
    )


def _options(settings: Settings) -> dict[str, bool | str | list[str] | None]:
    sweep: dict[str, bool | str | list[str] | None] = {
        "sample": None if settings.sample is None else f"{settings.sample * 100:.12g}%",
        "since": settings.since.isoformat() if settings.since else None,
        "until": settings.until.isoformat() if settings.until else None,
        "group_by": list(settings.group_by) or None,
    }
    return {
        **({"live": True} if settings.live else {}),
        "strict": settings.strict,
        "only": list(settings.only),
        "tag": list(settings.tags),
        "skip_bad_lines": settings.skip_bad_lines,
        "accept_loss": settings.accept_loss,
        "format": settings.trace_format,
        "baseline": settings.baseline,
        "judge": settings.judge,
        "prices": settings.prices,
        "agent_version": settings.agent_version,
        "today": settings.today.isoformat(),
        **{name: value for name, value in sweep.items() if value is not None},
    }


def _test_report(suite: Suite, test: Test, tally: TestTally, lines: Mapping[Spot, int]) -> TestReport:
    status: Status = "skip" if tally.statuses else "warn"
    for one in tally.statuses:
        status = worst(status, one)
    outside = 0 < tally.undecided == tally.statuses.get("error", 0)
    if outside and "fail" in tally.statuses:
        status = "fail"  # what is broken stays broken, whatever else could not be decided
    stated = spec_of(test).stated_rules()
    expected_idle = bool(stated) and all(rule.allow_unexercised for rule in stated)
    if not tally.exercised and status == "pass" and not expected_idle:
        status = "warn"  # what never fired is not a pass
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
            RuleReport(
                rule.type,
                rule.line,
                "fail" if violated else "pass",
                exercised,
                violated,
                rule.description,
                rule.allow_unexercised or None,
            )
            for rule, exercised, violated in zip(stated, tally.exercised_rules, tally.violated, strict=True)
        ],
        violations=[_placed(found, lines) for found in tally.found],
        violation_count=tally.violations,
        waived_count=tally.waived,
        stats=_stats(tally),
        duration_ms=round(tally.duration_ns / 1e6, 3),
        error=_broken(tally, lines),
        skipped_traces=tally.statuses.get("skip", 0),
        outside_error=(outside and status == "error") or None,
        skip_reason=min(tally.skipped) if tally.skipped else None,
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
) -> tuple[list[GateLine], list[Tolerance], list[Stage]]:
    """The lines about the suite as a whole, what they tolerate, and the stages of progressive thresholds. A partial run
    has none of them."""
    if settings.partial or not suite.states_bounds:
        return [], [], []
    from passmuster.scoring._suite_gate import blocking_bounds, reported_stages, stages_of, suite_lines

    staged = stages_of(suite, settings, tally)
    lines = list(suite_lines(suite, chosen, measured, staged))
    return lines, tolerances(suite, blocking_bounds(suite, staged)), reported_stages(staged, measured)


def _metrics(suite: Suite, measured: dict[str, Measured], settings: Settings) -> dict[str, Metric]:
    """The metrics that have a value, and those without one that the suite names; no totals of a sample."""
    if settings.sample is not None:
        measured = {name: one for name, one in measured.items() if not name.startswith("total_")}
    named: list[str] = []
    if suite.states_bounds or suite.baseline is not None:
        from passmuster.scoring._suite_gate import named_metrics

        named = named_metrics(suite)
    return {name: one.reported() for name, one in measured.items() if one.value is not None or name in named}
