"""Metrics in words, which all of console, gate, baseline, history and comparison use."""

from __future__ import annotations

import pytest

from passmuster.scoring._metric_words import between, change, number, written


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("pass_rate", 0.849567, "84.96%"),
        ("pass_rate", 1.0, "100%"),
        ("normalized_latency", 0.5, "50%"),
        ("a_score_of_ones_own", 0.25, "25%"),
        ("latency_p95", 1782.5, "1782.5 ms"),
        ("latency_p95", 123456.789, "123457 ms"),
        ("total_cost_usd", 0.0125, "0.0125 USD"),
        ("mean_cost_usd", 0.0000419166667, "0.0000419167 USD"),
        ("mean_cost_usd", 0.0, "0 USD"),
        ("total_tokens", 10484, "10484 tokens"),
        ("total_tokens", 12_345_678, "12345678 tokens"),
        ("total_tokens", 2**64, "1.845e+19 tokens"),
        ("token_efficiency", 0.002, "2 per 1,000 tokens"),
        ("token_efficiency", 0.0, "0 per 1,000 tokens"),
        ("latency_p50", float("inf"), "inf ms"),
    ],
)
def test_a_value_has_its_unit_and_the_digits_one_can_read(name: str, value: float, told: str) -> None:
    assert written(name, value) == told
    assert written(name, value).startswith(number(name, value))


def test_an_interval_has_no_unit() -> None:
    assert between("latency_p50", (710.0, 1840.0)) == "710 to 1840"
    assert between("token_efficiency", (0.001, 0.0025)) == "1 to 2.5"
    assert between("f1", (0.6, 1.0)) == "60% to 100%"
    assert between("f1", None) == ""


@pytest.mark.parametrize(
    ("name", "before", "after", "told"),
    [
        ("pass_rate", 0.9, 0.85, "−5 points"),
        ("pass_rate", 0.5, 0.83333, "+33.33 points"),
        ("pass_rate", 0.5, 0.50001, "+0.001 points"),
        ("own", 0.0, 0.5, "+50 points"),
        ("latency_p95", 2000.0, 1500.0, "−25%"),
        ("total_cost_usd", 0.0, 0.03, "+0.03 USD"),
        ("token_efficiency", 0.0, 0.002, "+2 per 1,000 tokens"),
        ("token_efficiency", 0.002, 0.003, "+50%"),
        ("f1", 0.5, 0.5, ""),
    ],
)
def test_a_change_is_in_points_or_a_part_of_what_it_was(name: str, before: float, after: float, told: str) -> None:
    assert change(name, before, after) == told
