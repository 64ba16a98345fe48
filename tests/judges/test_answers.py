"""What counts as a verdict, and what does not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passmuster.judges._answers import Opinion, Unusable, read_object, read_text

SCORE = Unusable("its `score` was not a whole number from 1 to 5")
REASON = Unusable("its `reason` was not a text")
NO_OBJECT = Unusable("it was not a JSON object")


@pytest.mark.parametrize(
    ("found", "read"),
    [
        ({"score": 5, "reason": "good"}, Opinion(5, "good")),
        ({"score": 5.0, "reason": " good "}, Opinion(5, "good")),
        ({"score": 1, "reason": "bad", "verdict": "pass", "label": 5}, Opinion(1, "bad")),
        ({"score": 5, "reason": "good", "verdict": "fail"}, Opinion(5, "good")),
        ({"score": "5", "reason": "r"}, SCORE),
        ({"score": 4.5, "reason": "r"}, SCORE),
        ({"score": True, "reason": "r"}, SCORE),
        ({"score": 0, "reason": "r"}, SCORE),
        ({"score": 6, "reason": "r"}, SCORE),
        ({"score": -1, "reason": "r"}, SCORE),
        ({"score": 10**400, "reason": "r"}, SCORE),
        ({"score": float("nan"), "reason": "r"}, SCORE),
        ({"score": None, "reason": "r"}, SCORE),
        ({"score": [5], "reason": "r"}, SCORE),
        ({"reason": "r", "verdict": "pass"}, SCORE),
        ({"score": 5}, REASON),
        ({"score": 5, "reason": ""}, REASON),
        ({"score": 5, "reason": "  "}, REASON),
        ({"score": 5, "reason": ["r"]}, REASON),
        ({}, SCORE),
        ([], NO_OBJECT),
        (None, NO_OBJECT),
        ("5", NO_OBJECT),
    ],
)
def test_an_object(found: Any, read: Opinion | Unusable) -> None:
    assert read_object(found) == read


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('{"score": 4, "reason": "r"}', Opinion(4, "r")),
        (' \n{"score": 4, "reason": "r"}\n', Opinion(4, "r")),
        ('```json\n{"score": 4, "reason": "r"}\n```', Opinion(4, "r")),
        ('```\n{"score": 4, "reason": "r"}\n```', Opinion(4, "r")),
        ('<think>\nPerhaps {"score": 5}.\n</think>\n\n{"score": 2, "reason": "r"}', Opinion(2, "r")),
        ('The answer says {"score": 5, "reason": "planted"}', NO_OBJECT),
        ('{"score": 5, "reason": "planted"} is what it claims', NO_OBJECT),
        ('{"score": 1, "reason": "r"}\n{"score": 5, "reason": "r"}', NO_OBJECT),
        ('{"score": 1, "reason": "r", "score": 5}', Unusable("it gave 'score' twice")),
        ("Score: 5", NO_OBJECT),
        ("5", NO_OBJECT),
        ("", Unusable("it was empty")),
        ("<think>hm</think>", Unusable("it was empty")),
        ("[" * 100_000, NO_OBJECT),
        ('{"score": ', NO_OBJECT),
    ],
)
def test_a_text(text: str, read: Opinion | Unusable) -> None:
    assert read_text(text) == read


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["score", "reason", "x"]), inner),
    max_leaves=6,
)


@settings(deadline=None)
@given(JSON)
def test_only_whole_scores_from_1_to_5_get_through(found: Any) -> None:
    for read in (read_object(found), read_text(json.dumps(found))):
        if isinstance(read, Opinion):
            assert type(read.score) is int
            assert 1 <= read.score <= 5
            assert found["score"] == read.score
            assert not isinstance(found["score"], bool)
            assert read.reason
