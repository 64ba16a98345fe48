"""Intervals of skewed means, next to scipy, and the laws they keep."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from passmuster.scoring._means import mean_interval


def found(interval: tuple[float, float] | None) -> tuple[float, float]:
    assert interval is not None
    return interval


@pytest.mark.parametrize("n", [0, 1, 9])
def test_few_values_have_no_interval(n: int) -> None:
    assert mean_interval([(float(value), 1.0) for value in range(n)]) is None


def test_the_mean_of_a_normal_sample_is_as_students() -> None:
    values = stats.norm.ppf((np.arange(100) + 0.5) / 100).tolist()
    theirs = stats.t.interval(0.95, 99, np.mean(values), stats.sem(values))
    assert found(mean_interval([(value, 1.0) for value in values])) == pytest.approx(theirs, abs=1e-9)


def test_a_long_tail_reaches_further_up() -> None:
    values = np.random.default_rng(1).lognormal(0, 1, 30).tolist()
    low, high = found(mean_interval([(value, 1.0) for value in values]))
    mean = math.fsum(values) / 30
    assert high - mean > 1.5 * (mean - low)


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1e6), st.integers(1, 9)), min_size=10, max_size=60), st.floats(0.5, 0.99))
def test_laws_of_mean_intervals(parts: list[tuple[float, int]], confidence: float) -> None:
    ratio = math.fsum(a for a, _ in parts) / math.fsum(b for _, b in parts)
    counted = [(a, float(b)) for a, b in parts]
    slack = 1e-6 * max(1.0, ratio)
    low, high = found(mean_interval(counted, confidence))
    assert low <= ratio + slack
    assert ratio - slack <= high
    surer = found(mean_interval(counted, (1 + confidence) / 2))
    assert surer[0] <= low + slack
    assert high <= surer[1] + slack
    assert mean_interval(counted[::-1], confidence) == pytest.approx((low, high), rel=1e-6, abs=slack)
