"""Kappa by published figures, and the laws of its interval."""

from __future__ import annotations

import time
from collections.abc import Hashable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passmuster.scoring import _agreement as agreement
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


@pytest.mark.parametrize("pairs", [[], [("a", "b")], [("a", "a")] * 300])
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


def test_the_formula_goes_on_where_drawing_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = table((80, 20), (30, 120))
    formula = kappa_interval(pairs)
    monkeypatch.setattr(agreement, "_DRAWN_UP_TO", 1_000)
    assert formula == pytest.approx(kappa_interval(pairs), abs=0.015)


def test_the_standard_error_by_a_published_figure() -> None:
    # Fleiss, Cohen and Everitt (1969): a table of 200, in percent 53 5 2 / 11 14 5 / 1 6 3.
    pairs = table((106, 10, 4), (22, 28, 10), (2, 12, 6))
    kappa, interval = cohens_kappa(pairs), kappa_interval(pairs * 2, 0.95)
    assert kappa == pytest.approx(0.429, abs=5e-4)
    assert interval is not None
    variance = ((interval[1] - interval[0]) / 2 / 1.959963984540054) ** 2 * 2
    assert variance == pytest.approx(0.002885, abs=5e-6)


@pytest.mark.parametrize("n", [200, 20_000])
def test_it_is_quick(n: int) -> None:
    rng = Random(1)
    pairs: Pairs = [(rng.random() < 0.7, rng.random() < 0.7) for _ in range(n)]
    start = time.process_time()
    kappa_interval(pairs)
    assert time.process_time() - start < 1
