"""Bounds from a baseline: how far those of a suite can be tightened, and targets to propose.

A bound that is tightened still holds for what was reached: rates are rounded down and limits up, and a strict
comparison keeps its distance. None is ever loosened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Literal

from msgspec import Struct

from passmuster.scoring._baseline import Baseline, RecordedMetric
from passmuster.scoring._intervals import rate_interval
from passmuster.scoring._metric import SuiteMetric
from passmuster.scoring._metrics import headline_metric, known_metrics, metric_named
from passmuster.scoring._prediction import largest_mean, largest_percentile, least_rate, spread_of
from passmuster.scoring._scenario_runs import weight_of
from passmuster.scoring.metrics.latency import latency_budget
from passmuster.suite import Bound, Suite

_POINT = Decimal("0.0001")
"""Rates are rounded to a hundredth of a percent."""
_DIGITS = 6
"""Significant digits of values that are no rates."""
_SMALLEST = Decimal("1e-9")
"""Values this close count as equal."""
_NOISE = 12
"""Digits up to which a sum of floats is exact."""
_SURE = 0.95
"""The confidence of the intervals that a baseline records."""


class Tightened(Struct, frozen=True):
    """A bound that can be tightened to what was reached."""

    name: str
    """Its place in the suite: `thresholds.blocking.pass_rate`."""
    bound: Bound
    metric: SuiteMetric
    reached: float
    value: Decimal


class Kept(Struct, frozen=True):
    """A bound that is left alone, and why."""

    name: str
    why: str


class Target(Struct, frozen=True):
    """A bound a little better than what was reached."""

    section: str
    """Where in `thresholds`: `blocking`, `warning`, `risk.high`."""
    metric: SuiteMetric
    operator: str
    reached: float
    value: Decimal


class _Reached(Struct, frozen=True):
    """A metric's recorded value, and the ends of its interval at a confidence."""

    value: float
    interval: Callable[[float], tuple[float, float] | None]
    predicted: Callable[[], float | None] = lambda: None
    """The worse end of the 95 % prediction interval for a fresh run of equal size."""


# ── Tightening ──────────────────────────────────────────────────────────────────────────────────────────────


def tightened(
    suite: Suite, baseline: Baseline, slack: float, to: Literal["prediction", "value"] = "prediction"
) -> Iterator[Tightened | Kept]:
    """What happens to each bound of the suite; those that are tight already are left out.

    They are tightened to what a fresh run of the same agent reaches in 95 of 100 cases, or to the value itself.
    """
    for name, bound, reached in _bounds(suite, baseline):
        metric = metric_named(bound.metric)
        against = (bound.operator in (">=", ">")) != (metric.better == "up")
        if reached is None:
            yield Kept(name, "the baseline has no value of it")
        elif _is_stale(suite, baseline, name, metric):
            yield Kept(name, "the baseline was saved with other weights or categories; save it again")
        elif bound.operator == "=":
            yield Kept(name, "'=' asks for one value, which cannot be tightened")
        elif against:
            yield Kept(name, f"'{bound.text}' bounds {bound.metric} from its good side")
        elif bound.metric == "latency_p95" and _is_budget(suite, bound):
            yield Kept(name, "it is the budget of normalized_latency; state 'latency_budget_ms' to allow changing it")
        else:
            yield from _tighter(name, bound, metric, reached, slack, to == "prediction")
    for progressive in suite.thresholds.progressive:
        yield Kept(f"thresholds.progressive.{progressive.metric}", "its stages follow the agent's version")
    if suite.composite:
        yield Kept("composite", "a formula is not a bound")


def _tighter(
    name: str, bound: Bound, metric: SuiteMetric, reached: _Reached, slack: float, predict: bool
) -> Iterator[Tightened | Kept]:
    held = reached.value
    expected = reached.predicted() if predict else held
    if expected is None:
        yield Kept(name, "too few runs are recorded to predict a fresh one; --to value takes the recorded value")
        return
    if bound.confidence is not None:
        interval = reached.interval(bound.confidence)
        if interval is None:
            yield Kept(name, f"no interval at {bound.confidence * 100:g}% is recorded of it")
            return
        held = interval[0] if bound.operator in (">=", ">") else interval[1]
    held += expected - reached.value
    value = _allowed(bound, metric, held, slack)
    full = metric.rate and bound.operator == ">=" and value >= 1
    if bound.confidence is not None and full:
        return  # a confidence in 100 % cannot be asked for
    if _is_tighter(bound, float(value)):
        yield Tightened(name, bound, metric, reached.value, value)


def _is_tighter(bound: Bound, value: float) -> bool:
    distance = value - bound.value if bound.operator in (">=", ">") else bound.value - value
    return distance > 1e-12 * max(1.0, bound.value)


def _allowed(bound: Bound, metric: SuiteMetric, reached: float, slack: float) -> Decimal:
    """The tightest value that the reached one meets with this slack, rounded to the lenient side."""
    rises = bound.operator in (">=", ">")
    given = Decimal(repr(slack))
    exact = _settled(reached)
    sign = -1 if rises else 1
    moved = exact + sign * given if metric.rate else exact * (1 + sign * given)
    value = _rounded(max(moved, Decimal(0)), metric, ROUND_FLOOR if rises else ROUND_CEILING)
    if metric.rate and rises and value >= 1 > reached:
        value = 1 - _POINT  # what asks for all tolerates nothing
    step = _step(value, metric)
    while not Bound(metric=bound.metric, operator=bound.operator, value=float(value), text="", line=0, column=0).holds(
        reached
    ):
        value += sign * step
        step *= 10
    return value


def _settled(value: float) -> Decimal:
    """The value without the last digits, which are noise of float addition."""
    return Decimal(f"{value:.{_NOISE}g}")


def _rounded(value: Decimal, metric: SuiteMetric, way: str) -> Decimal:
    return value.quantize(_step(value, metric), rounding=way)


def _step(value: Decimal, metric: SuiteMetric) -> Decimal:
    if metric.rate:
        return _POINT
    return max(Decimal(1).scaleb(value.adjusted() - _DIGITS + 1), _SMALLEST) if value else _SMALLEST


def _bounds(suite: Suite, baseline: Baseline) -> Iterator[tuple[str, Bound, _Reached | None]]:
    for section, bound in suite.thresholds.plain_bounds():
        yield f"thresholds.{section}.{bound.metric}", bound, _metric(suite, baseline, bound.metric)
    criteria = suite.criteria
    if criteria.overall is not None:
        yield "pass_criteria.overall", criteria.overall, _metric(suite, baseline, headline_metric(suite).name)
    for category, bound in criteria.by_category.items():
        yield f"pass_criteria.by_category.{category}", bound, _category(suite, baseline, category)


def _metric(suite: Suite, baseline: Baseline, name: str) -> _Reached | None:
    found = baseline.metrics.get(name)
    if name == "normalized_latency":  # by the budget of today
        p95, budget = baseline.metrics.get("latency_p95"), latency_budget(suite)
        if p95 is None or not budget:
            return None
        largest = _predicted(baseline, "latency_p95", p95)
        return _Reached(
            min(1.0, p95.value / budget),
            lambda confidence: None,
            lambda: None if (end := largest()) is None else min(1.0, end / budget),
        )
    if found is None:
        return None
    # An interval at a lower confidence lies within the recorded one.
    interval = found.ci95
    return _Reached(
        found.value, lambda confidence: interval if confidence <= _SURE else None, _predicted(baseline, name, found)
    )


def _predicted(baseline: Baseline, name: str, found: RecordedMetric) -> Callable[[], float | None]:
    """The worse end of the prediction interval of a metric."""
    metric = metric_named(name)
    pairing = metric.pairing

    def end() -> float | None:
        recorded = [one for one in baseline.scenarios.values() if pairing and pairing.contains(one)]
        if pairing is not None and pairing.share is not None:
            shares = [(share, one.weight) for one in recorded if (share := pairing.share(one)) and share.counted]
            weights = [weight for _, weight in shares] if metric.weighted else None
            return least_rate([(share.passed, share.counted) for share, _ in shares], weights)
        groups = [figures for one in recorded if pairing and (figures := pairing.figures(one))]
        if pairing is not None and metric.rate and groups:
            used = [one.weight for one in recorded if pairing.figures(one)] if metric.weighted else None
            return least_rate([(sum(group), len(group)) for group in groups], used)
        if pairing is not None and groups and pairing.percentile is not None:
            return largest_percentile([x for group in groups for x in group], pairing.percentile)
        if pairing is not None and groups:
            mean = largest_mean(groups)
            return mean and mean * (sum(map(len, groups)) if pairing.total else 1)
        if found.ci95 is None:
            return None
        low, high = spread_of(found.ci95, found.value)
        return max(0.0, low) if metric.better == "up" else high

    return end


def _category(suite: Suite, baseline: Baseline, category: str) -> _Reached | None:
    """The pass rate of the recorded scenarios that have this category in the suite."""
    ids = [scenario.id for scenario in suite.scenarios if scenario.category == category]
    shares = [baseline.scenarios[id_].passed for id_ in ids if id_ in baseline.scenarios]
    tries = [(share.passed, share.counted) for share in shares if share.counted]
    if not tries:
        return None
    from math import fsum

    value = fsum(passed / counted for passed, counted in tries) / len(tries)
    return _Reached(value, lambda confidence: rate_interval(tries, None, confidence), lambda: least_rate(tries))


def _is_stale(suite: Suite, baseline: Baseline, name: str, metric: SuiteMetric) -> bool:
    """Whether weights or categories have changed since the baseline was saved."""
    known = [(one, baseline.scenarios[one.id]) for one in suite.scenarios if one.id in baseline.scenarios]
    if metric.weighted or name == "pass_criteria.overall":
        return any(weight_of(one, suite) != recorded.weight for one, recorded in known)
    return metric.category is not None and any(one.category != recorded.category for one, recorded in known)


def _is_budget(suite: Suite, bound: Bound) -> bool:
    """Whether `normalized_latency` is measured by the bound, or would be if the bound were lowered."""
    if suite.latency_budget_ms is not None or bound.metric != "latency_p95":
        return False
    from passmuster.scoring._suite_gate import named_metrics

    return "normalized_latency" in named_metrics(suite)


# ── Targets ─────────────────────────────────────────────────────────────────────────────────────────────────


def targets(suite: Suite, baseline: Baseline, margin: float) -> Iterator[Target]:
    """Bounds a little better than what was reached: on the metrics that the thresholds name, else on all rates."""
    known = known_metrics(suite.tests)
    for section, name in _named(suite, baseline, known):
        recorded = baseline.metrics.get(name)
        if recorded is not None and name in known:
            target = _target(section, known[name], recorded.value, Decimal(repr(margin)))
            if target.value or target.operator == "<=":  # that a rate is at least 0 asks nothing
                yield target


def _named(suite: Suite, baseline: Baseline, known: Mapping[str, SuiteMetric]) -> list[tuple[str, str]]:
    named = [(section, bound.metric) for section, bound in suite.thresholds.plain_bounds()]
    staged = [one.metric for one in suite.thresholds.progressive]
    named += [("blocking", name) for name in staged if ("blocking", name) not in named]
    if not named:
        named = [("blocking", name) for name in baseline.metrics if name in known and known[name].rate]
    return list(dict.fromkeys(named))


def _target(section: str, metric: SuiteMetric, reached: float, margin: Decimal) -> Target:
    rises = metric.better == "up"
    sign = 1 if rises else -1
    exact = _settled(reached)
    moved = exact + sign * margin if metric.rate else exact * (1 + sign * margin)
    value = _rounded(max(moved, Decimal(0)), metric, ROUND_CEILING if rises else ROUND_FLOOR)
    return Target(section, metric, ">=" if rises else "<=", reached, min(value, Decimal(1)) if metric.rate else value)
