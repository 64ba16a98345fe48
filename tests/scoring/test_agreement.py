"""Kappa by published figures, and the laws of its interval."""

from __future__ import annotations

import time
from collections.abc import Hashable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passmuster.scoring._agreement import cohens_kappa, kappa_interval

Pairs = list[tuple[Hashable, Hashable]]

labels = st.sampled_from(["pass", "fail", "unsure"])


def table(*rows: tuple[int, ...]) -> Pairs:
    """The pairs of a table: a row for each label of the first rater, a column for each of the second."""
    return [
        (row, column)
        for row, numbers in enumerate(rows)
        for column, number in enumerate(numbers)
        for _ in range(number)
    ]


@pytest.mark.parametrize(
    ("pairs", "kappa"),
    [
        (table((20, 5), (10, 15)), 0.4),
        (table((45, 15), (25, 15)), 0.1304347826),
        (table((25, 35), (5, 35)), 0.2592592593),
        (table((88, 14, 18), (10, 40, 10), (2, 6, 12)), 0.4915254237),  # Cohen (1960), table 1, of 200
        (table((5, 0), (0, 5)), 1.0),
        (table((0, 5), (5, 0)), -1.0),
        ([("a", "b")] * 3, 0.0),
        ([("a", "a")] * 3, None),
        ([], None),
    ],
)
def test_cohens_kappa(pairs: Pairs, kappa: float | None) -> None:
    assert cohens_kappa(pairs) == pytest.approx(kappa, abs=1e-9)


@pytest.mark.parametrize("pairs", [[], [("a", "a")] * 300])
def test_no_interval(pairs: Pairs) -> None:
    assert kappa_interval(pairs) is None


@settings(max_examples=10, deadline=None)
@given(st.lists(st.tuples(labels, labels), min_size=2, max_size=30), st.randoms(use_true_random=False))
def test_laws_of_kappa_intervals(pairs: Pairs, rng: Random) -> None:
    kappa, interval = cohens_kappa(pairs), kappa_interval(pairs)
    if kappa is None:
        assert interval is None
        return
    assert interval is not None
    assert -1 <= interval[0] <= kappa <= interval[1] <= 1
    rng.shuffle(pairs)
    assert kappa_interval(pairs) == interval
    surer = kappa_interval(pairs, 0.99)
    assert surer is not None
    assert surer[0] <= interval[0]
    assert interval[1] <= surer[1]


def test_many_pairs_are_as_the_standard_error_has_them() -> None:
    # Fleiss, Cohen and Everitt (1969): of 200, in percent 53 5 2 / 11 14 5 / 1 6 3, with a variance of 0.002885.
    pairs = table((106, 10, 4), (22, 28, 10), (2, 12, 6))
    kappa, interval = cohens_kappa(pairs), kappa_interval(pairs * 8)
    assert kappa == pytest.approx(0.429, abs=5e-4)
    assert interval is not None
    assert (interval[1] - interval[0]) / 2 == pytest.approx(1.96 * (0.002885 / 8) ** 0.5, rel=0.06)


def test_perfect_agreement_has_a_width() -> None:
    interval = kappa_interval(table((15, 0), (0, 5)))
    assert interval is not None
    assert 0.3 < interval[0] < 0.9
    assert interval[1] == 1


def test_several_pairs_of_one_scenario_tell_less() -> None:
    pairs = table((40, 10), (10, 40))
    all_, few = kappa_interval(pairs), kappa_interval(pairs, effective=25)
    assert all_ is not None
    assert few is not None
    assert few[1] - few[0] > 1.6 * (all_[1] - all_[0])


@pytest.mark.parametrize("n", [200, 20_000])
def test_it_is_quick(n: int) -> None:
    rng = Random(1)
    pairs: Pairs = [(rng.random() < 0.7, rng.random() < 0.7) for _ in range(n)]
    start = time.process_time()
    kappa_interval(pairs)
    assert time.process_time() - start < 1
