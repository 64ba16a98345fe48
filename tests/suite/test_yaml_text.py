"""YAML text becomes nodes that know their place, whichever of PyYAML's two parsers reads it."""

from __future__ import annotations

import json
import math
import time

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from passmuster._problems import SuiteError
from passmuster.suite.text import _yaml as yaml_text
from passmuster.suite.text._limits import MAX_BYTES, MAX_DEPTH
from passmuster.suite.text._nodes import Mapping, Scalar, Sequence, plain
from passmuster.suite.text._yaml import read_yaml

PARSERS = [yaml.BaseLoader] + ([yaml.CBaseLoader] if yaml.__with_libyaml__ else [])

# What stands raw in JSON and reads the same in YAML: no controls, none of YAML's own further line breaks.
TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\u2028\u2029\ufeff\ufffe\uffff"))
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=30)

fixture_is_constant = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(params=PARSERS, ids=lambda parser: parser.__name__, autouse=True)
def _parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_text, "_parser", lambda: request.param)


def read(text: str) -> object:
    return plain(read_yaml(text, "a.yaml"))


def problems(text: str) -> list[tuple[int | None, int | None, str]]:
    with pytest.raises(SuiteError) as caught:
        read_yaml(text, "a.yaml")
    assert all(problem.file == "a.yaml" for problem in caught.value.problems)
    return [(problem.line, problem.column, problem.message) for problem in caught.value.problems]


@fixture_is_constant
@given(VALUES, st.sampled_from([None, 2]))
def test_json_reads_back_equal(value: object, indent: int | None) -> None:
    assert read(json.dumps(value, ensure_ascii=False, indent=indent)) == value


@fixture_is_constant
@given(st.text() | st.text("ab1*&!|>?:-,[]{}#'\"\\%@`~<. \n\t\rxu") | st.text("*ab_[]?:- ,\n"))
def test_any_text_is_read_or_refused_with_a_place(text: str) -> None:
    try:
        found = [plain(read_yaml(text, "a.yaml"))]
    except SuiteError as error:
        found = [problem for problem in error.problems if problem.file == "a.yaml" and problem.line and problem.column]
    assert found


@fixture_is_constant
@given(st.lists(st.text("abcé\U0001f600", min_size=1), min_size=1, unique=True), st.sampled_from(["\n", "\r\n", "\r"]))
def test_each_key_knows_its_line(keys: list[str], line_break: str) -> None:
    node = read_yaml("# first" + "".join(f"{line_break}{key}: {key}" for key in keys), "a.yaml")
    assert isinstance(node, Mapping)
    assert [(entry.key, entry.line, entry.column) for entry in node] == [
        (key, row + 2, 1) for row, key in enumerate(keys)
    ]
    assert [entry.value.column for entry in node] == [len(key) + 3 for key in keys]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *((word, None) for word in ("null", "Null", "NULL", "~")),
        *((word, True) for word in ("true", "True", "TRUE")),
        *((word, False) for word in ("false", "False", "FALSE")),
        *(("12", 12), ("-7", -7), ("+7", 7), ("007", 7), ("0o17", 15), ("0x1f", 31)),
        *(("2.10", 2.1), ("1.", 1.0), (".5", 0.5), ("-1e3", -1000.0), ("1E-2", 0.01)),
        *((".inf", math.inf), ("+.INF", math.inf), ("-.Inf", -math.inf)),
        *((word, word) for word in ("no", "on", "off", "yes", "No", "y", "nULL", "tRue", "none")),
        *((word, word) for word in ("12:30:45", "2024-01-01", "1_000", "0b1", "-0x1f", "0o8", ".", "1e", "+", "inf")),
        *((word, word) for word in ("=", "<<", "a b", "\u0661")),
    ],
)
def test_words_mean_what_yaml_1_2_says(text: str, value: str | float | None) -> None:
    node = read_yaml(f"- {text}", "a.yaml")
    assert node == Sequence([Scalar(value, text, 1, 3)], 1, 1)
    assert type(plain(node)[0]) is type(value)


def test_nan_is_a_number() -> None:
    assert math.isnan(read("[.nan]")[0])  # type: ignore[index]


def test_an_empty_value_is_null_and_quoted_or_block_text_is_text() -> None:
    assert read("a:\nb: ''\nc: '12'\nd: \"null\"\ne: |\n  12\nf: >-\n  true\n") == {
        "a": None,
        "b": "",
        "c": "12",
        "d": "null",
        "e": "12\n",
        "f": "true",
    }


def test_places() -> None:
    node = read_yaml("a:\n  - x: 1\n    'y': [2, {z: 3}]\n", "a.yaml")
    assert isinstance(node, Mapping)
    items = node.get("a")
    assert isinstance(items, Sequence)
    (first,) = items.items
    assert isinstance(first, Mapping)
    assert (items.line, items.column, first.line, first.column) == (2, 3, 2, 5)
    assert (first.entries["y"].line, first.entries["y"].column) == (3, 5)
    listed = first.get("y")
    assert isinstance(listed, Sequence)
    assert listed.items[0] == Scalar(2, "2", 3, 11)
    assert (listed.items[1].line, listed.items[1].column) == (3, 14)


def test_other_breaks_of_yaml_do_not_shift_the_lines() -> None:
    node = read_yaml("a: 'x\u2028y'\nb: 1\n", "a.yaml")
    assert isinstance(node, Mapping)
    assert node.entries["b"].line == 2


def test_a_key_is_its_text() -> None:
    assert read("1.0: a\ntrue: b\n'': c\n\"d e\": d\n&k x: e\n") == {
        "1.0": "a",
        "true": "b",
        "": "c",
        "d e": "d",
        "x": "e",
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: &x {k: 1}\nb: *x", {"a": {"k": 1}, "b": {"k": 1}}),
        ("a: &x k\n*x : v", {"a": "k", "k": "v"}),
        ("a: &x 1\nb: &x 2\nc: *x", {"a": 1, "b": 2, "c": 2}),
        ("a: &x [&x 1, *x]\nb: *x", {"a": [1, 1], "b": 1}),
        ("a: &x {k: 1, l: 1}\nb:\n  <<: *x\n  l: 2", {"a": {"k": 1, "l": 1}, "b": {"k": 1, "l": 2}}),
        ("<<: [{a: 1}, {a: 2, b: 2}]\nc: 3", {"a": 1, "b": 2, "c": 3}),
        ("a: 1\n<<: {a: 2}", {"a": 1}),
        ("<<: {<<: {a: 1}, b: 2}", {"a": 1, "b": 2}),
        ("<<: []\na: 1", {"a": 1}),
        ("'<<': 1", {"<<": 1}),
    ],
)
def test_aliases_and_merges(text: str, expected: object) -> None:
    assert read(text) == expected


def test_an_alias_shares_the_node_and_a_merged_entry_keeps_its_line() -> None:
    node = read_yaml("a: &x {k: 1}\nb: *x\nc:\n  <<: *x\n", "a.yaml")
    assert isinstance(node, Mapping)
    merged = node.get("c")
    assert isinstance(merged, Mapping)
    assert node.get("a") is node.get("b")
    assert merged.entries["k"].line == 1


def test_an_undefined_alias_is_kept_as_the_pattern_it_may_be() -> None:
    node = read_yaml("tools:\n  - *_dangerous\n  - *_b\n", "a.yaml")
    assert isinstance(node, Mapping)
    assert node.get("tools") == Sequence(
        [
            Scalar("*_dangerous", "*_dangerous", 2, 5, undefined_alias=True),
            Scalar("*_b", "*_b", 3, 5, undefined_alias=True),
        ],
        2,
        3,
    )


@pytest.mark.parametrize(
    ("text", "place", "pattern"),
    [
        ("a:\n  - *_x*\n  - b\n", (2, 5), "*_x*"),
        ("- *\n- b", (1, 3), "*"),
        ("- *", (1, 3), "*"),
        ("[a, *.delete]", (1, 5), "*.delete"),
        ("[*.delete]", (1, 2), "*.delete"),
        ("- *a?", (1, 3), "*a?"),
        ("- *a?\n- b", (1, 3), "*a?"),
        ("[*a?, b]", (1, 2), "*a?"),
        ("- *a:b", (1, 3), "*a:b"),
        ("- *[ab]c", (1, 3), "*[ab]c"),
        ("- [ab]*", (1, 3), "[ab]*"),
        ("- **", (1, 3), "**"),
        ("tool: *_x*", (1, 7), "*_x*"),
        ("*_x*: block", (1, 1), "*_x*"),
        ("*_x: block", (1, 1), "*_x"),
    ],
)
def test_an_unquoted_pattern_is_to_be_quoted(text: str, place: tuple[int, int], pattern: str) -> None:
    ((line, column, message),) = problems(text)
    assert (line, column) == place
    assert message.endswith(f'has to be quoted: "{pattern}"')


@pytest.mark.parametrize(
    ("text", "place", "fragment"),
    [
        ("", (1, 1), "is empty"),
        ("# nothing\n", (1, 1), "is empty"),
        ("---\n", (1, 1), "is empty"),
        ("a: 1\n---\nb: 2\n", (2, 1), "a second document"),
        ("a: 1\n---\n", (2, 1), "a second document"),
        ("a: 1\n...\nb: 2\n", (3, 1), "after the end of the document"),
        ("[a]]", (1, 4), "after the end of the document"),
        ("a:\n\tb: 1", (2, 1), "a tab cannot indent"),
        ("a:\n  b: 1\n\tc: 2", (3, 1), "a tab cannot indent"),
        ("a: 'x\nb: 1\n", (1, 4), "never closed; add the closing `'`"),
        ('a: "x\nb: 1\n', (1, 4), 'never closed; add the closing `"`'),
        ("a: [1, 2\nb: 3\n", (1, 4), "`[` is not closed: expected `,` or `]`, found `:` on line 2"),
        ("a: {x: 1\n", (1, 4), "`{` is not closed: expected `,` or `}`, found the end of the file"),
        ("a: [1}", (1, 6), "expected `,` or `]`, found `}`"),
        ("a: {b: c: d}", (1, 9), "expected `,` or `}`, found `:`"),
        ("key: value: more", (1, 11), "a second `: ` on one line"),
        ("x: foo*bar: 1", (1, 11), "a second `: ` on one line"),
        ("a: b\n  c: d", (2, 4), "`c:` cannot begin here"),
        ("a:b\nc: d", (2, 2), "lacks the space after its `:`"),
        ("a: b\nc\nd: e", (2, 1), "a line without `: `"),
        ("- a\nb: c", (2, 1), "does not fit the lines above"),
        ("a:\n  b: 1\n c: 2", (3, 2), "does not fit the lines above"),
        ("a: 'it's'", (1, 8), "a value ended before `s`"),
        ("a: - b", (1, 4), "`-` is not allowed here"),
        ("a: @x", (1, 4), "cannot begin with `@`"),
        ("a: [b,\n", (2, 1), "the file ends where a value was expected; close the `[` or `{` above"),
        ('a: "x"*y', (1, 7), "put the whole value in quotes"),
        ("a: ]", (1, 4), "expected a value, found `]`"),
        ("a: &*", (1, 4), "begins with `&`"),
        ("a: | x\n", (1, 6), "the text begins on the next line"),
        ("%YAML 2.0\n---\na: 1", (1, 1), "begins with `%`"),
        ("a: !e!x y", (1, 4), "this tag cannot be read"),
        ("a: !foo y", (1, 4), "the tag '!foo' means nothing"),
        ("a: ! 12", (1, 4), "the tag '!' means nothing"),
        ("a: !!python/object/apply:os.system [ls]", (1, 4), "'!!python/object/apply:os.system'"),
        ("a: !!set {x}", (1, 4), "the tag '!!set'"),
        ("a: !!map [x]", (1, 4), "'!!map' means nothing on a list"),
        ("a: !!int x", (1, 4), "`!!int` does not fit 'x'"),
        ("a: !!int true", (1, 4), "`!!int` does not fit 'true'"),
        ("a: " + "9" * 5000, (1, 4), "too long"),
        ("a: 0x" + "f" * 5000, (1, 4), "too long"),
        ("a: 1e999", (1, 4), "too large"),
        ("~: 1", (1, 1), "a key is missing"),
        (": 1", (1, 1), "a key is missing"),
        ("a: {{ name }}", (1, 5), "begins with `{` has to be quoted"),
        ("[a]: b", (1, 1), "found a list"),
        ("a: 1\nb: 2\na: 3", (3, 1), "the key 'a' is already used on line 1"),
        ("'1': 1\n1: 2", (2, 1), "the key '1' is already used on line 1"),
        ("<<: {a: 1}\n<<: {b: 1}", (2, 1), "the key '<<' is already used on line 1"),
        ("<<: 3", (1, 5), "found a number"),
        ("<<: [{a: 1}, b]", (1, 5), "found a string"),
        ("<<: *base", (1, 5), "no anchor `&base`"),
        ("a: &x [*x]", (1, 8), "would never end"),
        ("a: &x {b: {c: *x}}", (1, 15), "would never end"),
        ("a: 1\nb: \x00", (2, 4), "U+0000"),
        ("a: \x1b[0m", (1, 4), "U+001B"),
        ("a: \ud83d", (1, 4), "U+D83D"),
    ],
)
def test_a_mistake_is_located_and_explained(text: str, place: tuple[int, int], fragment: str) -> None:
    ((line, column, message),) = problems(text)
    assert (line, column) == place
    assert fragment in message


@pytest.mark.parametrize(
    ("escape", "fragment"),
    [
        ("\\ud83d\\ude00", "write the character itself"),
        ("\\UFFFFFFFF", "write the character itself"),
        ("\\U00110000", "write the character itself"),
        ("\\u12", "write the character itself"),
        ("\\d+", "does not begin a YAML escape"),
    ],
)
def test_a_bad_escape_is_explained(escape: str, fragment: str) -> None:
    ((line, _, message),) = problems(f'a: "{escape}"')
    assert line == 1
    assert fragment in message


def test_tags_that_only_say_what_a_value_is() -> None:
    text = "a: !!str 12\nb: !!int '3'\nc: !!float 1\nd: !!bool true\ne: !!null\nf: !!map {}\ng: !!seq []\nh: !!str"
    assert read(text) == {"a": "12", "b": 3, "c": 1.0, "d": True, "e": None, "f": {}, "g": [], "h": ""}


def test_mistakes_that_do_not_stop_the_parser_are_told_together() -> None:
    text = "a: !x 1\nb: {c: 1, c: 2}\na: 2\n~: 3\n? [k]\n: 4\nd: e: f\n"
    assert [(line, message.split(";")[0]) for line, _, message in problems(text)] == [
        (1, "the tag '!x' means nothing on text here"),
        (2, "the key 'c' is already used on line 2"),
        (3, "the key 'a' is already used on line 1"),
        (4, "a key is missing before this `:`, or is null"),
        (5, "a key has to be plain text, found a list"),
        (7, "a second `: ` on one line"),
    ]


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? ", "[{a: "])
def test_deep_nesting_is_refused_at_once(opening: str) -> None:
    started = time.process_time()
    ((_, _, message),) = problems(opening * 100_000)
    assert f"more than {MAX_DEPTH} deep" in message
    assert time.process_time() - started < 2


def test_the_deepest_nesting_is_read() -> None:
    assert read("[" * MAX_DEPTH + "]" * MAX_DEPTH)


def test_aliases_cannot_nest_deeper_than_text_can() -> None:
    chain = "\n".join(["- &a0 [x]", *(f"- &a{n} [*a{n - 1}]" for n in range(1, 300))])
    ((line, _, message),) = problems(chain)
    assert line == MAX_DEPTH
    assert "deep" in message


def test_aliases_that_blow_up_are_refused_at_once() -> None:
    bomb = "\n".join(["a0: &a0 [x, x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30))])
    started = time.process_time()
    ((line, _, message),) = problems(bomb)
    assert line == 6
    assert "expand without end" in message
    assert time.process_time() - started < 2


def test_merges_that_blow_up_are_refused() -> None:
    base = "base: &b {" + ", ".join(f"k{n}: 1" for n in range(1000)) + "}\n"
    ((_, _, message),) = problems(base + "\n".join(f"m{n}: {{<<: *b}}" for n in range(1000)))
    assert "expand without end" in message


def test_a_long_file_without_aliases_is_read() -> None:
    value = read("\n".join(["- {a: 1}"] * 20_000))
    assert isinstance(value, list)
    assert len(value) == 20_000


def test_a_text_too_large_is_refused() -> None:
    with pytest.raises(SuiteError, match="larger than 16 MiB"):
        read_yaml(" " * (MAX_BYTES + 1), "a.yaml")
