"""A metric: one number about the whole suite, declared once with all that the gate has to know of it.

A rate is the mean over scenarios of the fraction of a scenario's runs that passed; latency, tokens and cost are over
traces. An empty denominator gives no value.
"""

from __future__ import annotations

import math
from collections import Counter
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
    from passmuster.scoring._sample_size import Needed

Interval = tuple[float, float]
IntervalAt = Callable[[float], Interval | None]
"""The interval at a confidence."""
MoreFor = Callable[[float, float], "Needed | None"]
"""How many more scenarios or repeats would settle a bound at a confidence."""


class Measured(Struct, frozen=True, kw_only=True):
    """A metric of one run."""

    value: float | None
    n: int
    interval: IntervalAt | None = None
    more: MoreFor | None = None
    """What would settle on which side of a bound the value is."""
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
    def durations(self) -> Sequence[float]:
        """Every known duration in milliseconds, from the shortest."""
        return self.figures.ordered_durations()

    @cached_property
    def duration_groups(self) -> list[list[float]]:
        """The same by scenario; a trace without one is on its own."""
        groups = [one.tally.run_figures("duration_ms") for one in self.scenarios]
        known = sum(one.tally.duration.known for one in self.scenarios)
        if known < len(self.durations):
            others = Counter(self.durations)
            others.subtract(value for group in groups for value in group)
            groups += [[value] for value in others.elements()]
        return groups

    def metric(self, name: str) -> Measured:
        """A metric of this sample, measured once."""
        if name not in self._measured:
            metric = self._metrics.get(name)
            self._measured[name] = metric.measure(self) if metric else NOT_MEASURED
        return self._measured[name]


class Pairing(Struct, frozen=True):
    """How a metric is put together from scenarios, so that two runs can be compared scenario by scenario."""

    share: Callable[[RecordedScenario], Share | None] | None = None
    """A rate: how many of a scenario's runs count."""
    figures: Callable[[RecordedScenario], Sequence[float] | None] = lambda one: None
    """Else: the figures of a scenario's runs."""
    percentile: float | None = None
    """Which percentile of all figures it is; None for a mean."""
    by_runs: bool = True
    """Whether each run counts, and not each scenario."""
    total: bool = False
    """Whether it is the sum over all runs, and no mean."""
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
    typical: str | None = None
    """The bound that a suite usually states."""
    has_interval: bool = True
    """Whether a confidence interval is defined for it."""
    per_tokens: int = 1
    """Per how many tokens it is shown, where it is counted per token."""
    order: int = 45
    """Its place in tables, lowest first."""
    weighted: bool = False
    """Whether the weights of scenarios change it."""
    monotone: bool = False
    """Whether one more run can raise it no further than by passing, and lower it no further than by failing."""
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
    typical: str | None = None,
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

    return SuiteMetric(
        name=name,
        description=description,
        measure=lambda sample: rate_of_runs(
            [one for one in sample.scenarios if contains(one)], weighted=weighted, what=what, runs=runs
        ),
        order=order,
        typical=typical,
        weighted=weighted,
        monotone=True,
        category=category,
        pairing=Pairing(recorded, contains=lambda one: category in (None, one.category)),
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
    weights = scaled([weight for *_, weight in counted]) if weighted else None
    return Measured(
        value=mean([(passed / all_, weight) for passed, _, all_, weight in counted]),
        at_best=mean([((passed + broken) / all_, weight) for passed, broken, all_, weight in counted]),
        n=len(counted),
        interval=lambda confidence: rate_interval(tries, weights, confidence),
        more=more_for_rate(tries, weights),
        lowered_by=tuple(id_ for id_, (passed, _, all_), _ in every if passed < all_),
    )


# ── Shared by the metrics ───────────────────────────────────────────────────────────────────────────────────


def mean(weighted: Sequence[tuple[float, float]]) -> float:
    """The mean of `(value, weight)`."""
    weights = scaled([weight for _, weight in weighted])
    return weighted_mean([value for value, _ in weighted], weights)


def weighted_mean(values: Sequence[float], weights: Sequence[float]) -> float:
    """Σ value × weight / Σ weights."""
    return math.fsum(value * weight for value, weight in zip(values, weights, strict=True)) / math.fsum(weights)


def scaled(weights: Sequence[float]) -> list[float]:
    """The weights in the same proportion and 1 at most, so that their sums and squares stay within doubles."""
    _, exponent = math.frexp(max(weights))
    return [math.ldexp(weight, -exponent) for weight in weights]


def mean_interval_of(parts: Sequence[tuple[float, float]]) -> IntervalAt:
    """The interval of Σ a / Σ b over the `(a, b)` of scenarios, which may be skewed."""

    def interval(confidence: float) -> Interval | None:
        from passmuster.scoring._means import mean_interval

        return mean_interval(parts, confidence)

    return within_doubles(interval)


def more_for_rate(
    runs: Sequence[tuple[float, float]], weights: Sequence[float] | None = None, of: float = 1.0
) -> MoreFor:
    """What would settle a bound on a rate; `of` is the part of the scenarios that it is over."""

    def more(bound: float, confidence: float) -> Needed | None:
        from passmuster.scoring._sample_size import more_to_settle

        return more_to_settle(runs, bound, weights, confidence, of=of)

    return more


def more_for_mean(parts: Sequence[tuple[float, float]]) -> MoreFor:
    """What would settle a bound on a mean of `(a, b)`."""

    def more(bound: float, confidence: float) -> Needed | None:
        from passmuster.scoring._sample_size import more_to_settle_mean

        return more_to_settle_mean(parts, bound, confidence)

    return more


def within_doubles(interval: IntervalAt) -> IntervalAt:
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
        scores = [(score, 1.0) for score in tally.ordered_scores()]
        return Measured(
            value=tally.score_sum.mean(tally.scores),
            n=tally.scores,
            interval=lambda confidence: rate_interval(scores, None, confidence),
            more=more_for_rate(scores),
            known=known,
            total=total,
        )

    return SuiteMetric(name=test_id, description="The mean score of a custom metric.", measure=measure, order=85)
