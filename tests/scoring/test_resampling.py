"""Bootstrap intervals and permutation tests, next to scipy, and the laws they keep."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from passmuster.scoring import _resampling as resampling
from passmuster.scoring._resampling import drop_p_value, holm, mean_interval, ratio_interval

Parts = list[tuple[float, float]]

shuffles = st.randoms(use_true_random=False)
chances = st.floats(1e-6, 1)
few = settings(max_examples=15, deadline=None)


def found(interval: tuple[float, float] | None) -> tuple[float, float]:
    assert interval is not None
    return interval


# ── Intervals ───────────────────────────────────────────────────────────────────────────────────────────────


@few
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.1, 5)), min_size=2, max_size=40), shuffles)
def test_laws_of_mean_intervals(weighted: Parts, rng: Random) -> None:
    values, weights = [value for value, _ in weighted], [weight for _, weight in weighted]
    mean = math.fsum(v * w for v, w in weighted) / math.fsum(weights)
    low, high = found(mean_interval(values, weights))
    assert min(values) - 1e-12 <= low <= mean + 1e-12
    assert mean - 1e-12 <= high <= max(values) + 1e-12
    surer = found(mean_interval(values, weights, 0.99))
    assert surer[0] <= low + 1e-12
    assert high <= surer[1] + 1e-12
    rng.shuffle(weighted)
    assert mean_interval([value for value, _ in weighted], [weight for _, weight in weighted]) == (low, high)


@pytest.mark.parametrize(
    "interval",
    [
        mean_interval([], []),
        mean_interval([0.5], [1.0]),
        mean_interval([0.5, 0.7], [1.0, 0.0]),
        ratio_interval([(1, 0), (2, 0)]),
        ratio_interval([(0, 0)] * 5),
        ratio_interval([(1, 1)]),
    ],
)
def test_no_interval(interval: tuple[float, float] | None) -> None:
    assert interval is None


@pytest.mark.parametrize("n", [2, 20, 1_000])
def test_values_all_alike(n: int) -> None:
    assert found(mean_interval([0.25] * n, [1.0] * n)) == pytest.approx((0.25, 0.25))


def test_the_mean_of_a_normal_sample_is_as_students() -> None:
    values = stats.norm.ppf((np.arange(100) + 0.5) / 100).tolist()
    theirs = stats.t.interval(0.95, 99, np.mean(values), stats.sem(values))
    assert found(mean_interval(values, [1.0] * 100)) == pytest.approx(theirs, abs=0.02)


def test_f1_is_a_ratio() -> None:
    counts = [(1.0, 0.0, 0.0)] * 12 + [(0.0, 1.0, 0.0)] * 4 + [(0.0, 0.0, 1.0)] * 2 + [(0.0, 0.0, 0.0)] * 9
    low, high = found(ratio_interval([(2 * tp, 2 * tp + fp + fn) for tp, fp, fn in counts]))
    assert 0.5 < low < 24 / 30 < high < 1


def tokens(rng: Random) -> tuple[float, float]:
    return rng.choice([0.0, 1.0, 1.0]), rng.lognormvariate(7, 0.8)


PARTS: dict[str, Callable[[Random], tuple[float, float]]] = {
    "scores": lambda rng: (rng.choice([0, 0.5, 1, 1, 1]), 1.0),
    "weighted": lambda rng: (lambda weight: (weight * rng.random(), weight))(rng.choice([1.0, 2.0, 5.0])),
    "labels": lambda rng: rng.choice([(2, 2), (2, 2), (0, 1), (0, 0)]),
    "tokens": tokens,
    "skewed": lambda rng: (rng.lognormvariate(0, 1.5), 1.0),
}


@pytest.mark.parametrize("kind", PARTS)
def test_calculated_is_as_drawn(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond some number nothing is drawn: the ends are where drawing would put them, but for chance."""
    rng = Random(kind)
    parts = [PARTS[kind](rng) for _ in range(200)]
    calculated = found(ratio_interval(parts))
    rng.shuffle(parts)
    assert ratio_interval(parts) == calculated
    monkeypatch.setattr(resampling, "_DRAWN_UP_TO", 200)
    drawn = found(ratio_interval(parts))
    assert calculated == pytest.approx(drawn, abs=0.06 * (drawn[1] - drawn[0]))


def test_one_value_far_away() -> None:
    low, high = found(mean_interval([1.0] * 999 + [1e6], [1.0] * 1_000))
    assert 1 <= low <= 1000.999 <= high <= 5_000


@pytest.mark.parametrize("n", [150, 1_000])
def test_it_is_quick(n: int) -> None:
    rng = Random(1)
    values, weights = [rng.random() for _ in range(n)], [1.0] * n
    start = time.process_time()
    mean_interval(values, weights)
    assert time.process_time() - start < 1  # 40 and 5 ms where nothing else runs


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
    monkeypatch.setattr(resampling, "_BIT_STEPS", 0)
    assert drop_p_value(before, after) == pytest.approx(exact, abs=4 * math.sqrt(exact / 20_000))


def test_ties_count_whatever_their_last_digit() -> None:
    # Each of the three sums is the same but for rounding; only one sign vector in eight is larger.
    before, after = [0.1 + 0.2, 0.3, math.pi], [0.0, 0.0, math.pi - 0.3]
    assert drop_p_value(before, after) == 1 / 8
    assert drop_p_value([*before, 0.0], [*after, 0.3]) == 5 / 16


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
    assert drop_p_value(before, after) == p


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
    assert p_value() == p
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
    assert drop_p_value(before, lower) <= drop_p_value(before, after)


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
