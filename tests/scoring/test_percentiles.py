"""Percentiles and their intervals, next to scipy and numpy, and the laws they keep."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from passmuster.scoring._percentiles import effective_values, percentile, percentile_interval, weighted_percentile


def found(interval: tuple[float, float] | None) -> tuple[float, float]:
    assert interval is not None
    return interval


@settings(deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50), st.floats(0, 1))
def test_percentile(values: list[float], q: float) -> None:
    values.sort()
    assert percentile(values, q) == pytest.approx(float(np.percentile(values, q * 100)), rel=1e-9, abs=1e-8)


@pytest.mark.parametrize("q", [0.05, 0.5, 0.95, 0.99])
@pytest.mark.parametrize("n", [1, 5, 6, 20, 71, 72, 100, 368, 1_000, 100_000])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_percentile_interval_by_ranks(n: int, q: float, confidence: float) -> None:
    missed = (1 - confidence) / 2
    low = int(stats.binom.ppf(missed, n, q))
    low += stats.binom.cdf(low, n, q) <= missed
    high = int(stats.binom.ppf(1 - missed, n, q)) + 1
    expected = (low, high) if low >= 1 and high <= n else None
    assert percentile_interval(range(1, n + 1), q, confidence) == expected


@pytest.mark.parametrize(("n", "known"), [(71, False), (72, True)])
def test_a_p95_takes_72_values(n: int, known: bool) -> None:
    assert (percentile_interval(range(n), 0.95) is not None) is known


@pytest.mark.parametrize("q", [0.0, 1.0])
def test_ends_have_no_interval(q: float) -> None:
    assert percentile_interval(range(1_000), q) is None


@settings(deadline=None)
@given(st.lists(st.floats(0, 1e4), min_size=10, max_size=100), st.floats(0.2, 0.8))
def test_percentile_interval_holds_the_percentile(values: list[float], q: float) -> None:
    values.sort()
    interval = percentile_interval(values, q)
    if interval is not None:
        assert interval[0] <= percentile(values, q) <= interval[1]


@settings(deadline=None)
@given(st.lists(st.floats(0, 1e4), min_size=1, max_size=50), st.floats(0, 1), st.integers(1, 5))
def test_equal_weights_leave_the_percentile(values: list[float], q: float, weight: int) -> None:
    values.sort()
    weighted = weighted_percentile([(value, float(weight)) for value in values], q)
    assert weighted == pytest.approx(percentile(values, q), rel=1e-6, abs=1e-6)


def test_traces_of_one_scenario_are_no_sample_of_many() -> None:
    """50 scenarios with 10 equal durations each tell what 50 single ones do."""
    groups = [[float(number)] * 10 for number in range(50)]
    ordered = sorted(value for group in groups for value in group)
    effective, scenarios = effective_values(groups, percentile(ordered, 0.5), 0.5)
    assert scenarios == 50
    assert effective == pytest.approx(50, abs=1)
    single = found(percentile_interval([float(number) for number in range(50)], 0.5))
    clustered = found(percentile_interval(ordered, 0.5, 0.95, effective, 49))
    assert clustered == pytest.approx(single, abs=2)
    naive = found(percentile_interval(ordered, 0.5))
    assert naive[1] - naive[0] < (clustered[1] - clustered[0]) / 2


def test_single_traces_are_a_sample_as_they_are() -> None:
    values = [float(number) for number in range(200)]
    effective, scenarios = effective_values([[value] for value in values], 99.5, 0.5)
    assert percentile_interval(values, 0.5, 0.95, effective, scenarios - 1) == percentile_interval(values, 0.5)
