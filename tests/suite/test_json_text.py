"""JSON text becomes nodes that know their place, and a mistake is met with advice."""

from __future__ import annotations

import json
import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passmuster._problems import SuiteError
from passmuster.suite.text._json import read_json
from passmuster.suite.text._limits import MAX_BYTES, MAX_DEPTH
from passmuster.suite.text._nodes import Mapping, Scalar, Sequence, plain

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=30)


@given(VALUES, st.booleans(), st.sampled_from([None, 0, 2, "\t"]))
def test_what_is_dumped_reads_back_equal(value: object, ensure_ascii: bool, indent: int | str | None) -> None:
    text = json.dumps(value, ensure_ascii=ensure_ascii, indent=indent)
    assert plain(read_json(text, "a.json")) == value


@given(st.text() | st.text("[]{}\",: \n\\/u0123d8ectrufalsn.-+#'"))
def test_any_text_is_read_or_refused_with_a_place(text: str) -> None:
    try:
        value = plain(read_json(text, "a.json"))
    except SuiteError as error:
        located = [
            problem for problem in error.problems if problem.file == "a.json" and problem.line and problem.column
        ]
    else:
        located = [value == json.loads(text.removeprefix("\ufeff"))]
    assert located
    assert all(located)


@given(st.text('[]{}",: \n\\u0123d8ectrufalsn.-+', max_size=12))
def test_what_the_standard_reader_refuses_is_refused(text: str) -> None:
    try:
        json.loads(text)
    except json.JSONDecodeError:
        with pytest.raises(SuiteError):
            read_json(text, "a.json")


@given(st.lists(st.integers(), min_size=1), st.sampled_from(["\n", "\r\n", "\r"]))
def test_each_item_knows_its_line(values: list[int], line_break: str) -> None:
    node = read_json(f"[{line_break}" + f",{line_break}".join(f"  {value}" for value in values) + "]", "a.json")
    assert isinstance(node, Sequence)
    assert [(item.line, item.column) for item in node.items] == [(row + 2, 3) for row in range(len(values))]


def test_places_and_texts() -> None:
    node = read_json('{\n  "é": [1.50, "x"],\n  "b": {"c": null}\n}', "a.json")
    assert isinstance(node, Mapping)
    first, second = node
    assert (node.line, node.column) == (1, 1)
    assert (first.key, first.line, first.column) == ("é", 2, 3)
    assert first.value == Sequence([Scalar(1.5, "1.50", 2, 9), Scalar("x", "x", 2, 15)], 2, 8)
    assert (second.line, second.value.line, second.value.column) == (3, 3, 8)


@pytest.mark.parametrize(
    ("text", "place", "fragment"),
    [
        ("", (1, 1), "is empty"),
        ("\n\n", (1, 1), "is empty"),
        ('{"a": 1,\n "b": 2,\n}', (2, 8), "a comma before `}`"),
        ("[1,]", (1, 3), "a comma before `]`"),
        ("[,1]", (1, 2), "nothing before it"),
        ("[1,,2]", (1, 4), "two commas"),
        ("[1 2]", (1, 4), "expected `,` or `]`, found `2`"),
        ("[1}", (1, 3), "expected `,` or `]`, found `}`"),
        ("[1", (1, 1), "`[` is never closed"),
        ('{"a": 1\n', (1, 1), "`{` is never closed"),
        ('{"a": ', (1, 7), "found the end of the file"),
        ('{"a": }', (1, 7), "expected a value, found `}`"),
        ('{"a" 1}', (1, 6), 'expected `:` after the key "a"'),
        ("{a: 1}", (1, 2), "a key in double quotes, found `a`"),
        ("{'a': 1}", (1, 2), "only double quotes"),
        ("['a']", (1, 2), "only double quotes"),
        ("{} {}", (1, 4), "the document ended"),
        ("{}\n// done", (2, 1), "no comments"),
        ("[1, /* one */ 2]", (1, 5), "no comments"),
        ("# a\n{}", (1, 1), "no comments"),
        ("[NaN]", (1, 2), "no such number"),
        ("[-Infinity]", (1, 2), "no such number"),
        ("[True]", (1, 2), "JSON writes `true`"),
        ("[None]", (1, 2), "JSON writes `null`"),
        ("[yes]", (1, 2), "text goes in double quotes"),
        ("[01]", (1, 2), "a JSON number looks like"),
        ("[1.]", (1, 2), "a JSON number looks like"),
        ("[.5]", (1, 2), "a JSON number looks like"),
        ("[+1]", (1, 2), "a JSON number looks like"),
        ("[1e999]", (1, 2), "too large"),
        ("[" + "9" * 5000 + "]", (1, 2), "too long"),
        ('["a', (1, 2), "not closed on its line"),
        ('["a\nb"]', (1, 2), "not closed on its line"),
        ('["\t"]', (1, 3), "\\u0009"),
        ('["\\x41"]', (1, 3), "`\\x` is not a JSON escape"),
        ('["\\u12"]', (1, 3), "`\\u` is not a JSON escape"),
        ('["\\ud83d"]', (1, 2), "surrogate"),
        ('["\\ude00\\ud83d"]', (1, 2), "surrogate"),
        ('{"\\ud83d": 1}', (1, 2), "surrogate"),
        ('["\ud83d"]', (1, 2), "surrogate"),
        ("\u00a0{}", (1, 1), "'\\xa0'"),
    ],
)
def test_a_mistake_is_located_and_explained(text: str, place: tuple[int, int], fragment: str) -> None:
    with pytest.raises(SuiteError) as caught:
        read_json(text, "a.json")
    (problem,) = caught.value.problems
    assert (problem.line, problem.column) == place
    assert fragment in problem.message


def test_mistakes_that_do_not_stop_the_reader_are_told_together() -> None:
    with pytest.raises(SuiteError) as caught:
        read_json('{"a": 1,\n "b": "\\udead",\n "a": {"c": 1, "c": 1e999},\n "a": 2,\n}', "a.json")
    assert [(problem.line, problem.message.split(";")[0]) for problem in caught.value.problems] == [
        (2, "this string holds half of a surrogate pair, which is not a character"),
        (3, "the key 'a' is already used on line 1"),
        (3, "the key 'c' is already used on line 3"),
        (3, "1e999 is too large"),
        (4, "the key 'a' is already used on line 1"),
        (4, "a comma before `}` is not allowed in JSON"),
    ]


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":'])
def test_deep_nesting_is_refused_at_once(opening: str) -> None:
    started = time.process_time()
    with pytest.raises(SuiteError, match=f"more than {MAX_DEPTH} deep"):
        read_json(opening * 100_000, "a.json")
    assert time.process_time() - started < 2


def test_the_deepest_nesting_is_read() -> None:
    assert plain(read_json("[" * MAX_DEPTH + "]" * MAX_DEPTH, "a.json"))


def test_a_text_too_large_is_refused() -> None:
    with pytest.raises(SuiteError, match="larger than 16 MiB"):
        read_json(" " * (MAX_BYTES + 1), "a.json")


def test_numbers_keep_their_kind() -> None:
    whole, real, negative = plain(read_json("[2, 2.0, -0.0]", "a.json"))
    assert (type(whole), type(real)) == (int, float)
    assert math.copysign(1, negative) == -1
