"""A metric: one number about the whole suite, declared once with all that the gate has to know of it.

A rate is the mean over scenarios of the fraction of a scenario's runs that passed; latency, tokens and cost are over
traces. An empty denominator gives no value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from passmuster.scoring._intervals import rate_interval
from passmuster.scoring._report import Metric
from passmuster.scoring._scenario_runs import RunCounts, ScenarioRuns
from passmuster.scoring._scenario_tally import Figures
from passmuster.scoring._tally import Tally
from passmuster.suite import Scenario, Suite

if TYPE_CHECKING:
    from passmuster.scoring._baseline import RecordedScenario, Share

Interval = tuple[float, float]
IntervalAt = Callable[[float], Interval | None]
"""The interval at a confidence."""


class Measured(Struct, frozen=True, kw_only=True):
    """A metric of one run."""

    value: float | None
    n: int
    interval: IntervalAt | None = None
    at_best: float | None = None
    """The value if every run with an infrastructure or judge error had passed."""
    known: int | None = None
    """How many traces state the figure, where some do not."""
    total: int | None = None
    why: str = ""
    """Why there is no value."""
    lowered_by: tuple[str, ...] = ()
    """The scenarios that keep a rate below 100 %."""

    @property
    def is_open(self) -> bool:
        """Whether infrastructure or judge errors leave the value open."""
        return self.value is not None and self.at_best is not None and abs(self.at_best - self.value) > 1e-12

    def reported(self) -> Metric:
        """As a report has it."""
        interval = self.interval(0.95) if self.interval and self.value is not None else None
        return Metric(self.value, self.n, interval, self.known, self.total)


NOT_MEASURED = Measured(value=None, n=0, why="no trace gave a score")


class Sample:
    """What metrics are measured from: the suite, its scenarios with their runs, and what the traces used."""

    def __init__(
        self,
        suite: Suite,
        scenarios: Sequence[ScenarioRuns],
        tally: Tally,
        figures: Figures,
        metrics: Mapping[str, SuiteMetric],
    ) -> None:
        self.suite, self.scenarios, self.tally, self.figures = suite, scenarios, tally, figures
        self._metrics = metrics
        self._measured: dict[str, Measured] = {}

    @cached_property
    def durations(self) -> list[float]:
        """Every known duration in milliseconds, from the shortest."""
        return self.figures.ordered_durations()

    def metric(self, name: str) -> Measured:
        """A metric of this sample, measured once."""
        if name not in self._measured:
            metric = self._metrics.get(name)
            self._measured[name] = metric.measure(self) if metric else NOT_MEASURED
        return self._measured[name]


class Pairing(Struct, frozen=True):
    """How a metric is put together from scenarios, so that two runs can be compared scenario by scenario."""

    figure: Callable[[RecordedScenario], float | None]
    combine: Callable[[Sequence[float], Sequence[float]], float]
    """The metric, from the figures and the weights of the scenarios."""
    contains: Callable[[RecordedScenario], bool] = lambda one: True


class Tolerates(Struct, frozen=True):
    """The scenario failures that a blocking bound below 100 % on the metric tolerates."""

    contains: Callable[[ScenarioRuns], bool]
    """Whether the scenario is in the metric's denominator."""
    way: str = "any"
    """The one way of failing that the metric counts, or any."""


class SuiteMetric(Struct, frozen=True, kw_only=True):
    """One metric: what it is called, how it is measured, and what the gate may do with it."""

    name: str
    description: str
    """One line, for the tables of the documentation and the JSON Schema."""
    measure: Callable[[Sample], Measured]
    better: Literal["up", "down"] = "up"
    rate: bool = True
    """Whether it lies in 0 to 1 and is shown in percent."""
    unit: str = ""
    spellings: Mapping[str, int] = {}
    """How a bound may spell the unit in lower case, and how many of it that is."""
    example: str = "a number"
    """How a bound on it may be written."""
    has_interval: bool = True
    """Whether a confidence interval is defined for it."""
    per_tokens: int = 1
    """Per how many tokens it is shown, where it is counted per token."""
    order: int = 45
    """Its place in tables, lowest first."""
    weighted: bool = False
    """Whether the weights of scenarios change it."""
    category: str | None = None
    """The only category of scenarios that it is over."""
    pairing: Pairing | None = None
    """None where it cannot be compared scenario by scenario; then no significance test is defined."""
    tolerates: Tolerates | None = None
    unusable: Callable[[Suite], str | None] = lambda suite: None
    """Why it can never have a value in this suite, so that naming it is a mistake."""

    @property
    def shown_unit(self) -> str:
        """The unit next to a number that is shown."""
        return self.unit if self.per_tokens == 1 else f"per {self.per_tokens:,} tokens"

    def without_value(self, suite: Suite) -> str | None:
        """Why the scenarios of this suite give it no value, which is worth a notice."""
        if self.category is None or any(one.category == self.category for one in suite.scenarios):
            return None
        return f"'{self.name}' has no value, because no scenario has the category '{self.category}'"


# ── Rates over scenarios ────────────────────────────────────────────────────────────────────────────────────


def scenario_rate(
    name: str,
    description: str,
    *,
    order: int = 45,
    weighted: bool = False,
    category: str | None = None,
    what: str = "",
    states: Callable[[Scenario], bool] = lambda scenario: True,
    runs: Callable[[ScenarioRuns], RunCounts] = ScenarioRuns.runs,
    recorded: Callable[[RecordedScenario], Share | None] = lambda one: one.passed,
    way: str = "any",
) -> SuiteMetric:
    """A metric that is a fraction of runs, averaged over the scenarios of a category or those that state something.

    `runs` counts the runs of a scenario, `recorded` finds the same in a baseline, and `way` is the way of failing
    that the fraction counts.
    """

    def contains(one: ScenarioRuns) -> bool:
        return states(one.scenario) and category in (None, one.scenario.category)

    def figure(one: RecordedScenario) -> float | None:
        share = recorded(one)
        return share.fraction if share else None

    return SuiteMetric(
        name=name,
        description=description,
        measure=lambda sample: rate_of_runs(
            [one for one in sample.scenarios if contains(one)], weighted=weighted, what=what, runs=runs
        ),
        order=order,
        weighted=weighted,
        category=category,
        pairing=Pairing(figure, weighted_mean, lambda one: category in (None, one.category)),
        tolerates=Tolerates(lambda one: contains(one) and not (weighted and one.weight <= 0), way),
    )


def rate_of_runs(
    scenarios: Sequence[ScenarioRuns],
    *,
    weighted: bool = False,
    what: str = "",
    runs: Callable[[ScenarioRuns], RunCounts] = ScenarioRuns.runs,
) -> Measured:
    """Passed / all. A scenario whose every run was skipped is left out."""
    every = [(one.scenario.id, runs(one), one.weight if weighted else 1.0) for one in scenarios]
    counted = [(*counts, weight) for _, counts, weight in every if counts[2]]
    if not sum(weight for *_, weight in counted):
        why = "their weights are all 0" if counted else f"all {len(every)} {what}scenarios were skipped"
        return Measured(value=None, n=len(counted), why=why if every else f"the suite has no {what}scenario")
    tries = [(passed, all_) for passed, _, all_, _ in counted]
    weights = _scaled([weight for *_, weight in counted]) if weighted else None
    return Measured(
        value=mean([(passed / all_, weight) for passed, _, all_, weight in counted]),
        at_best=mean([((passed + broken) / all_, weight) for passed, broken, all_, weight in counted]),
        n=len(counted),
        interval=lambda confidence: rate_interval(tries, weights, confidence),
        lowered_by=tuple(id_ for id_, (passed, _, all_), _ in every if passed < all_),
    )


# ── Shared by the metrics ───────────────────────────────────────────────────────────────────────────────────


def mean(weighted: Sequence[tuple[float, float]]) -> float:
    """The mean of `(value, weight)`."""
    weights = _scaled([weight for _, weight in weighted])
    return weighted_mean([value for value, _ in weighted], weights)


def weighted_mean(values: Sequence[float], weights: Sequence[float]) -> float:
    """Σ value × weight / Σ weights."""
    return math.fsum(value * weight for value, weight in zip(values, weights, strict=True)) / math.fsum(weights)


def _scaled(weights: Sequence[float]) -> list[float]:
    """The weights in the same proportion and 1 at most, so that their sums and squares stay within doubles."""
    _, exponent = math.frexp(max(weights))
    return [math.ldexp(weight, -exponent) for weight in weights]


def mean_interval_of(weighted: Sequence[tuple[float, float]]) -> IntervalAt:
    """The interval of the mean of `(value, weight)`."""

    def interval(confidence: float) -> Interval | None:
        from passmuster.scoring._resampling import mean_interval

        return mean_interval([value for value, _ in weighted], [weight for _, weight in weighted], confidence)

    return _within_doubles(interval)


def ratio_interval_of(parts: Sequence[tuple[float, float]]) -> IntervalAt:
    """The interval of Σ a / Σ b over `(a, b)`."""

    def interval(confidence: float) -> Interval | None:
        from passmuster.scoring._resampling import ratio_interval

        return ratio_interval(parts, confidence)

    return _within_doubles(interval)


def _within_doubles(interval: IntervalAt) -> IntervalAt:
    """The interval, or none where its sums are beyond a double: traces may state any number."""

    def guarded(confidence: float) -> Interval | None:
        try:
            found = interval(confidence)
        except (OverflowError, ZeroDivisionError, ValueError):
            return None
        return found if found and all(map(math.isfinite, found)) else None

    return guarded


def known_of(known: int, total: int) -> tuple[int | None, int | None]:
    """`known` and `total` as a metric has them: neither where everything is known."""
    return (None, None) if known == total else (known, total)


def score_metric(test_id: str) -> SuiteMetric:
    """The score of a test with a custom metric, averaged over traces."""

    def measure(sample: Sample) -> Measured:
        tests = zip(sample.suite.tests, sample.tally.tests, strict=True)
        tally = next((counted for test, counted in tests if test.id == test_id), None)
        if tally is None or not tally.scores:
            return NOT_MEASURED
        known, total = known_of(tally.scores, tally.traces)
        return Measured(
            value=tally.score_sum.mean(tally.scores),
            n=tally.scores,
            interval=mean_interval_of([(score, 1.0) for score in tally.ordered_scores()]),
            known=known,
            total=total,
        )

    return SuiteMetric(name=test_id, description="The mean score of a custom metric.", measure=measure, order=85)
