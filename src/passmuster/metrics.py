"""The figures of the path layer, and the judge's bar, as pure functions on plain lists and numbers.

`expected` and `used` are read as *sets* of tool names: a repeated name counts once. `predicted`, `reference` and
`sequence` are *lists* of names in the order of the calls. What a function answers lies between 0 and 1 unless it
says otherwise, and nothing is ever divided by zero: each docstring names the edge and what it gives.

>>> from passmuster.metrics import sequence_lcs, tool_recall
>>> tool_recall(["search", "generate"], ["search"])
0.5
>>> sequence_lcs(["search", "rerank", "generate"], ["search", "generate"])
0.8
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from operator import eq
from typing import Any

__all__ = [
    "MATCH_MODES",
    "judge_threshold",
    "loop_count",
    "match",
    "sequence_edit",
    "sequence_lcs",
    "tool_f1",
    "tool_precision",
    "tool_recall",
]

Measure = Callable[[Sequence[Any], Sequence[Any]], int]

MATCH_MODES = ("strict", "unordered", "subset", "superset", "in_order")
"""How `match` may compare."""


def tool_recall(expected: Sequence[str], used: Sequence[str]) -> float:
    """The fraction of expected tools that were used: |E ∩ U| / |E|.

    Nothing expected: 1, for there was nothing to miss.

    >>> tool_recall(["search", "rerank"], ["rerank", "search", "search", "email"])
    1.0
    >>> tool_recall([], ["search"])
    1.0
    """
    wanted = set(expected)
    return len(wanted.intersection(used)) / len(wanted) if wanted else 1.0


def tool_precision(expected: Sequence[str], used: Sequence[str]) -> float:
    """The fraction of used tools that were expected: |E ∩ U| / |U|.

    Nothing used: 1 if nothing was expected either, else 0. Nothing expected and something used: 0.

    >>> tool_precision(["search"], ["search", "email"])
    0.5
    >>> tool_precision(["search"], [])
    0.0
    """
    found = set(used)
    if found:
        return len(found.intersection(expected)) / len(found)
    return 0.0 if expected else 1.0


def tool_f1(expected: Sequence[str], used: Sequence[str]) -> float:
    """The harmonic mean of precision and recall: 2pr / (p + r), which is 2·|E ∩ U| / (|E| + |U|).

    Neither expected nor used: 1. Nothing in common: 0.

    >>> tool_f1(["search", "rerank"], ["search", "email"])
    0.5
    """
    wanted, found = set(expected), set(used)
    together = len(wanted) + len(found)
    return 2 * len(wanted & found) / together if together else 1.0


def sequence_lcs(predicted: Sequence[str], reference: Sequence[str]) -> float:
    """How much of two sequences is common, in order: 2·|LCS(P, R)| / (|P| + |R|). Symmetric.

    LCS is the longest common subsequence. Both empty: 1; only one empty, or nothing in common: 0.

    >>> sequence_lcs(["search", "rerank", "generate"], ["search", "generate"])  # 2 × 2 / (3 + 2)
    0.8
    """
    if _same(predicted, reference):
        return 1.0
    if not predicted or not reference:
        return 0.0
    return 2 * _common(predicted, reference) / (len(predicted) + len(reference))


def sequence_edit(predicted: Sequence[str], reference: Sequence[str]) -> float:
    """How little has to be edited to make one sequence the other: 1 − ED(P, R) / max(|P|, |R|). Symmetric.

    ED is Levenshtein's distance: the fewest insertions, deletions and substitutions. Both empty: 1; only one
    empty, or no name in its place: 0.

    >>> round(sequence_edit(["search", "rerank", "generate"], ["search", "generate"]), 3)  # 1 - 1/3
    0.667
    """
    if _same(predicted, reference):
        return 1.0
    if not predicted or not reference:
        return 0.0
    longest = max(len(predicted), len(reference))
    return (longest - _edits(predicted, reference)) / longest


def loop_count(sequence: Sequence[str]) -> int:
    """How many calls repeat the tool just called: the number of adjacent equal names, 0 or more.

    >>> loop_count(["search", "search", "grade", "grade", "grade"])
    3
    """
    return sum(map(eq, sequence, sequence[1:]))


def match(predicted: Sequence[str], reference: Sequence[str], mode: str = "subset") -> bool:
    """Whether the calls made (P) match the reference (R) in the sense of the mode.

    `strict`: P = R, as lists. `unordered`: set(P) = set(R). `subset`: set(R) ⊆ set(P), so that extra calls are
    fine. `superset`: set(P) ⊆ set(R), so that only reference tools were used. `in_order`: R is a subsequence of P, so
    that its calls were made in this order, with others between them. An empty R is a `subset` of anything and
    `in_order` with it, and an empty P fits `superset` always.

    >>> match(["search", "rerank", "generate"], ["search", "generate"])
    True
    >>> match(["search", "rerank", "generate"], ["search", "generate"], mode="superset")
    False
    >>> match(["search", "rerank", "generate"], ["search", "generate"], mode="in_order")
    True
    >>> match(["generate", "search"], ["search", "generate"], mode="in_order")
    False
    """
    if mode == "in_order":
        made = iter(predicted)
        return all(name in made for name in reference)  # `in` goes on behind the call that it found
    if mode == "subset":
        return set(predicted).issuperset(reference)
    if mode == "strict":
        return _same(predicted, reference)
    if mode == "unordered":
        return set(predicted) == set(reference)
    if mode == "superset":
        return set(reference).issuperset(predicted)
    raise ValueError(f"there is no match mode {mode!r}; choose one of {', '.join(MATCH_MODES)}")


def judge_threshold(threshold: float) -> int:
    """The lowest score, from 1 to 5, that passes a rubric with this threshold: max(1, int(threshold × 5 + 0.5)).

    Halves are rounded up. A threshold outside 0–1 is a `ValueError`.

    >>> [judge_threshold(t) for t in (0.0, 0.2, 0.5, 0.65, 0.7, 0.8, 1.0)]
    [1, 1, 3, 3, 4, 4, 5]
    """
    if not 0 <= threshold <= 1:
        raise ValueError(f"a judge threshold lies between 0 and 1 (0.8 asks for 4 of 5), not {threshold!r}")
    return max(1, int(threshold * 5 + 0.5))


def _same(one: Sequence[str], other: Sequence[str]) -> bool:
    return len(one) == len(other) and all(map(eq, one, other))  # a list may equal a tuple here


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the longest common subsequence of two sequences, neither of them empty."""
    if len(one) == 1:
        return int(one[0] in other)
    if len(other) == 1:
        return int(other[0] in one)
    common, _ = _rapidfuzz()
    return common(one, other) if "" not in one and "" not in other else common(*_numbered(one, other))


def _edits(one: Sequence[str], other: Sequence[str]) -> int:
    """Levenshtein's distance of two sequences, neither of them empty."""
    if len(one) == 1:
        return len(other) - (one[0] in other)
    if len(other) == 1:
        return len(one) - (other[0] in one)
    _, edits = _rapidfuzz()
    return edits(one, other) if "" not in one and "" not in other else edits(*_numbered(one, other))


@cache
def _rapidfuzz() -> tuple[Measure, Measure]:
    """LCS and Levenshtein's distance, imported at the first need, since most runs have none."""
    from rapidfuzz.distance import LCSseq, Levenshtein

    return LCSseq.similarity, Levenshtein.distance


def _numbered(*sequences: Sequence[str]) -> list[list[int]]:
    """The sequences with numbers for names.

    rapidfuzz knows a name of several characters by its hash and a single character by its code point, so that it
    takes an empty name, whose hash is 0, for a NUL.
    """
    numbers: dict[str, int] = {}
    return [[numbers.setdefault(name, len(numbers)) for name in sequence] for sequence in sequences]
