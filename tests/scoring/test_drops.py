"""Permutation tests, next to scipy, and the laws they keep."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from itertools import combinations, product
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from passmuster.scoring import _permutations as permutations
from passmuster.scoring._drops import (
    Method,
    RatePair,
    _flipped,
    holm,
    mean_rise_p_value,
    percentile_rise_p_value,
    rate_drop_p_value,
)

Parts = list[tuple[float, float]]

shuffles = st.randoms(use_true_random=False)
chances = st.floats(1e-6, 1)


def drop_p_value(before: Sequence[float], after: Sequence[float]) -> float:
    """The chance of a drop of whole scenarios."""
    return _flipped([(one, other, 1.0) for one, other in zip(before, after, strict=True)])


# ── Drops ───────────────────────────────────────────────────────────────────────────────────────────────────


def permutation(before: list[float], after: list[float]) -> float:
    def difference(one: Any, other: Any, axis: int) -> Any:
        return np.sum(one - other, axis=axis)

    kept = [(one, other) for one, other in zip(before, after, strict=True) if one != other]
    result = stats.permutation_test(
        tuple(zip(*kept, strict=True)),
        difference,
        permutation_type="samples",
        alternative="greater",
        n_resamples=10_000,
    )
    return float(result.pvalue)


@settings(deadline=None)
@given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 20))
def test_single_runs_are_mcnemars_test(lost: int, won: int, same: int) -> None:
    before = [1.0] * lost + [0.0] * won + [1.0] * same
    after = [0.0] * lost + [1.0] * won + [1.0] * same
    expected = stats.binom.sf(lost - 1, lost + won, 0.5)
    assert drop_p_value(before, after) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("repeats", [2, 3, 5, 7, 10])
@pytest.mark.parametrize("n", [6, 10])
def test_repeated_runs_are_the_exact_permutation_test(n: int, repeats: int) -> None:
    rng = Random(n * repeats)
    before = [rng.randint(0, repeats) / repeats for _ in range(n)]
    after = [rng.randint(0, repeats) / repeats for _ in range(n)]
    assert drop_p_value(before, after) == pytest.approx(permutation(before, after), abs=1e-9)


@pytest.mark.parametrize("n", [2, 7, 12])
def test_any_scores_are_the_exact_permutation_test(n: int) -> None:
    rng = Random(n)
    before, after = [rng.random() for _ in range(n)], [rng.random() for _ in range(n)]
    assert drop_p_value(before, after) == pytest.approx(permutation(before, after), abs=1e-9)


def test_drawn_signs_come_near_the_exact_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(5)
    before, after = [rng.randint(2, 10) / 10 for _ in range(60)], [rng.randint(1, 9) / 10 for _ in range(60)]
    exact = drop_p_value(before, after)
    monkeypatch.setattr(permutations, "_STEPS", 0)
    assert drop_p_value(before, after) == pytest.approx(exact, abs=4 * math.sqrt(exact / 20_000))


def test_ties_count_whatever_their_last_digit() -> None:
    # Each of the three sums is the same but for rounding; only one sign vector in eight is larger.
    before, after = [0.1 + 0.2, 0.3, math.pi], [0.0, 0.0, math.pi - 0.3]
    assert drop_p_value(before, after) == pytest.approx(1 / 8)
    assert drop_p_value([*before, 0.0], [*after, 0.3]) == pytest.approx(5 / 16)


@pytest.mark.parametrize(
    ("before", "after", "p"),
    [
        ([], [], 1.0),
        ([1, 0, 0.5], [1, 0, 0.5], 1.0),
        ([math.pi], [math.pi], 1.0),
        ([1], [0], 0.5),
        ([0], [1], 1.0),
        ([1] * 5, [0] * 5, 1 / 32),
        ([2 / 3] * 5, [1 / 3] * 5, 1 / 32),
        ([2 / 3, 1.0, 0.7], [1 / 3, 2 / 3, 0.7], 0.25),
    ],
)
def test_drops_by_hand(before: list[float], after: list[float], p: float) -> None:
    assert drop_p_value(before, after) == pytest.approx(p)


@settings(max_examples=30, deadline=None)
@given(
    st.one_of(
        st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=25),
        st.lists(
            st.tuples(st.integers(0, 6), st.integers(0, 6)).map(lambda two: (two[0] / 6, two[1] / 6)), max_size=80
        ),
    ),
    shuffles,
)
def test_laws_of_drops(pairs: Parts, rng: Random) -> None:
    def p_value() -> float:
        return drop_p_value([one for one, _ in pairs], [other for _, other in pairs])

    p = p_value()
    assert 0 < p <= 1
    rng.shuffle(pairs)
    assert p_value() == pytest.approx(p)
    # A drop and a rise cannot both be unlikely: what is seen belongs to both.
    back = drop_p_value([other for _, other in pairs], [one for one, _ in pairs])
    assert p + back >= 1 - 0.02


@settings(deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=40))
def test_a_larger_drop_is_no_likelier(passed: list[int]) -> None:
    assume(any(number > 0 for number in passed))
    before = [1.0] * len(passed)
    after = [number / 4 for number in passed]
    lower = [max(0, number - 1) / 4 for number in passed]
    assert drop_p_value(before, lower) <= drop_p_value(before, after) + 1e-12


def test_lengths_have_to_match() -> None:
    with pytest.raises(ValueError, match="shorter"):
        drop_p_value([1.0, 1.0], [1.0])


@pytest.mark.parametrize("repeats", [1, 10, None])
def test_thousands_are_quick(repeats: int | None) -> None:
    rng = Random(2)

    def score() -> float:
        return rng.random() if repeats is None else rng.randint(0, repeats) / repeats

    before, after = [score() for _ in range(1_000)], [score() for _ in range(1_000)]
    start = time.process_time()
    drop_p_value(before, after)
    assert time.process_time() - start < 2  # 15 ms exactly, 200 ms by drawing, where nothing else runs


# ── Runs within scenarios ───────────────────────────────────────────────────────────────────────────────────


def rates(before: Sequence[int], n_before: int, after: Sequence[int], n_after: int) -> list[RatePair]:
    return [((then, n_before), (now, n_after), 1.0) for then, now in zip(before, after, strict=True)]


@pytest.mark.parametrize("method", ["runs", "scenarios"])
def test_single_runs_are_mcnemars_exact_test(method: Method) -> None:
    pairs = rates([1] * 8 + [0] * 2 + [1] * 20, 1, [0] * 8 + [1] * 2 + [1] * 20, 1)
    theirs = stats.binomtest(8, 10, alternative="greater").pvalue
    assert rate_drop_p_value(pairs, 0.0, method) == pytest.approx(theirs)


def test_one_scenario_is_fishers_exact_test() -> None:
    theirs = stats.fisher_exact([[9, 1], [4, 8]], alternative="greater").pvalue
    assert rate_drop_p_value([((9, 10), (4, 12), 1.0)]) == pytest.approx(theirs)


def test_four_of_twenty_scenarios_that_break_are_seen() -> None:
    pairs = rates([5] * 20, 5, [0] * 4 + [5] * 16, 5)
    assert rate_drop_p_value(pairs) < 1e-9
    assert rate_drop_p_value(pairs, 0.0, "scenarios") == pytest.approx(1 / 16)


def test_weights_and_unequal_runs_are_as_enumerated() -> None:
    pairs = [((2, 3), (1, 4), 1.0), ((1, 1), (2, 3), 2.0), ((3, 3), (0, 2), 0.5)]
    seen = math.fsum(w * (k / n - j / m) for (k, n), (j, m), w in pairs)

    def drops(pair: RatePair) -> list[float]:
        (k, n), (j, m), w = pair
        runs = [1] * (k + j) + [0] * (n + m - k - j)
        chosen = (sum(runs[place] for place in places) for places in combinations(range(n + m), m))
        return [w * ((k + j - now) / n - now / m) for now in chosen]

    sums = [math.fsum(parts) for parts in product(*map(drops, pairs))]
    expected = sum(total >= seen - 1e-9 for total in sums) / len(sums)
    assert rate_drop_p_value(pairs) == pytest.approx(expected)


def test_the_drop_that_is_allowed_is_not_significant() -> None:
    before, after = [5] * 20, [4] * 10 + [5] * 10  # 10 points lower
    p_values = [rate_drop_p_value(rates(before, 5, after, 5), allowed) for allowed in (0.0, 0.02, 0.05, 0.09, 0.1, 0.2)]
    assert p_values[0] < 0.001
    assert p_values == sorted(p_values)
    assert p_values[-2:] == [1.0, 1.0]
    assert p_values[3] > 0.2


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(1, 5), st.integers(0, 4), st.integers(1, 4)), min_size=1, max_size=15
    ),
    st.sampled_from(["runs", "scenarios"]),
    st.sampled_from([0.0, 0.05]),
    shuffles,
)
def test_laws_of_rate_drops(drawn: list[tuple[int, ...]], method: Method, allowed: float, rng: Random) -> None:
    pairs: list[RatePair] = [((min(k, n), n), (min(j, m), m), 1.0) for k, n, j, m in drawn]
    p = rate_drop_p_value(pairs, allowed, method)
    assert 0 <= p <= 1
    rng.shuffle(pairs)
    assert rate_drop_p_value(pairs, allowed, method) == pytest.approx(p)
    if not allowed:
        back = rate_drop_p_value([(after, before, w) for before, after, w in pairs], 0.0, method)
        assert p + back >= 1 - 1e-9


def test_an_unchanged_agent_is_rarely_blocked_whatever_the_numbers_of_runs() -> None:
    rng = np.random.default_rng(11)
    alarms = 0
    for _ in range(150):
        own = rng.beta(2.1, 0.23, 20)
        pairs = rates(rng.binomial(1, own).tolist(), 1, rng.binomial(10, own).tolist(), 10)
        alarms += rate_drop_p_value(pairs) < 0.05
    assert alarms <= 13  # 5 % are 7.5; more than 13 have a chance of 2 %


def test_it_takes_tenths_of_a_second() -> None:
    rng = np.random.default_rng(1)
    own = rng.beta(2.1, 0.23, 300)
    pairs = rates(rng.binomial(5, own).tolist(), 5, rng.binomial(5, own).tolist(), 5)
    start = time.process_time()
    rate_drop_p_value(pairs)
    assert time.process_time() - start < 0.5  # 40 ms where nothing else runs


# ── Means and percentiles ───────────────────────────────────────────────────────────────────────────────────


def test_means_of_runs_are_as_scipys() -> None:
    then, now = [3.0, 5.0, 4.0, 9.0], [7.0, 8.0, 6.5]
    theirs = stats.permutation_test(
        (now, then), lambda one, other: np.mean(one) - np.mean(other), alternative="greater"
    )
    assert mean_rise_p_value([(then, now, 1.0)]) == pytest.approx(theirs.pvalue)


def test_a_rise_that_is_allowed_is_not_significant() -> None:
    rng = np.random.default_rng(3)
    pairs = [(rng.lognormal(0, 0.2, 5).tolist(), (rng.lognormal(0, 0.2, 5) * 1.2).tolist(), 5.0) for _ in range(30)]
    for p_value in (mean_rise_p_value, lambda pairs, rise: percentile_rise_p_value(pairs, 0.5, rise)):
        assert p_value(pairs, 0.0) < 0.01
        assert p_value(pairs, 0.2) > 0.05


def test_a_doubled_p95_is_seen_though_the_means_hardly_move() -> None:
    rng = np.random.default_rng(5)

    def durations(slow: float) -> list[list[float]]:
        return [np.where(rng.random(10) < 0.08, slow, rng.normal(300, 30, 10)).tolist() for _ in range(30)]

    pairs = [(then, now, 10.0) for then, now in zip(durations(1_000), durations(2_000), strict=True)]
    assert percentile_rise_p_value(pairs, 0.95) < 0.01
    same = [(then, now, 10.0) for then, now in zip(durations(1_000), durations(1_000), strict=True)]
    assert percentile_rise_p_value(same, 0.95) > 0.05


def test_figures_that_do_not_vary_say_nothing() -> None:
    assert mean_rise_p_value([([2.0, 2.0], [2.0], 1.0)] * 4) == 1
    assert percentile_rise_p_value([([2.0, 2.0], [2.0], 1.0)] * 4, 0.95) == 1


# ── Holm ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("raw", "adjusted"),
    [
        ([], []),
        ([0.03], [0.03]),
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ([0.5, 0.9], [1.0, 1.0]),
        ([0.02, 0.02, 0.02], [0.06, 0.06, 0.06]),
    ],
)
def test_holm(raw: list[float], adjusted: list[float]) -> None:
    assert holm(raw) == pytest.approx(adjusted)


@settings(deadline=None)
@given(st.lists(chances, min_size=1, max_size=12), shuffles)
def test_laws_of_holm(raw: list[float], rng: Random) -> None:
    adjusted = holm(raw)
    assert all(p <= q <= 1 for p, q in zip(raw, adjusted, strict=True))
    by_raw = [q for _, q in sorted(zip(raw, adjusted, strict=True))]
    assert by_raw == sorted(by_raw)
    assert all(
        q <= min(1.0, len(raw) * p) + 1e-15 for p, q in zip(raw, adjusted, strict=True)
    )  # never above Bonferroni
    paired = list(zip(raw, adjusted, strict=True))
    rng.shuffle(paired)
    assert holm([p for p, _ in paired]) == [q for _, q in paired]
