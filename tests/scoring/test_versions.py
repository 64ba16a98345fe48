"""Versions are compared as versions, not as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passmuster.scoring._versions import version_key

ORDERED = [
    *("0", "0.9", "v1.0", "1.0.1", "1.2", "1.10", "2.0.0-alpha", "2.0.0-alpha.1", "2.0.0-beta", "2.0.0-rc1"),
    *("2.0.0-rc2", "2.0.0-rc10", "v2.0.0", "2.0.1", "9.0", "10.0", "2026.1"),
]


def test_versions_in_their_order() -> None:
    keys = [version_key(text) for text in ORDERED]
    assert None not in keys
    assert sorted(keys) == keys  # type: ignore[type-var]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1.0", "1.0.0"),
        ("1", "v1.0"),
        ("V2.0", "v2.0"),
        (" 2.0 ", "2.0"),
        ("2.0+build.7", "2.0"),
        ("2.0rc1", "2.0-rc1"),
        ("2.0.0-RC.1", "2.0-rc1"),
        ("1.02", "1.2"),
        ("0.0", "0"),
    ],
)
def test_spellings_of_the_same_version(one: str, other: str) -> None:
    assert version_key(one) == version_key(other)


@pytest.mark.parametrize(
    "text", ["", "v", "target", "latest", "1.", ".1", "1..2", "-1", "1.0-", "1.x", "٣.٠", "1 2", "main-1.0", "9" * 201]
)
def test_what_is_no_version(text: str) -> None:
    assert version_key(text) is None


@given(st.lists(st.integers(0, 30), min_size=1, max_size=4), st.lists(st.integers(0, 30), min_size=1, max_size=4))
def test_releases_compare_number_by_number(left: list[int], right: list[int]) -> None:
    keys = [version_key(".".join(map(str, numbers))) for numbers in (left, right)]
    padded = [numbers + [0] * (4 - len(numbers)) for numbers in (left, right)]
    assert (keys[0] < keys[1]) == (padded[0] < padded[1])  # type: ignore[operator]
    assert (keys[0] == keys[1]) == (padded[0] == padded[1])


@given(st.text(max_size=30))
def test_any_text_has_a_key_or_none(text: str) -> None:
    key = version_key(text)
    assert key is None or key <= key
