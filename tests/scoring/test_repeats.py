"""k tries of one scenario, next to all subsets of its runs."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passmuster.scoring._repeats import pass_at_k, pass_hat_k


@pytest.mark.parametrize(
    ("runs", "passed", "k", "one", "every"),
    [
        (1, 1, 1, 1.0, 1.0),
        (1, 0, 1, 0.0, 0.0),
        (4, 2, 1, 0.5, 0.5),
        (4, 2, 2, 5 / 6, 1 / 6),
        (5, 4, 2, 1.0, 0.6),
        (5, 0, 5, 0.0, 0.0),
        (3, 3, 3, 1.0, 1.0),
        (2, 1, 3, None, None),
    ],
)
def test_k_tries(runs: int, passed: int, k: int, one: float | None, every: float | None) -> None:
    assert pass_at_k(runs, passed, k) == pytest.approx(one)
    assert pass_hat_k(runs, passed, k) == pytest.approx(every)


@settings(deadline=None)
@given(st.integers(1, 8).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_means_over_all_choices_of_k_runs(given_: tuple[int, int, int]) -> None:
    runs, passed, k = given_
    choices = list(combinations([True] * passed + [False] * (runs - passed), k))
    assert pass_at_k(runs, passed, k) == pytest.approx(sum(map(any, choices)) / len(choices))
    assert pass_hat_k(runs, passed, k) == pytest.approx(sum(map(all, choices)) / len(choices))


@settings(deadline=None)
@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_all_of_k_fail_where_not_one_passes(given_: tuple[int, int, int]) -> None:
    runs, passed, k = given_
    one, every_other = pass_at_k(runs, passed, k), pass_hat_k(runs, runs - passed, k)
    assert one is not None
    assert every_other is not None
    assert one == pytest.approx(1 - every_other)


def test_large_numbers_stay_exact() -> None:
    assert pass_hat_k(100_000, 99_999, 50_000) == 0.5


@pytest.mark.parametrize(
    ("runs", "passed", "k", "said"), [(3, 1, 0, "k is 0"), (3, 4, 1, "4 of 3"), (3, -1, 1, "-1 of")]
)
def test_what_cannot_be(runs: int, passed: int, k: int, said: str) -> None:
    for of in (pass_at_k, pass_hat_k):
        with pytest.raises(ValueError, match=said):
            of(runs, passed, k)
