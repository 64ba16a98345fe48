"""Bounds are read as people write them, and what could never fail or never hold is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.suite.suite_files import load

from passmuster.checks._custom import CustomMetric
from passmuster.scoring import declared_metrics
from passmuster.scoring._bound_text import read_bound
from passmuster.scoring._metrics import known_metrics, metric_named
from passmuster.suite._gate_model import Bound
from passmuster.suite._quantities import fraction, read_share, share
from passmuster.suite.grammar._reader import Reader
from passmuster.suite.text._nodes import Node, Scalar
from passmuster.suite.text._yaml import read_yaml

METRICS = declared_metrics()


def node(text: str) -> Node:
    """The node of a value as it would be written in a suite."""
    return read_yaml(f"k: {text}\n", "s.yaml").get("k")  # type: ignore[union-attr, return-value]


def read(text: str, metric: str = "accuracy") -> tuple[Bound | None, list[str]]:
    reader = Reader("s.yaml")
    bound = read_bound(reader, node(text), "at", METRICS[metric])
    return bound, [str(problem) for problem in reader.problems]


@pytest.mark.parametrize(
    ("metric", "written", "shown", "value"),
    [
        ("pass_rate", "≥ 85%", ">= 85%", 0.85),
        ("accuracy", "≥ 95%", ">= 95%", 0.95),
        ("accuracy", "≥85 %", ">= 85%", 0.85),
        ("accuracy", "'>= 0.85'", ">= 85%", 0.85),
        ("accuracy", "'>=85%'", ">= 85%", 0.85),
        ("accuracy", "'> 85%'", "> 85%", 0.85),
        ("accuracy", "'= 100%'", "= 100%", 1.0),
        ("accuracy", "'== 1'", "= 100%", 1.0),
        ("safety_rate", "100%", ">= 100%", 1.0),
        ("safety_rate", "100", ">= 100%", 1.0),
        ("safety_rate", "1", ">= 100%", 1.0),
        ("safety_rate", "1.0", ">= 100%", 1.0),
        ("accuracy", "90", ">= 90%", 0.9),
        ("accuracy", "0.9", ">= 90%", 0.9),
        ("accuracy", ".9", ">= 90%", 0.9),
        ("accuracy", "'90'", ">= 90%", 0.9),
        ("accuracy", "1.5", ">= 1.5%", 0.015),
        ("accuracy", "1%", ">= 1%", 0.01),
        ("accuracy", "0.5%", ">= 0.5%", 0.005),
        ("accuracy", "7%", ">= 7%", 0.07),
        ("accuracy", "99.95%", ">= 99.95%", 0.9995),
        ("normalized_latency", "0.8", "<= 80%", 0.8),
        ("latency_p95", "5000", "<= 5000 ms", 5000.0),
        ("latency_p95", "< 5000ms", "< 5000 ms", 5000.0),
        ("latency_p95", "< 10000ms", "< 10000 ms", 10000.0),
        ("latency_p95", "≤ 5 s", "<= 5000 ms", 5000.0),
        ("latency_p50", "1.5s", "<= 1500 ms", 1500.0),
        ("latency_p99", "2 seconds", "<= 2000 ms", 2000.0),
        ("total_cost_usd", "0.5", "<= 0.5 USD", 0.5),
        ("mean_cost_usd", "$0.50", "<= 0.5 USD", 0.5),
        ("mean_cost_usd", "< 0.5 usd", "< 0.5 USD", 0.5),
        ("mean_cost_usd", "0.5$", "<= 0.5 USD", 0.5),
        ("total_cost_usd", "0", "<= 0 USD", 0.0),
        ("total_tokens", "2e6", "<= 2000000 tokens", 2e6),
        ("total_tokens", "20000 tokens", "<= 20000 tokens", 20000.0),
        ("token_efficiency", "0.0005", ">= 0.5 per 1,000 tokens", 0.0005),
        ("accuracy", "{min: 90}", ">= 90%", 0.9),
        ("accuracy", "{max: 99%}", "<= 99%", 0.99),
        ("latency_p95", "{max: 5s, description: as fast as before}", "<= 5000 ms", 5000.0),
    ],
)
def test_every_spelling(metric: str, written: str, shown: str, value: float) -> None:
    bound, problems = read(written, metric)
    assert problems == []
    assert bound is not None
    assert (bound.metric, bound.text, bound.value) == (metric, shown, value)
    assert (bound.line, bound.confidence, bound.undecided_blocks) == (1, None, False)


@pytest.mark.parametrize(
    ("written", "confidence", "blocks"),
    [
        ("{min: 90, confidence: 95%}", 0.95, False),
        ("{min: 90, confidence: 0.9, undecided: warn}", 0.9, False),
        ("{min: 90, confidence: 99%, undecided: block}", 0.99, True),
    ],
)
def test_confidence(written: str, confidence: float, blocks: bool) -> None:
    bound, problems = read(written)
    assert problems == []
    assert bound is not None
    assert (bound.confidence, bound.undecided_blocks) == (confidence, blocks)
    assert bound.column == len("k: {min: ") + 1, "the number's own place, for it is what gets raised"


@pytest.mark.parametrize(
    ("metric", "written", "problem"),
    [
        ("accuracy", "101", "1:4: at: 'accuracy' is a rate and cannot be above 100%"),
        ("accuracy", "'>= 850%'", "1:4: at: 'accuracy' is a rate and cannot be above 100%"),
        ("accuracy", "-5", "1:4: at: no value of 'accuracy' is below 0, so a bound cannot be; found -5"),
        ("latency_p95", "'< -1 ms'", "1:4: at: no value of 'latency_p95' is below 0"),
        ("latency_p95", "95%", "'latency_p95' is not a rate, so it has no percentage; write 5000, 5000ms or 5s"),
        ("token_efficiency", "90%", "'token_efficiency' is not a rate, so it has no percentage; write a number"),
        ("accuracy", "90ms", "'accuracy' is a rate and has no unit 'ms'; write 90% or 0.9"),
        ("latency_p95", "$5", "the unit '$' does not fit 'latency_p95'; write 5000, 5000ms or 5s"),
        ("latency_p95", "5 min", "the unit 'min' does not fit 'latency_p95'"),
        ("mean_cost_usd", "5 EUR", "the unit 'EUR' does not fit 'mean_cost_usd'; write 0.5, 0.5 USD or $0.5"),
        ("total_tokens", "5s", "the unit 's' does not fit 'total_tokens'; write 20000"),
        ("accuracy", "0", "'accuracy >= 0%' could never fail"),
        ("accuracy", "1e-10", "'accuracy >= 0.00000001%' could never fail"),
        ("token_efficiency", "0", "'token_efficiency >= 0 per 1,000 tokens' could never fail"),
        ("accuracy", "'<= 100%'", "'accuracy <= 100%' could never fail"),
        ("accuracy", "'> 100%'", "'accuracy > 100%' could never hold"),
        ("latency_p95", "'< 0'", "'latency_p95 < 0 ms' could never hold"),
        ("accuracy", "'!= 90%'", "'!=' is no comparator; write one of >=, <=, >, <, ="),
        ("accuracy", "≠ 90%", "'≠' is no comparator"),
        ("accuracy", "'=> 90%'", "'=>' is no comparator"),
        ("accuracy", "ninety", 'expected a bound such as 90, 0.9, ">= 85%" or "< 5000ms", found \'ninety\''),
        ("accuracy", "at least 90%", "found 'at least 90%'"),
        ("latency_p95", "'5,000'", "found '5,000'"),
        ("accuracy", "$90%", "found '$90%'"),
        ("accuracy", ".nan", "found 'nan'"),
        ("accuracy", ".inf", "found 'inf'"),
        ("latency_p95", "'1e999'", "the number '1e999' is too large to be compared"),
        ("accuracy", "true", "1:4: at: expected a bound such as 90"),
        ("accuracy", "null", "1:4: at: expected a bound such as 90"),
        ("accuracy", "[90]", "or a map with 'min' or 'max'"),
        ("accuracy", "{}", "1:4: at: needs 'min' or 'max'"),
        ("accuracy", "{min: 80, max: 90}", "1:14: at: one bound is 'min' or 'max'; state the other one under"),
        ("accuracy", "{minn: 80, max: 90}", "1:5: at: unknown key 'minn'; did you mean 'min'?"),
        ("accuracy", "{min: '>= 90'}", "1:10: at.min: the key says which way already; leave '>=' out"),
        ("accuracy", "{min: {min: 3}}", "1:10: at.min: expected a bound"),
        ("accuracy", "{min: 90, description: [a]}", "at.description: expected a string, found a list"),
        ("accuracy", "{min: 90, undecided: block}", "1:14: at: 'undecided' means nothing without 'confidence'"),
        ("accuracy", "{min: 90, confidence: 95%, undecided: fail}", "at.undecided: expected one of warn, block"),
        ("accuracy", "{min: 90, confidence: 95}", "'95' may mean a percentage or a fraction; write 95% or a number"),
        ("accuracy", "{min: 90, confidence: 1}", "'1' may mean a percentage or a fraction; write 1%"),
        ("accuracy", "{min: 90, confidence: 100%}", "at.confidence: has to lie between 0% and 100%, such as 95%"),
        ("accuracy", "{min: 90, confidence: 0}", "at.confidence: has to lie between 0% and 100%, such as 95%"),
        ("accuracy", "{min: 90, confidence: 200%}", "at.confidence: expected a share from 0% to 100%, found '200%'"),
        ("accuracy", "{min: 90, confidence: high}", "at.confidence: expected a share such as 1% or 0.01, found 'high'"),
        ("accuracy", "{min: 90, confidence: [1]}", "at.confidence: expected a share such as 1% or 0.01, found a list"),
        ("accuracy", "{min: 100, confidence: 95%}", "1:15: at.confidence: no sample can show that a rate is 100%"),
        ("accuracy", "{max: 0, confidence: 95%}", "at.confidence: no sample can show that a rate is 0%"),
        *(
            (name, "{max: 0.5, confidence: 95%}", f"no interval is defined for '{name}'; leave 'confidence' out")
            for name in ("total_cost_usd", "total_tokens", "normalized_latency", "weighted_score")
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_sentence(metric: str, written: str, problem: str) -> None:
    _, problems = read(written, metric)
    assert [problem in found for found in problems] == [True], problems


@pytest.mark.parametrize(
    ("written", "holds", "fails"),
    [
        ("'>= 85%'", [0.85, 0.85 - 1e-10, 1.0], [0.85 - 1e-8, 0.0]),
        ("'> 85%'", [0.86, 0.85 + 1e-8], [0.85, 0.85 + 1e-10]),
        ("'<= 85%'", [0.85, 0.85 + 1e-10, 0.0], [0.85 + 1e-8]),
        ("'< 85%'", [0.84, 0.85 - 1e-8], [0.85, 0.85 - 1e-10]),
        ("'= 85%'", [0.85, 0.85 + 1e-10, 0.85 - 1e-10], [0.8501, 0.8499]),
        ("1", [1.0, 1 - 1e-12], [0.999999]),
    ],
)
def test_a_hair_is_allowed_where_equal_is(written: str, holds: list[float], fails: list[float]) -> None:
    bound, _ = read(written)
    assert bound is not None
    assert [bound.holds(value) for value in [*holds, *fails]] == [True] * len(holds) + [False] * len(fails)
    assert not bound.holds(float("nan"))


@pytest.mark.parametrize(
    ("metric", "written", "full"),
    [
        ("accuracy", "100", True),
        ("accuracy", "'= 100%'", True),
        ("accuracy", "99.9", False),
        ("accuracy", "'< 100%'", False),
        ("latency_p95", "1", False),
        ("token_efficiency", "1", False),
    ],
)
def test_only_all_of_a_rate_is_full(metric: str, written: str, full: bool) -> None:
    bound, _ = read(written, metric)
    assert bound is not None
    assert bound.full is full


def test_a_metric_of_ones_own_is_a_rate_of_which_more_is_better() -> None:
    assert metric_named("latency_p95") is METRICS["latency_p95"]
    own = metric_named("politeness")
    assert (own.name, own.rate, own.better, own.shown_unit) == ("politeness", True, "up", "")


@given(
    st.sampled_from(sorted(METRICS)),
    st.sampled_from([">=", "<=", ">", "<", "="]),
    st.floats(1e-6, 1, exclude_max=True) | st.floats(1e-6, 1e12) | st.integers(1, 100),
)
def test_a_bound_reads_its_own_text_back(metric: str, operator: str, number: float) -> None:
    bound, problems = read(f"'{operator} {number!r}'", metric)
    if bound is None:
        assert METRICS[metric].rate
        assert "cannot be above" in problems[0] or "could never" in problems[0]
        return
    assert bound.rate == METRICS[metric].rate
    # What is shown per 1,000 tokens is written per token.
    again, problems = read(f"'{operator} {bound.value!r}'" if "per" in bound.text else f"'{bound.text}'", metric)
    assert problems == []
    assert again is not None
    assert (again.operator, again.value, again.text) == (bound.operator, bound.value, bound.text)


@given(st.text(alphabet="0123456789.%$e+-<>=≥ msUSD", max_size=20), st.sampled_from(sorted(METRICS)))
def test_any_text_is_a_bound_or_a_problem(text: str, metric: str) -> None:
    reader = Reader("s.yaml")
    bound = read_bound(reader, Scalar(text, text, 1, 1), "at", METRICS[metric])
    assert (bound is None) == bool(reader.problems)
    if bound is not None:
        assert bound.value >= 0


@pytest.mark.parametrize(
    ("text", "value"), [("1%", 0.01), ("0.01", 0.01), ("0%", 0.0), ("0", 0.0), ("100%", 1.0), ("2.5 %", 0.025)]
)
def test_a_share_is_a_percentage_or_a_fraction(text: str, value: float) -> None:
    reader = Reader("s.yaml")
    assert share(text) == read_share(reader, node(text), "at") == value
    assert reader.problems == []


@pytest.mark.parametrize("text", ["1", "1.0", "5", "101%", "-1%", ">= 1%", "1ms", "$1", "", "one", "1e999999999%"])
def test_what_is_no_share(text: str) -> None:
    with pytest.raises(ValueError, match=r"share|percentage|compared"):
        share(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [("0.8", 0.8), ("80%", 0.8), ("80", 0.8), ("1", 1.0), ("0", None), ("101", None), ("'>= 80%'", None), ("x", None)],
)
def test_a_fraction_of_something(text: str, value: float | None) -> None:
    assert fraction(node(text)) == value


def test_the_checks_without_a_score_are_the_built_in_ones(tmp_path: Path) -> None:
    checks = "[{id: b, metric: tool_blocklist, blocklist: [x]}, {id: s, metric: sequence_valid, rules: RULES}]"
    suite = load(tmp_path, f"tests: {checks.replace('RULES', '[{type: blocklist, tools: [x]}]')}\n")
    assert set(known_metrics(suite.tests)) == set(METRICS)
    assert CustomMetric.gives_score
