"""Every formula, edge and example of the path metrics, with the documents' own numbers, and the laws they obey."""

from __future__ import annotations

import doctest
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passmuster import metrics
from passmuster.metrics import (
    judge_threshold,
    loop_count,
    match,
    sequence_edit,
    sequence_lcs,
    tool_f1,
    tool_precision,
    tool_recall,
)

# Names that could be taken for one another: by hash, by code point, by prefix.
names = st.lists(st.sampled_from(["", "\x00", "\x01", "a", "b", "aa", "ab", "search", "sea", "ä"]), max_size=9)
long_names = st.lists(st.sampled_from(["search", "rerank", "grade", "x"]), max_size=90)


def test_examples_in_docstrings() -> None:
    results = doctest.testmod(metrics)
    assert results.attempted > 10
    assert results.failed == 0


def test_rapidfuzz_is_imported_at_the_first_need() -> None:
    program = """
import sys
from passmuster.metrics import *
sequence_lcs(["a", "b"], ("a", "b")), sequence_edit([], ["a", "b"]), sequence_edit(["a"], ["b", "a"]), match([], [])
assert "rapidfuzz" not in sys.modules
assert sequence_lcs(["a", "b"], ["b", "a"]) == 0.5
assert "rapidfuzz" in sys.modules
"""
    home = str(Path(metrics.__file__).parents[1])
    subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, "PYTHONPATH": home})


@pytest.mark.parametrize(
    ("expected", "used", "recall", "precision", "f1"),
    [
        (["search", "rerank"], ["search", "rerank"], 1, 1, 1),
        (["search", "rerank"], ["search", "rerank", "email"], 1, 2 / 3, 0.8),
        (["search", "rerank"], ["search"], 1 / 2, 1, 2 / 3),
        (["search", "rerank"], ["email"], 0, 0, 0),
        (["search", "search"], ["search", "search", "search"], 1, 1, 1),
        ([], [], 1, 1, 1),
        ([], ["search"], 1, 0, 0),
        (["search"], [], 0, 0, 0),
    ],
)
def test_tool_sets(expected: list[str], used: list[str], recall: float, precision: float, f1: float) -> None:
    assert tool_recall(expected, used) == recall
    assert tool_precision(expected, used) == precision
    assert tool_f1(expected, used) == f1


@given(names, names)
def test_f1_is_the_harmonic_mean(expected: list[str], used: list[str]) -> None:
    p, r = tool_precision(expected, used), tool_recall(expected, used)
    assert tool_f1(expected, used) == pytest.approx(2 * p * r / (p + r) if p + r else 0)


@pytest.mark.parametrize(
    ("predicted", "reference", "lcs", "edit"),
    [
        (["search", "rerank", "generate"], ["search", "generate"], 0.80, 2 / 3),
        (["search", "generate"], ["search", "generate"], 1, 1),
        (["search", "generate"], ["email", "refund"], 0, 0),
        (["search", "generate"], ["generate", "search"], 0.5, 0),
        (["a", "b", "c", "d"], ["a", "x", "c", "d"], 0.75, 0.75),
        ([], [], 1, 1),
        ([], ["search"], 0, 0),
        (["search"], [], 0, 0),
        (["search"], ["grade", "search"], 2 / 3, 0.5),
    ],
)
def test_sequences(predicted: list[str], reference: list[str], lcs: float, edit: float) -> None:
    assert sequence_lcs(predicted, reference) == lcs
    assert sequence_edit(predicted, reference) == edit
    assert sequence_lcs(tuple(predicted), reference) == lcs
    assert sequence_edit(predicted, tuple(reference)) == edit


def test_a_similarity_at_the_limit_is_within_it() -> None:
    assert sequence_edit(["x", *"bcdefghijk"[:9]], ["x", *"BCDEFGHIJ"]) >= 0.1  # 1 - 9/10 in floats is below


@pytest.mark.parametrize(
    ("sequence", "loops"),
    [
        (["search", "search", "grade", "grade", "grade"], 3),
        (["search", "grade", "search", "grade"], 0),
        (["search"], 0),
        ([], 0),
    ],
)
def test_loops(sequence: list[str], loops: int) -> None:
    assert loop_count(sequence) == loops


P = ["search", "rerank", "search", "generate"]


@pytest.mark.parametrize(
    ("reference", "strict", "unordered", "subset", "superset"),
    [
        (P, True, True, True, True),
        (["generate", "rerank", "search"], False, True, True, True),
        (["search", "generate"], False, False, True, False),
        (["search", "rerank", "generate", "email"], False, False, False, True),
        (["email"], False, False, False, False),
        ([], False, False, True, False),
    ],
)
def test_match_modes(reference: list[str], strict: bool, unordered: bool, subset: bool, superset: bool) -> None:
    assert match(P, reference, mode="strict") is strict
    assert match(P, reference, mode="unordered") is unordered
    assert match(P, reference, mode="subset") is subset
    assert match(P, reference, mode="superset") is superset
    assert match(P, reference) is subset


def test_an_unknown_mode_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="no match mode 'ordered'; choose one of strict, unordered, subset, superset"):
        match([], [], mode="ordered")


@pytest.mark.parametrize(
    ("threshold", "score"),
    [
        (0.0, 1),
        (0.1, 1),
        (0.2, 1),
        (0.3, 2),
        (0.5, 3),
        (0.65, 3),
        (0.7, 4),
        (0.8, 4),
        (0.9, 5),
        (1.0, 5),
        (0, 1),
        (1, 5),
    ],
)
def test_judge_threshold(threshold: float, score: int) -> None:
    assert judge_threshold(threshold) == score


@pytest.mark.parametrize("threshold", [-0.1, 1.01, 4, 80, float("nan"), float("inf")])
def test_a_judge_threshold_outside_its_range(threshold: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        judge_threshold(threshold)


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_higher_threshold_never_asks_for_less(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 1 <= judge_threshold(low) <= judge_threshold(high) <= 5


def table_lcs(one: Sequence[str], other: Sequence[str]) -> int:
    above = [0] * (len(other) + 1)
    for a in one:
        row = [0]
        for place, b in enumerate(other):
            row.append(above[place] + 1 if a == b else max(above[place + 1], row[place]))
        above = row
    return above[-1]


def table_edits(one: Sequence[str], other: Sequence[str]) -> int:
    above = list(range(len(other) + 1))
    for length, a in enumerate(one, 1):
        row = [length]
        for place, b in enumerate(other):
            row.append(min(above[place] + (a != b), above[place + 1] + 1, row[place] + 1))
        above = row
    return above[-1]


@settings(deadline=None)  # the first call imports, and tables are slow
@given(names, names)
def test_lcs_is_what_the_table_says(one: list[str], other: list[str]) -> None:
    assert sequence_lcs(one, other) == (2 * table_lcs(one, other) / (len(one) + len(other)) if one or other else 1)


@settings(deadline=None)  # the first call imports, and tables are slow
@given(long_names, long_names)
def test_long_sequences_are_what_the_tables_say(one: list[str], other: list[str]) -> None:
    if one or other:
        longest = max(len(one), len(other))
        assert sequence_lcs(one, other) == 2 * table_lcs(one, other) / (len(one) + len(other))
        assert sequence_edit(one, other) == pytest.approx(1 - table_edits(one, other) / longest)


@settings(deadline=None)  # the first call imports, and tables are slow
@given(names, names)
def test_edit_is_what_the_table_says(one: list[str], other: list[str]) -> None:
    longest = max(len(one), len(other))
    assert sequence_edit(one, other) == pytest.approx(1 - table_edits(one, other) / longest if longest else 1)


@pytest.mark.parametrize("measure", [sequence_lcs, sequence_edit])
@given(one=names, other=names)
def test_similarity_is_symmetric_and_1_only_for_equals(
    measure: Callable[[list[str], list[str]], float], one: list[str], other: list[str]
) -> None:
    value = measure(one, other)
    assert 0 <= value <= 1
    assert value == measure(other, one)
    assert (value == 1) == (one == other)


@given(names, names)
def test_lcs_is_bounded_by_the_shorter_sequence(one: list[str], other: list[str]) -> None:
    if one or other:
        assert sequence_lcs(one, other) <= 2 * min(len(one), len(other)) / (len(one) + len(other))


def edits(one: list[str], other: list[str]) -> int:
    """The distance that `sequence_edit` was made from."""
    return round((1 - sequence_edit(one, other)) * max(len(one), len(other)))


@given(names, names, names)
def test_edit_distance_is_a_metric(one: list[str], two: list[str], three: list[str]) -> None:
    assert edits(one, three) <= edits(one, two) + edits(two, three)
    assert abs(len(one) - len(two)) <= edits(one, two) <= max(len(one), len(two))
    assert (edits(one, two) == 0) == (one == two)


@given(names, names)
def test_match_modes_imply_one_another(predicted: list[str], reference: list[str]) -> None:
    modes = {mode: match(predicted, reference, mode) for mode in metrics.MATCH_MODES}
    assert modes["unordered"] == (modes["subset"] and modes["superset"])
    assert modes["unordered"] or not modes["strict"]
    assert modes["subset"] == (tool_recall(reference, predicted) == 1)


@given(names, names)
def test_figures_stay_between_0_and_1(expected: list[str], used: list[str]) -> None:
    for measure in (tool_recall, tool_precision, tool_f1, sequence_lcs, sequence_edit):
        assert 0 <= measure(expected, used) <= 1


def test_repeated_calls_never_score_above_1() -> None:
    assert tool_recall(["search"], ["search"] * 3) == 1
    assert tool_precision(["search"], ["search"] * 3) == 1
    assert sequence_lcs(["search"] * 3, ["search"]) == 0.5


def test_an_empty_list_of_calls_scores_0() -> None:
    expected = ["search", "generate"]
    for measure in (tool_recall, tool_precision, tool_f1):
        assert measure(expected, []) == 0
    assert sequence_lcs([], expected) == sequence_edit([], expected) == 0
    assert not any(match([], expected, mode) for mode in ("strict", "unordered", "subset"))
