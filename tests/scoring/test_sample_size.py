"""How many more scenarios would settle a bound: by hand, by simulation, and the laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from passmuster.scoring._intervals import rate_interval, wilson
from passmuster.scoring._means import mean_interval
from passmuster.scoring._sample_size import more_to_settle, more_to_settle_mean

Runs = list[tuple[float, float]]


def single(passed: int, n: int) -> Runs:
    return [(1.0, 1.0)] * passed + [(0.0, 1.0)] * (n - passed)


@pytest.mark.parametrize(
    ("passed", "n", "bound", "more"),
    [(20, 20, 0.9, 15), (95, 100, 0.9, 92), (90, 100, 0.9, None), (85, 100, 0.9, 163), (9_001, 10_000, 0.9, None)],
)
def test_single_runs(passed: int, n: int, bound: float, more: int | None) -> None:
    assert more_to_settle(single(passed, n), bound).scenarios == more


@pytest.mark.parametrize(("passed", "n", "bound"), [(95, 100, 0.9), (190, 200, 0.92), (28, 40, 0.6), (10, 40, 0.4)])
def test_the_chance_is_80_percent(passed: int, n: int, bound: float) -> None:
    more = more_to_settle(single(passed, n), bound).scenarios
    assert more is not None

    def settled(added: int) -> bool:
        low, high = wilson(passed + added, n + more) or (0.0, 1.0)
        return low >= bound if passed / n > bound else high <= bound

    chance = sum(stats.binom.pmf(added, more, passed / n) for added in range(more + 1) if settled(added))
    assert 0.8 <= chance <= 0.86


KINDS = {
    "repeats": ([(5.0, 5.0)] * 50 + [(4.0, 5.0)] * 5 + [(1.0, 5.0)] * 5, None),
    "scores": ([(4.0, 4.0)] * 40 + [(3.0, 4.0)] * 14 + [(1.0, 4.0)] * 6, None),
    "weights": (single(55, 60), [3.0] * 10 + [1.0] * 47 + [3.0] * 3),
}


@pytest.mark.parametrize("kind", KINDS)
def test_repeats_scores_and_weights_settle_in_about_80_percent(kind: str) -> None:
    runs, weights = KINDS[kind]
    bound = 0.85
    more = more_to_settle(runs, bound, weights).scenarios
    assert more is not None
    rng = np.random.default_rng(1)
    settled = 0
    for _ in range(200):
        drawn = rng.integers(0, len(runs), more).tolist()
        by = None if weights is None else [*weights, *(weights[place] for place in drawn)]
        low, _ = rate_interval([*runs, *(runs[place] for place in drawn)], by) or (0.0, 1.0)
        settled += low >= bound
    assert 0.7 <= settled / 200 <= 0.9  # 80 %, three standard errors to either side


def test_repeats_settle_where_runs_vary() -> None:
    varied = more_to_settle([(4.0, 5.0)] * 30 + [(5.0, 5.0)] * 30, 0.84)
    assert varied.repeats is not None
    assert varied.scenarios is not None
    assert more_to_settle([(5.0, 5.0)] * 55 + [(0.0, 5.0)] * 5, 0.85).repeats is None  # runs never differ
    assert more_to_settle(single(55, 60), 0.85).repeats is None  # nobody knows


def test_it_takes_more_scenarios_if_only_some_count() -> None:
    runs = single(95, 100)
    all_, half = more_to_settle(runs, 0.9).scenarios, more_to_settle(runs, 0.9, of=0.5).scenarios
    assert all_ is not None
    assert half == 2 * all_


def test_means_settle_in_about_80_percent() -> None:
    rng = np.random.default_rng(2)
    seen = rng.gamma(4, 0.25, 30).tolist()
    bound = sum(seen) / 30 * 1.15
    more = more_to_settle_mean([(value, 1.0) for value in seen], bound).scenarios
    assert more is not None
    settled = 0
    for _ in range(200):
        drawn = rng.choice(seen, more).tolist()
        _, high = mean_interval([(value, 1.0) for value in (*seen, *drawn)]) or (0.0, np.inf)
        settled += high <= bound
    assert 0.65 <= settled / 200 <= 0.92


def test_few_means_take_ten_at_least() -> None:
    assert more_to_settle_mean([(1.0, 1.0), (1.001, 1.0), (0.999, 1.0)], 5.0).scenarios == 7
    assert more_to_settle_mean([(1.0, 1.0)], 5.0).scenarios is None


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 200), st.floats(0, 1), st.floats(0.05, 0.95), st.sampled_from([0.8, 0.95, 0.99]))
def test_being_surer_takes_no_fewer(n: int, share: float, bound: float, confidence: float) -> None:
    runs = single(round(n * share), n)
    less, more = (more_to_settle(runs, bound, None, one).scenarios for one in (confidence, (1 + confidence) / 2))
    if more is not None:
        assert less is not None
        assert less <= more + 3  # chances of whole numbers go up and down
