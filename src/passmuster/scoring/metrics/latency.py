"""How long runs took."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from passmuster.scoring._metric import Interval, Measured, Pairing, Sample, SuiteMetric, known_of
from passmuster.scoring._percentiles import effective_values, percentile, percentile_interval
from passmuster.suite import Bound, Suite

if TYPE_CHECKING:
    from passmuster.scoring._sample_size import Needed


def _percentile_metric(percent: int, order: int) -> SuiteMetric:
    share = percent / 100

    def measure(sample: Sample) -> Measured:
        durations = sample.durations
        known, total = known_of(len(durations), sample.figures.traces)
        if not durations:
            return Measured(value=None, n=0, why="no trace states its duration", known=known, total=total)
        value = percentile(durations, share)

        def interval(confidence: float) -> Interval | None:
            if sample.figures.durations.bins:  # so many that they are not told apart by scenario
                return percentile_interval(durations, share, confidence)
            effective, scenarios = effective_values(sample.duration_groups, value, share)
            return percentile_interval(durations, share, confidence, effective, scenarios - 1)

        def more(bound: float, confidence: float) -> Needed | None:
            """The share of runs within the bound is a rate, and what is asked is whether it is above the percentile."""
            from passmuster.scoring._sample_size import more_to_settle

            if sample.figures.durations.bins:
                return None
            groups = [group for group in sample.duration_groups if group]
            within = [(float(sum(one <= bound for one in group)), float(len(group))) for group in groups]
            return more_to_settle(within, share, [of for _, of in within], confidence, margin=1.0)

        return Measured(
            value=value,
            n=len(durations),
            interval=interval,
            more=more,
            known=known,
            total=total,
        )

    return SuiteMetric(
        name=f"latency_p{percent}",
        description=f"The {percent}th percentile of the runs' durations, in ms.",
        measure=measure,
        better="down",
        rate=False,
        unit="ms",
        spellings={"ms": 1, "milliseconds": 1, "s": 1000, "seconds": 1000},
        example="5000, 5000ms or 5s",
        order=order,
        typical="< 5000ms" if percent == 95 else None,
        pairing=Pairing(figures=lambda one: one.durations_ms, percentile=share),
    )


def budget_bounds(suite: Suite) -> Iterator[Bound]:
    """The upper bounds on the 95th percentile that hold for every version of the agent."""
    for _, bound in suite.thresholds.plain_bounds():
        if bound.metric == "latency_p95" and bound.operator in ("<", "<=", "="):
            yield bound


def latency_budget(suite: Suite) -> float | None:
    """What is stated, else the lowest upper bound on the 95th percentile, so that one more bound never widens it."""
    return suite.latency_budget_ms or min((bound.value for bound in budget_bounds(suite)), default=None)


def _normalized(sample: Sample) -> Measured:
    p95, budget = sample.metric("latency_p95"), latency_budget(sample.suite)
    if not budget:
        return Measured(value=None, n=p95.n, why="there is no latency budget above 0")
    if p95.value is None:
        return Measured(value=None, n=0, why=p95.why, known=p95.known, total=p95.total)
    return Measured(value=min(1.0, p95.value / budget), n=p95.n, known=p95.known, total=p95.total)


def _without_budget(suite: Suite) -> str | None:
    if suite.latency_budget_ms is not None or any(budget_bounds(suite)):
        return None
    budget = "'latency_budget_ms' or an upper bound on latency_p95 in 'thresholds'"
    return f"nothing can feed 'normalized_latency' without {budget}"


METRICS = (
    _percentile_metric(50, 50),
    _percentile_metric(95, 51),
    _percentile_metric(99, 52),
    SuiteMetric(
        name="normalized_latency",
        description="`latency_p95` / `latency_budget_ms`, 100 % at most. Without that key, the lowest upper bound on "
        "`latency_p95` in `blocking`, `warning` or `risk` is the budget.",
        measure=_normalized,
        better="down",
        has_interval=False,
        order=90,
        unusable=_without_budget,
    ),
)
