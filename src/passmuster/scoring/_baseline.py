"""A baseline: the metrics of a recorded run, and the result of each scenario and test.

It holds no time except a given day: saving the same run twice gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated

from msgspec import Meta, Struct

from passmuster._version import __version__
from passmuster.checks import Golden, Status
from passmuster.scoring._report import Report, ScenarioReport, TestReport
from passmuster.scoring._scenario_runs import ScenarioRuns
from passmuster.suite import Suite

BASELINE_SCHEMA = "passmuster.baseline/1"

Count = Annotated[int, Meta(ge=0)]


class Share(Struct, frozen=True, omit_defaults=True):
    """How many runs passed of those that count."""

    passed: Count
    counted: Count
    broken: Count = 0
    """How many of them infrastructure or a judge broke."""

    def __post_init__(self) -> None:
        if self.passed + self.broken > self.counted:
            raise ValueError(f"{self.passed} passed and {self.broken} broken are more than {self.counted} runs")

    @property
    def fraction(self) -> float | None:
        """Passed / decided runs; None where none was decided."""
        decided = self.counted - self.broken
        return self.passed / decided if decided else None


class RecordedScenario(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One scenario over its runs; figures are means over the runs that have them."""

    status: Status
    category: str | None = None
    weight: float = 1.0
    required: bool = False
    exercised: bool = True
    """Whether anything could be decided about it."""
    runs: Count = 0
    passed: Share
    correct: Share | None = None
    """The same for correctness, where that is stated."""
    score: float | None = None
    behaviors: float | None = None
    """The score, where behaviors are stated and no error left it open."""
    latency_ms: float | None = None
    cost_usd: float | None = None
    tokens: float | None = None
    scores: tuple[float, ...] | None = None
    """The score of each run, where `behaviors` has a value. These lists are of 1,000 runs at most."""
    durations_ms: tuple[float, ...] | None = None
    costs_usd: tuple[float, ...] | None = None
    tokens_used: tuple[float, ...] | None = None
    golden: Golden | None = None
    """What path and cost are compared with: every tool sequence that was seen, and the median cost."""


class RecordedMetric(Struct, frozen=True, omit_defaults=True):
    """One number about the whole suite."""

    value: float
    n: int
    ci95: tuple[float, float] | None = None


class RecordedTest(Struct, frozen=True):
    """One test over all traces."""

    status: Status
    exercised: bool


class Baseline(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One recorded run of a suite."""

    schema: str
    suite: str
    suite_sha256: str
    version: str
    """Of the program that recorded it."""
    agent_version: str | None = None
    day: str | None = None
    verdict: str
    metrics: dict[str, RecordedMetric]
    tests: dict[str, RecordedTest]
    scenarios: dict[str, RecordedScenario]

    def golden(self) -> dict[str, Golden]:
        """What path and cost checks are compared with, per scenario."""
        return {id_: one.golden for id_, one in self.scenarios.items() if one.golden is not None}


def baseline_of(
    suite: Suite,
    chosen: Iterable[ScenarioRuns],
    report: Report,
    golden: Mapping[str, Golden],
    *,
    day: str | None = None,
) -> Baseline:
    """The record of a whole run; `golden` is what its traces show, per scenario."""
    return Baseline(
        schema=BASELINE_SCHEMA,
        suite=suite.name,
        suite_sha256=suite.sha256,
        version=__version__,
        agent_version=report.agent_version,
        day=day,
        verdict=report.verdict,
        metrics={
            name: RecordedMetric(one.value, one.n, one.ci95)
            for name, one in sorted(report.metrics.items())
            if one.value is not None
        },
        tests=recorded_tests(report.tests),
        scenarios=recorded_scenarios(suite, chosen, report.scenarios, golden),
    )


def recorded_tests(tests: Iterable[TestReport]) -> dict[str, RecordedTest]:
    """The tests by id."""
    return {test.id: RecordedTest(test.status, test.exercised) for test in tests}


def recorded_scenarios(
    suite: Suite,
    chosen: Iterable[ScenarioRuns],
    reports: Iterable[ScenarioReport],
    golden: Mapping[str, Golden] | None = None,
) -> dict[str, RecordedScenario]:
    """The scenarios by id, in the order of the suite."""
    required = {listed.id for listed in suite.required}
    return {
        one.scenario.id: _recorded(one, report, one.scenario.id in required, (golden or {}).get(one.scenario.id))
        for one, report in zip(chosen, reports, strict=True)
    }


def _recorded(one: ScenarioRuns, report: ScenarioReport, required: bool, golden: Golden | None) -> RecordedScenario:
    tally = one.tally
    return RecordedScenario(
        status=report.status,
        category=one.scenario.category,
        weight=one.weight,
        required=required,
        exercised=report.status not in ("skip", "missing", "not_run"),
        runs=tally.runs,
        passed=_share(one.runs()),
        correct=_share(one.correct_runs()) if one.scenario.states_correctness else None,
        score=report.score,
        behaviors=_behaviors(one),
        scores=_scores(one),
        durations_ms=_figures(tally.run_figures("duration_ms")),
        costs_usd=_figures(tally.run_figures("cost_usd")),
        tokens_used=_figures(tally.run_figures("tokens")),
        latency_ms=tally.duration.mean(),
        cost_usd=tally.cost.mean(),
        tokens=tally.tokens.mean(),
        golden=golden,
    )


def _figures(values: list[float]) -> tuple[float, ...] | None:
    return tuple(values) or None


def _scores(one: ScenarioRuns) -> tuple[float, ...] | None:
    if _behaviors(one) is None:
        return None
    one.tally.cut()
    return tuple(run.score for run in one.tally.kept if run.score is not None) or (0.0,)


def _share(runs: tuple[int, int, int]) -> Share:
    passed, broken, counted = runs
    return Share(passed, counted, broken)


def _behaviors(one: ScenarioRuns) -> float | None:
    """The score by behaviors; 0 for a scenario that never ran."""
    tally = one.tally
    if not one.scenario.expected_behaviors:
        return None
    if not tally.scored:
        return None if tally.runs else 0.0
    return tally.score.mean(tally.scored) if tally.score.value() == tally.score_if.value() else None
