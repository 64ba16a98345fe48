"""Prediction intervals: what a fresh run of the same agent reaches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passmuster.scoring._prediction import largest_mean, largest_percentile, least_rate


@pytest.mark.parametrize(("n", "repeats", "rate"), [(40, 1, 0.9), (20, 5, 0.9), (100, 1, 0.97)])
def test_an_unchanged_agent_rarely_falls_below(n: int, repeats: int, rate: float) -> None:
    rng = np.random.default_rng(n)
    below = 0
    for _ in range(400):
        own = rng.beta(rate * 2.3, (1 - rate) * 2.3, n)
        then, now = rng.binomial(repeats, own), rng.binomial(repeats, own)
        least = least_rate([(passed, repeats) for passed in then.tolist()])
        assert least is not None
        below += now.mean() / repeats < least - 1e-9
    assert below <= 24  # 6 %


@settings(deadline=None)
@given(st.integers(1, 100), st.floats(0, 1), st.integers(1, 5))
def test_it_is_below_what_was_reached_and_not_by_nothing(n: int, share: float, repeats: int) -> None:
    passed = round(n * share)
    least = least_rate([(repeats, repeats)] * passed + [(0, repeats)] * (n - passed))
    assert least is not None
    assert 0 <= least <= passed / n
    assert not passed or least < passed / n


def test_percentiles_of_a_fresh_run_rarely_exceed() -> None:
    rng = np.random.default_rng(3)
    above = 0
    for _ in range(300):
        then, now = rng.lognormal(0, 1, 200), rng.lognormal(0, 1, 200)
        largest = largest_percentile(then.tolist(), 0.95)
        assert largest is not None
        above += bool(np.percentile(now, 95) > largest)
    assert above <= 18
    assert largest_percentile(list(range(20)), 0.95) is None


def test_means_of_a_fresh_run_rarely_exceed() -> None:
    rng = np.random.default_rng(4)
    above = 0
    for _ in range(300):
        size = rng.lognormal(0, 1, 30)[:, None]
        then, now = size * rng.lognormal(0, 0.5, (30, 5)), size * rng.lognormal(0, 0.5, (30, 5))
        largest = largest_mean(then.tolist())
        assert largest is not None
        above += bool(now.mean() > largest)
    assert above <= 18
    assert largest_mean([[1.0]]) is None
