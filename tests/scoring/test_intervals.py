"""Intervals of rates, next to scipy, and the laws they keep."""

from __future__ import annotations

import ast
import doctest
import math
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from passmuster.scoring._intervals import f1_interval, rate_interval, ratio_interval, wilson
from passmuster.scoring._quantiles import Z95, beta_below, normal_below, normal_quantile, t_quantile

STATISTICS = Path(__file__).parents[2] / "docs" / "statistics.md"

Runs = list[tuple[int, int]]

scenario = st.integers(1, 12).flatmap(lambda counted: st.tuples(st.integers(0, counted), st.just(counted)))
suites = st.lists(scenario, min_size=2, max_size=40)
weights = st.floats(0.1, 10)


def found(interval: tuple[float, float] | None) -> tuple[float, float]:
    assert interval is not None
    return interval


# ── Quantiles ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("p", [1e-300, 1e-20, 1e-9, 0.001, 0.025, 0.2, 0.4999, 0.5, 0.5001, 0.8, 0.975, 1 - 1e-12])
def test_normal_quantile(p: float) -> None:
    assert normal_quantile(p) == pytest.approx(stats.norm.ppf(p), rel=1e-15, abs=1e-15)


def test_z95_is_the_quantile() -> None:
    assert normal_quantile(0.975) == Z95


@pytest.mark.parametrize("p", [0.0, 1.0, -0.1, 1.1, math.nan])
def test_a_quantile_of_no_chance(p: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        normal_quantile(p)
    with pytest.raises(ValueError, match="between 0 and 1"):
        t_quantile(p, 5)


@pytest.mark.parametrize("df", [1, 1.0001, 1.5, 2, 3, 4.9, 5, 9, 10.7, 29, 99, 300.3, 999, 9_999, 10_000, 1e6])
@pytest.mark.parametrize("p", [1e-8, 1e-4, 0.025, 0.0999, 0.1001, 0.3, 0.4999, 0.5, 0.6, 0.9, 0.975, 0.995, 1 - 1e-9])
def test_t_quantile(p: float, df: float) -> None:
    assert t_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("x", [-9.0, -1.0, 0.0, 0.3, 5.0])
def test_normal_below(x: float) -> None:
    assert normal_below(x) == pytest.approx(stats.norm.cdf(x), rel=1e-12)


@pytest.mark.parametrize(("x", "a", "b"), [(0.3, 2, 5), (0.9, 0.5, 0.5), (0.05, 40.5, 3.2), (0, 1, 1), (1, 1, 1)])
def test_beta_below(x: float, a: float, b: float) -> None:
    assert beta_below(x, a, b) == pytest.approx(stats.beta.cdf(x, a, b), rel=1e-12)


def test_degrees_of_freedom_are_positive() -> None:
    with pytest.raises(ValueError, match="more than 0, not 0"):
        t_quantile(0.9, 0)


# ── Wilson ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("successes", "n"), [(0, 1), (1, 1), (0, 20), (7, 7), (1, 29), (15, 148), (81, 263), (999, 1000), (50_000, 100_000)]
)
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
def test_wilson(successes: int, n: int, confidence: float) -> None:
    theirs = stats.binomtest(successes, n).proportion_ci(confidence, method="wilson")
    ours = found(wilson(successes, n, normal_quantile((1 + confidence) / 2)))
    assert ours == pytest.approx((theirs.low, theirs.high), abs=1e-12)


@pytest.mark.parametrize("n", [0, -1, 0.0])
def test_wilson_of_nothing(n: float) -> None:
    assert wilson(0, n) is None


@settings(deadline=None)
@given(st.floats(0, 1), st.floats(0.01, 1e6), st.floats(0.1, 5))
def test_wilson_holds_the_rate(rate: float, n: float, z: float) -> None:
    low, high = found(wilson(rate * n, n, z))
    assert 0 <= low <= rate * n / n <= high <= 1


# ── Rates ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_single_runs_are_wilson() -> None:
    theirs = stats.binomtest(27, 30).proportion_ci(0.95, method="wilson")
    assert found(rate_interval([(1, 1)] * 27 + [(0, 1)] * 3)) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_weights_leave_fewer_scenarios() -> None:
    # Kish: (10·3 + 20·1)² / (10·9 + 20·1) = 2500 / 110; all of the heavy ones and half of the others passed, which
    # tells no more than if weights had nothing to do with it. The variance has (10·9 + 20)² / (10·81 + 20) - 1 degrees
    # of freedom.
    runs = [(1, 1)] * 20 + [(0, 1)] * 10
    weighted = rate_interval(runs, [3.0] * 10 + [1.0] * 20)
    n = 2500 / 110 * (Z95 / t_quantile(0.975, 110**2 / 830 - 1)) ** 2
    assert found(weighted) == pytest.approx(found(wilson(0.8 * n, n)))


def test_heavy_scenarios_that_fail_widen_the_interval() -> None:
    by = [3.0] * 10 + [1.0] * 20
    light = found(rate_interval([(1, 1)] * 10 + [(0, 1)] * 12 + [(1, 1)] * 8, by))
    heavy = found(rate_interval([(0, 1)] * 4 + [(1, 1)] * 26, by))
    assert heavy[1] - heavy[0] > light[1] - light[0]  # 38 of 50 weights passed in both


@settings(deadline=None)
@given(suites, st.data())
def test_no_interval_has_zero_width(runs: Runs, data: st.DataObject) -> None:
    low, high = found(rate_interval(runs))
    assert high > low
    by = data.draw(st.lists(weights, min_size=len(runs), max_size=len(runs)))
    low, high = found(rate_interval(runs, by))
    assert high > low


@settings(deadline=None)
@given(st.integers(2, 60), st.integers(0, 59), st.integers(1, 8))
def test_one_more_pass_never_lowers_either_end(n: int, passed: int, repeats: int) -> None:
    passed = min(passed, n - 1)
    runs = [(repeats, repeats)] * passed + [(0, repeats)] * (n - passed)
    before, after = found(rate_interval(runs)), found(rate_interval([(repeats, repeats), *runs[:-1]]))
    assert before[0] <= after[0] + 1e-12
    assert before[1] <= after[1] + 1e-12


@pytest.mark.parametrize("n", [2, 5, 20, 300])
def test_perfect_scores_have_wilsons_lower_end(n: int) -> None:
    """Two perfect scenarios say little, however many behaviors each has."""
    assert found(rate_interval([(4.0, 4)] * n)) == pytest.approx(found(wilson(n, n)))


@pytest.mark.parametrize(
    ("runs", "weights"),
    [([], None), ([(0, 0), (0, 0)], None), ([(3, 5)], None), ([(5, 5), (0, 0)], None), ([(1, 1)], [0.0])],
)
def test_no_interval(runs: Runs, weights: Sequence[float] | None) -> None:
    """Without a scenario there is nothing to say; one scenario that ran repeatedly says nothing about others."""
    assert rate_interval(runs, weights) is None


def test_one_single_run_is_a_sample_of_one() -> None:
    assert rate_interval([(1, 1)]) == pytest.approx(wilson(1, 1))


@pytest.mark.parametrize("repeats", [3, 10])
def test_an_agent_that_never_varies_gains_nothing_by_repeats(repeats: int) -> None:
    single = rate_interval([(1, 1)] * 16 + [(0, 1)] * 4)
    assert rate_interval([(repeats, repeats)] * 16 + [(0, repeats)] * 4) == pytest.approx(single)


@pytest.mark.parametrize("passed", [0, 5])
def test_all_alike_tells_nothing_of_how_runs_differ(passed: int) -> None:
    assert rate_interval([(passed, 5)] * 20) == pytest.approx(wilson(passed * 4, 20))


def test_scenarios_that_are_alike_gain_almost_all_runs() -> None:
    low, high = found(rate_interval([(4, 5)] * 1_000))
    assert (low, high) == pytest.approx(found(wilson(4_000, 5_000)), abs=1e-4)


def test_scenarios_without_runs_are_left_out() -> None:
    assert rate_interval([(2, 3), (0, 0), (3, 3)]) == rate_interval([(2, 3), (3, 3)])


@settings(deadline=None)
@given(suites)
def test_between_single_and_independent_runs(runs: Runs) -> None:
    rate = math.fsum(passed / counted for passed, counted in runs) / len(runs)
    total = sum(counted for _, counted in runs)
    low, high = found(rate_interval(runs))
    widest, narrowest = found(wilson(rate * len(runs), len(runs))), found(wilson(rate * total, total))
    assert widest[0] - 1e-9 <= low <= narrowest[0] + 1e-9
    assert narrowest[1] - 1e-9 <= high <= widest[1] + 1e-9


@settings(deadline=None)
@given(st.lists(st.tuples(scenario, weights), min_size=2, max_size=30), st.floats(0.5, 0.99))
def test_laws_of_rate_intervals(weighted: list[tuple[tuple[int, int], float]], confidence: float) -> None:
    runs, by = [run for run, _ in weighted], [weight for _, weight in weighted]
    rate = math.fsum(w * passed / counted for (passed, counted), w in weighted) / math.fsum(by)
    low, high = found(rate_interval(runs, by, confidence))
    assert 0 <= low <= rate + 1e-12
    assert rate - 1e-12 <= high <= 1
    surer = found(rate_interval(runs, by, (1 + confidence) / 2))
    assert surer[0] <= low + 1e-12
    assert high <= surer[1] + 1e-12
    turned = list(reversed(weighted))
    assert rate_interval([run for run, _ in turned], [w for _, w in turned], confidence) == (low, high)


@settings(deadline=None)
@given(suites, st.floats(0.1, 100))
def test_equal_weights_are_none(runs: Runs, weight: float) -> None:
    assert found(rate_interval(runs, [weight] * len(runs))) == pytest.approx(found(rate_interval(runs)), abs=1e-9)


# ── Ratios and F1 ───────────────────────────────────────────────────────────────────────────────────────────


def test_precision_of_single_runs_is_wilsons() -> None:
    parts = [(1.0, 1.0, 1.0)] * 12 + [(0.0, 1.0, 1.0)] * 4 + [(0.0, 0.0, 1.0)] * 9
    assert found(ratio_interval(parts)) == pytest.approx(found(wilson(12, 16)))


def test_f1_is_wilsons_interval_of_theta() -> None:
    parts = [(1.0, 1.0, 1.0)] * 12 + [(0.0, 1.0, 1.0)] * 6 + [(0.0, 0.0, 1.0)] * 9
    low, high = found(wilson(12, 18))
    assert found(f1_interval(parts)) == pytest.approx((2 * low / (1 + low), 2 * high / (1 + high)))
    assert found(f1_interval([(1.0, 1.0, 1.0)] * 8))[0] < 1
    assert f1_interval([(0.0, 0.0, 1.0)] * 8) is None


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.booleans()), min_size=2, max_size=30))
def test_laws_of_f1(found_by_run: list[tuple[int, int, bool]]) -> None:
    parts = [(a / 5, 1.0, 5.0) if positive else (0.0, b / 5, 5.0) for a, b, positive in found_by_run]
    whole = math.fsum(b for _, b, _ in parts)
    interval = f1_interval(parts)
    if not whole or interval is None:
        return
    theta = math.fsum(a for a, _, _ in parts) / whole
    assert interval[0] - 1e-9 <= 2 * theta / (1 + theta) <= interval[1] + 1e-9
    assert interval[0] < interval[1]


# ── Around it ───────────────────────────────────────────────────────────────────────────────────────────────


def test_imports_stay_light() -> None:
    """A gate starts cold in every pull request."""
    folder = Path(__file__).parents[2] / "src" / "passmuster" / "scoring"
    for name in ("_intervals.py", "_quantiles.py", "_percentiles.py"):
        tree = ast.parse((folder / name).read_text(encoding="utf-8"))
        nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
        names = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
        names |= {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        assert names <= {"__future__", "collections.abc", "math", "passmuster.scoring._quantiles"}


def test_the_page_says_what_comes_out() -> None:
    page = "".join(
        re.findall(r"^```python\n(.*?)^```$", STATISTICS.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    )
    examples = doctest.DocTestParser().get_doctest(page, {}, STATISTICS.name, str(STATISTICS), 0)
    assert len(examples.examples) > 10
    assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples).failed == 0
