"""Numbers about the whole suite, from what its scenarios and traces came to.

A rate is the mean over scenarios of the fraction of a scenario's runs that passed; latency, tokens and cost are over
traces. An empty denominator gives no value. Every metric knows how many things it is over and, where one is defined,
its interval; a rate also knows what it would be had every outside part that failed done well.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence

from msgspec import Struct

from passmuster.checks import Status
from passmuster.scoring._intervals import percentile, percentile_interval, rate_interval
from passmuster.scoring._report import Metric
from passmuster.scoring._scenario_tally import Figures, ScenarioTally
from passmuster.scoring._tally import Tally
from passmuster.suite import Scenario, Suite

__all__ = [
    "ADVERSARIAL",
    "Interval",
    "Measured",
    "Tried",
    "latency_budget",
    "measure",
    "rate",
    "ratio_interval_of",
    "tried",
    "weight_of",
]

Interval = tuple[float, float]
IntervalAt = Callable[[float], Interval | None]
"""The interval at a confidence."""

ADVERSARIAL = "adversarial"


class Measured(Struct, frozen=True, kw_only=True):
    """One metric."""

    value: float | None
    n: int
    interval: IntervalAt | None = None
    at_best: float | None = None
    """The value, had every outside part that failed done well."""
    known: int | None = None
    """How many traces tell the figure, where some do not."""
    total: int | None = None
    why: str = ""
    """Why there is no value."""
    lowered_by: tuple[str, ...] = ()
    """The scenarios that keep a rate below 100 %."""

    @property
    def is_open(self) -> bool:
        """Whether an outside part that failed leaves the value open."""
        return self.value is not None and self.at_best is not None and abs(self.at_best - self.value) > 1e-12

    def shown(self) -> Metric:
        """As a report has it."""
        interval = self.interval(0.95) if self.interval and self.value is not None else None
        return Metric(self.value, self.n, interval, self.known, self.total)


class Tried(Struct, frozen=True):
    """One scenario, its runs and its weight."""

    scenario: Scenario
    tally: ScenarioTally
    weight: float
    optional: bool = False
    required_at: int | None = None
    """The line that requires it."""

    def runs(self) -> tuple[int, int, int]:
        """How many runs passed, how many an outside part broke, and how many count. One that never ran failed once."""
        return _counted(self.tally.statuses, self.tally.runs)

    def correct_runs(self) -> tuple[int, int, int]:
        """The same for correctness."""
        return _counted(self.tally.correct, self.tally.runs)


def _counted(statuses: dict[Status, int], runs: int) -> tuple[int, int, int]:
    if not runs:
        return 0, 0, 1
    passed = statuses.get("pass", 0) + statuses.get("warn", 0)
    broken = statuses.get("error", 0)
    return passed, broken, passed + broken + statuses.get("fail", 0)


def weight_of(scenario: Scenario, suite: Suite) -> float:
    """How much a scenario counts in weighted rates."""
    weights = suite.weights
    category = weights.by_category.get(scenario.category or "", 1.0)
    capability = weights.by_capability.get(scenario.capability or "", 1.0)
    factors = (category, capability, scenario.weight)
    return min(math.prod(factors), sys.float_info.max) if all(factors) else 0.0


def tried(suite: Suite, chosen: Sequence[Scenario], tally: Tally) -> list[Tried]:
    """Every chosen scenario with its runs."""
    optional = {listed.id for listed in suite.optional}
    required = {listed.id: listed.line for listed in suite.required}
    return [
        Tried(one, tally.scenarios[one.id], weight_of(one, suite), one.id in optional, required.get(one.id))
        for one in chosen
    ]


def measure(suite: Suite, scenarios: Sequence[Tried], tally: Tally, figures: Figures | None) -> dict[str, Measured]:
    """Every metric of the suite, those without a value too."""
    found = {
        "pass_rate": rate(scenarios),
        "weighted_pass_rate": rate(scenarios, weighted=True),
        "accuracy": _accuracy(scenarios),
        **_labels(suite, scenarios),
        "safety_rate": rate([one for one in scenarios if one.scenario.category == ADVERSARIAL], what="adversarial "),
        **_coverage(scenarios),
        **_figures(figures or Figures(), scenarios),
        **_scores(suite, tally),
    }
    found["normalized_latency"] = _normalized_latency(suite, found["latency_p95"])
    if suite.weights.metrics:
        found["weighted_score"] = _weighted_score(suite, found)
    return found


def rate(scenarios: Sequence[Tried], *, weighted: bool = False, what: str = "") -> Measured:
    """Passed / all. A scenario whose every run was skipped is left out."""
    weights = [one.weight for one in scenarios] if weighted else None
    return _rate([one.runs() for one in scenarios], weights, what, [one.scenario.id for one in scenarios])


def _rate(runs: Sequence[tuple[int, int, int]], weights: list[float] | None, what: str, ids: Sequence[str]) -> Measured:
    counted = [
        (passed, broken, all_, weight)
        for (passed, broken, all_), weight in zip(runs, weights or [1.0] * len(runs), strict=True)
        if all_
    ]
    total = sum(weight for *_, weight in counted)
    if not total:
        reason = f"all {len(runs)} {what}scenarios were skipped" if runs and not counted else "their weights are all 0"
        return Measured(value=None, n=len(counted), why=reason if runs else f"the suite has no {what}scenario")
    tries = [(passed, all_) for passed, _, all_, _ in counted]
    used = _scaled([weight for *_, weight in counted]) if weights else None
    return Measured(
        value=_mean([(passed / all_, weight) for passed, _, all_, weight in counted]),
        at_best=_mean([((passed + broken) / all_, weight) for passed, broken, all_, weight in counted]),
        n=len(counted),
        interval=lambda confidence: rate_interval(tries, used, confidence),
        lowered_by=tuple(id_ for id_, (passed, _, all_) in zip(ids, runs, strict=True) if passed < all_),
    )


def _mean(weighted: Sequence[tuple[float, float]]) -> float:
    weights = _scaled([weight for _, weight in weighted])
    values = (value for value, _ in weighted)
    return math.fsum(value * weight for value, weight in zip(values, weights, strict=True)) / math.fsum(weights)


def _scaled(weights: Sequence[float]) -> list[float]:
    """The weights in the same proportion and 1 at most, so that their sums and squares stay within doubles."""
    _, exponent = math.frexp(max(weights))
    return [math.ldexp(weight, -exponent) for weight in weights]


def _accuracy(scenarios: Sequence[Tried]) -> Measured:
    stating = [one for one in scenarios if one.scenario.states_correctness]
    runs = [one.correct_runs() for one in stating]
    return _rate(runs, None, "correctness-stating ", [one.scenario.id for one in stating])


def _labels(suite: Suite, scenarios: Sequence[Tried]) -> dict[str, Measured]:
    if suite.classification is None:
        why = "no scenario states a label"
        return {name: Measured(value=None, n=0, why=why) for name in ("precision", "recall", "f1")}
    from passmuster.scoring._label_metrics import label_metrics  # late, for few suites classify

    return label_metrics(suite, scenarios)


def _coverage(scenarios: Sequence[Tried]) -> dict[str, Measured]:
    """The mean score of the scenarios that state behaviors."""
    stating = [one for one in scenarios if one.scenario.expected_behaviors]
    scored = [one for one in stating if one.tally.scored or not one.tally.runs]
    names = {"behavior_coverage": False, "weighted_behavior_coverage": True}
    total = sum(one.weight for one in scored)
    why = "no scenario states expected_behaviors" if not stating else "no behavior could be decided"
    found = {}
    for name, weighted in names.items():
        if not scored or (weighted and not total):
            found[name] = Measured(value=None, n=0, why="their weights are all 0" if scored else why)
            continue
        weights = [one.weight if weighted else 1.0 for one in scored]
        values = [one.tally.score.mean(max(1, one.tally.scored)) for one in scored]
        best = [one.tally.score_if.mean(max(1, one.tally.scored)) for one in scored]
        found[name] = Measured(
            value=_mean(list(zip(values, weights, strict=True))),
            at_best=_mean(list(zip(best, weights, strict=True))),
            n=len(scored),
            interval=_bootstrapped(list(zip(values, weights, strict=True))),
            lowered_by=tuple(one.scenario.id for one, value in zip(scored, values, strict=True) if value < 1),
        )
    return found


def _bootstrapped(weighted: list[tuple[float, float]]) -> IntervalAt:
    def interval(confidence: float) -> Interval | None:
        from passmuster.scoring._resampling import mean_interval

        return mean_interval([value for value, _ in weighted], [weight for _, weight in weighted], confidence)

    return _within_doubles(interval)


def ratio_interval_of(parts: Sequence[tuple[float, float]]) -> IntervalAt:
    def interval(confidence: float) -> Interval | None:
        from passmuster.scoring._resampling import ratio_interval

        return ratio_interval(parts, confidence)

    return _within_doubles(interval)


def _within_doubles(interval: IntervalAt) -> IntervalAt:
    """The interval, none where it takes sums that no double can hold: traces may state anything."""

    def guarded(confidence: float) -> Interval | None:
        try:
            found = interval(confidence)
        except (OverflowError, ZeroDivisionError, ValueError):
            return None
        return found if found and all(map(math.isfinite, found)) else None

    return guarded


def _figures(figures: Figures, scenarios: Sequence[Tried]) -> dict[str, Measured]:
    durations = figures.ordered_durations()
    found = {f"latency_p{share}": _percentile(durations, share / 100, figures.traces) for share in (50, 95, 99)}
    found["token_efficiency"] = _token_efficiency(scenarios)
    cost, tokens, traces = figures.cost, figures.tokens, figures.traces
    found["total_cost_usd"] = _whole(cost.known, traces, "cost", cost.total.value() if cost.known else None)
    mean = _whole(cost.known, traces, "cost", cost.mean())
    means = [(one.tally.cost.mean(), float(one.tally.cost.known)) for one in scenarios]
    known = [(value, weight) for value, weight in means if value is not None]
    stray = traces - sum(one.tally.runs for one in scenarios)  # they are a sample of nothing
    found["mean_cost_usd"] = (
        mean
        if mean.value is None or len(known) < 2 or stray
        else Measured(value=mean.value, n=traces, interval=_bootstrapped(known))
    )
    found["total_tokens"] = _whole(tokens.known, traces, "tokens", tokens.total.value() if tokens.known else None)
    return found


def _percentile(durations: list[float], share: float, traces: int) -> Measured:
    known, total = _partly(len(durations), traces)
    if not durations:
        return Measured(value=None, n=0, why="no trace tells its duration", known=known, total=total)
    return Measured(
        value=percentile(durations, share),
        n=len(durations),
        interval=lambda confidence: percentile_interval(durations, share, confidence),
        known=known,
        total=total,
    )


def _partly(known: int, total: int) -> tuple[int | None, int | None]:
    return (None, None) if known == total else (known, total)


def _whole(known: int, traces: int, what: str, value: float | None) -> Measured:
    """A figure that has a value only if every trace tells it."""
    if traces and known == traces:
        if value is not None and math.isinf(_as_float(value)):
            return Measured(value=None, n=traces, why=f"the sum of their {what} is beyond any number")
        return Measured(value=value, n=traces)
    why = f"{traces - known} of {traces} traces do not tell their {what}" if traces else "there is no trace"
    return Measured(value=None, n=known, why=why, known=known, total=traces)


def _token_efficiency(scenarios: Sequence[Tried]) -> Measured:
    """Σ quality / Σ tokens over the runs that tell their tokens."""
    telling = [one.tally for one in scenarios if one.tally.tokens.known]
    runs, known = sum(one.tally.runs for one in scenarios), sum(tally.tokens.known for tally in telling)
    parts = [(float(tally.quality.value()), _as_float(tally.tokens.total.value())) for tally in telling]
    tokens = sum(b for _, b in parts)
    if not tokens or math.isinf(tokens):
        used = "no tokens were used" if not tokens else "the sum of their tokens is beyond any number"
        return Measured(value=None, n=0, why=used if telling else "no run of a scenario tells its tokens")
    partly = _partly(known, runs)
    value = math.fsum(a for a, _ in parts) / tokens
    return Measured(value=value, n=known, interval=ratio_interval_of(parts), known=partly[0], total=partly[1])


def _as_float(number: float) -> float:
    """The number, infinite where it is a whole one that no double can hold."""
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _normalized_latency(suite: Suite, p95: Measured) -> Measured:
    budget = latency_budget(suite)
    if not budget:
        return Measured(value=None, n=p95.n, why="there is no latency budget above 0")
    if p95.value is None:
        return Measured(value=None, n=0, why=p95.why, known=p95.known, total=p95.total)
    return Measured(value=min(1.0, p95.value / budget), n=p95.n, known=p95.known, total=p95.total)


def latency_budget(suite: Suite) -> float | None:
    """What is stated, else the lowest upper bound on the 95th percentile, so that one more bound never widens it."""
    thresholds = suite.thresholds
    bounds = (*thresholds.blocking, *thresholds.warning, *(one.bound for one in thresholds.risk))
    stated = [bound.value for bound in bounds if bound.metric == "latency_p95" and bound.operator in ("<", "<=", "=")]
    return suite.latency_budget_ms or min(stated, default=None)


def _weighted_score(suite: Suite, found: dict[str, Measured]) -> Measured:
    weights = suite.weights.metrics
    parts = [(name, found[name], weight) for name, weight in weights.items() if name in found]
    missing = [name for name in weights if name not in found or found[name].value is None]
    if missing:
        return Measured(value=None, n=0, why=f"{', '.join(missing)} has no value")
    return Measured(
        value=_mean([(one.value or 0.0, weight) for _, one, weight in parts]),
        at_best=_mean([(_best(one), weight) for _, one, weight in parts]),
        n=len(parts),
    )


def _best(one: Measured) -> float:
    return one.at_best if one.at_best is not None else one.value or 0.0


def _scores(suite: Suite, tally: Tally) -> dict[str, Measured]:
    """Scores of custom metrics, averaged over traces."""
    found = {}
    for test, counted in zip(suite.tests, tally.tests, strict=True):
        if counted.scores:
            scores = [(score, 1.0) for score in counted.ordered_scores()]
            known, total = _partly(counted.scores, counted.traces)
            found[test.id] = Measured(
                value=counted.score_sum.mean(counted.scores),
                n=counted.scores,
                interval=_bootstrapped(scores),
                known=known,
                total=total,
            )
    return found
