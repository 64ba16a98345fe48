"""Matchers: one line for each thing that an argument, a result or an answer field can be asked to be."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.checks.building import call, judge, rules, trace

import passmuster
from passmuster.checks._json_values import MISSING
from passmuster.checks.matchers import MATCHER, Fits
from passmuster.suite.grammar._reader import Reader
from passmuster.suite.text._json import read_json


def compiled(written: object) -> Fits:
    reader = Reader("suite.json")
    matcher = MATCHER.read(reader, read_json(json.dumps(written), "suite.json"), "args.x")
    assert not reader.problems, reader.problems
    return matcher.compile()


def problems_of(written: object) -> list[str]:
    reader = Reader("suite.json")
    MATCHER.read(reader, read_json(json.dumps(written), "suite.json"), "args.x")
    return [problem.message for problem in reader.problems]


HUGE = 10**400
CASES: list[tuple[object, list[Any], list[Any]]] = [
    # matcher, what fits, what does not
    (5, [5, 5.0], [6, "5", True, None, [5], MISSING]),
    (1, [1, 1.0], [True, "1", MISSING]),
    (0, [0, 0.0, -0.0], [False, None, "", [], {}, MISSING]),
    (True, [True], [1, 1.0, "true", False, MISSING]),
    ("a", ["a"], ["A", "ab", ["a"], MISSING]),
    (None, [None], [0, "", "null", False, MISSING]),
    (10**22, [10**22, 1e22], [10**22 + 1, HUGE, MISSING]),
    # a plain map: each listed key; a plain list: element by element
    ({"a": 1}, [{"a": 1}, {"a": 1.0, "b": 2}], [{}, {"a": 2}, [1], 1, None, MISSING]),
    ({}, [{}, {"a": 1}], [[], None, MISSING]),
    ({"a": {"b": {"$gt": 1}}}, [{"a": {"b": 2}}], [{"a": {"b": 1}}, {"a": {}}, {"a": 2}, {}, MISSING]),
    ({"a.b": 1}, [{"a.b": 1}], [{"a": {"b": 1}}]),
    ([1, "a"], [[1, "a"], [1.0, "a"]], [["a", 1], [1], [1, "a", 2], "1a", MISSING]),
    ([], [[]], [[1], {}, None, MISSING]),
    ([{"$any": True}, 2], [[1, 2], [None, 2]], [[2], [1, 3]]),
    # $eq: a literal, deeply and as a whole
    ({"$eq": {"a": 1}}, [{"a": 1}, {"a": 1.0}], [{"a": 1, "b": 2}, {"a": True}, MISSING]),
    ({"$eq": {"$gt": 1}}, [{"$gt": 1}], [2, MISSING]),
    ({"$eq": [1, [2]]}, [[1, [2.0]]], [[1, [True]], [1], [[2], 1]]),
    # there or not
    ({"$any": True}, [0, None, False, "", {}], [MISSING]),
    ({"$ignore": True}, [0, None, MISSING], []),
    ({"$absent": True}, [MISSING], [None, 0, ""]),
    ({"$optional": 5}, [MISSING, 5, 5.0], [6, None]),
    ({"a": {"$absent": True}}, [{}, {"b": 1}], [{"a": None}, MISSING]),
    ({"a": {"$optional": 1}}, [{}, {"a": 1}], [{"a": 2}]),
    ({"a": {"$ignore": True}}, [{}, {"a": 1}], [[], MISSING]),
    # logic
    ({"$one_of": ["a", {"$gt": 5}]}, ["a", 6], ["b", 5, MISSING]),
    ({"$one_of": [{"$absent": True}, "a"]}, [MISSING, "a"], ["b", None]),
    ({"$not": 5}, [6, None, "5", True], [5, 5.0, MISSING]),
    ({"$not": {"$any": True}}, [], [1, None, MISSING]),
    ({"$not": {"$absent": True}}, [1, None], [MISSING]),
    ({"$not": {"$not": 5}}, [5], [6, MISSING]),
    # text
    ({"$regex": "b+"}, ["b", "abbc"], ["ac", 5, None, ["b"], MISSING]),
    ({"$regex": "^a$"}, ["a"], ["ba", "A"]),
    ({"$regex": "(?i)^a$"}, ["A"], ["b"]),
    ({"$regex": r"\{s\}"}, ["cost{s}"], ["cost"]),
    ({"$regex": "^x{2,3}$"}, ["xx"], ["x", "xxxx"]),
    ({"$glob": "get_*"}, ["get_", "get_a"], ["a_get_", "Get_a", "get", 5, MISSING]),
    ({"$glob": "[ab]?"}, ["a1"], ["c1", "a"]),
    ({"$contains": "b"}, ["abc", ["a", "b"]], ["ac", ["abc"], {"b": 1}, MISSING]),
    ({"$contains": 1}, [[1.0], ["a", 1]], ["1", [True], [], 1, MISSING]),
    ({"$contains": {"id": 1}}, [[{"id": 2}, {"id": 1, "n": 2}]], [[{"id": 2}], {"id": 1}]),
    ({"$contains": {"$gt": 1}}, [[0, 2]], [[0], "2"]),
    # numbers
    ({"$approx": 1, "$within": 0.5}, [0.5, 1, 1.5], [0.49, 1.51, "1", True, HUGE, -HUGE, MISSING]),
    ({"$approx": 0.3, "$within": 0}, [0.3, 0.1 + 0.2], [0.31]),
    ({"$approx": 200, "$rel": 0.1}, [180, 220], [179, 221, None]),
    ({"$approx": -200, "$rel": 0.1}, [-180, -220], [-179, 200]),
    ({"$gt": 1}, [1.5, 2, HUGE, float("inf")], [1, 1.0, "2", True, None, MISSING]),
    ({"$gte": 1}, [1, 1.0, 2], [0.9, True, MISSING]),
    ({"$lt": 1}, [0, -HUGE], [1, False, "0", MISSING]),
    ({"$lte": 1}, [1, 0.5], [1.1, True, MISSING]),
    ({"$gt": 1, "$lt": 3}, [2], [1, 3, 4]),
    ({"$gte": 1, "$not": 2}, [1, 3], [0, 2]),
    ({"$type": "string", "$regex": "a"}, ["a"], ["b", 1]),
    # types: JSON Schema's names
    ({"$type": "string"}, ["", "5"], [5, None, MISSING]),
    ({"$type": "number"}, [5, 5.5, HUGE], [True, "5", None, MISSING]),
    ({"$type": "integer"}, [5, 5.0], [5.5, True, "5", float("inf"), MISSING]),
    ({"$type": "boolean"}, [True, False], [0, 1, "true", None, MISSING]),
    ({"$type": "object"}, [{}], [[], None, MISSING]),
    ({"$type": "array"}, [[]], [{}, "a", MISSING]),
    ({"$type": "null"}, [None], [0, "", MISSING]),
    ({"$type": ["string", "null"]}, ["a", None], [5, MISSING]),
    # $unordered pairs off one to one, however greedy the first matcher is
    ({"$unordered": [1, 2]}, [[1, 2], [2, 1], [2.0, 1]], [[1], [1, 1], [1, 2, 3], MISSING]),
    ({"$unordered": [{"$any": True}, 1]}, [[1, 2], [2, 1], [1, 1]], [[2, 2], [1]]),
    (
        {"$unordered": [{"$lt": 3}, {"$lt": 2}, {"$gt": 0}]},
        [list(order) for order in itertools.permutations([0, 1, 2])],
        [[2, 2, 2], [0, 1, 2, 2], [0, 0, 0]],
    ),
    ({"$unordered": []}, [[]], [[1], None, MISSING]),
]


@pytest.mark.parametrize(("written", "fitting", "others"), CASES, ids=[json.dumps(row[0])[:60] for row in CASES])
def test_a_matcher_fits_these_values_and_no_others(written: object, fitting: list[Any], others: list[Any]) -> None:
    fits = compiled(written)
    assert [value for value in fitting if not fits(value)] == []
    assert [value for value in others if fits(value)] == []


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ({"$regexp": "a"}, "did you mean '$regex'?"),
        ({"$gt": "5"}, "expected a number"),
        ({"$gt": True}, "expected a number"),
        ({"$any": False}, "expected true"),
        ({"$one_of": []}, "an empty list can never match"),
        ({"$approx": 5}, "needs either $within (a distance) or $rel (a fraction)"),
        ({"$approx": 5, "$within": -1}, "a negative tolerance can never match"),
        ({"$within": 5}, "'$within' means nothing without '$approx'"),
        ({"$type": "float"}, "expected one of"),
        ({"$gt": 1, "plain": 2}, "for a literal map use $eq"),
        ({"$glob": "[a"}, "never closed"),
        ({"$regex": "("}, "not a regular expression"),
        ({"$regex": "cost{s}"}, "write '\\{' for a literal brace"),
        ({"$regex": "(?:foo){e<=1}"}, "write '\\{' for a literal brace"),
        ({"$regex": "[[:alpha:]]"}, "means different things to different engines"),
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_refused(written: object, says: str) -> None:
    (problem,) = problems_of(written)
    assert says in problem


EVIL = {"$regex": "^(a|aa)+$"}
LONG = "a" * 40 + "b"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("passmuster.checks._regex_search.REGEX_SECONDS", 0.05)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("severity", ["block", "warn", "log"])
def test_a_regex_that_takes_too_long_is_an_error_and_fails_the_gate(severity: str) -> None:
    selector = {"tool": "a", "args": {"x": EVIL}}
    suite = rules({"type": "blocklist", "tools": [selector]}, severity=severity)
    report = judge(suite, [trace([call("a", {"x": LONG})])])
    assert (report.tests[0].status, report.exit_code, report.verdict) == ("error", 1, "fail")
    (line,) = report.gate
    assert (line.kind, line.level, line.status) == ("test", "blocking", "error")
    assert "longer than a second" in line.message


@pytest.mark.usefixtures("impatient")
def test_a_regex_that_takes_too_long_to_tell_a_failure_breaks_the_checks_that_ask_for_it() -> None:
    suite = {
        "failed_when": [{"tool": "a", "result": EVIL}],
        "tests": [
            {"id": "done", "metric": "sequence_valid", "rules": [{"type": "require", "tool": "a"}]},
            {"id": "tried", "metric": "tool_blocklist", "blocklist": ["z"]},
        ],
    }
    report = judge(suite, [trace([call("a", result=LONG)]), trace([call("a", result="fine")])])
    assert [test.status for test in report.tests] == ["error", "pass"]
    assert report.exit_code == 1
    assert "'failed_when' took longer than a second" in (report.tests[0].error or "")


# ── Laws ────────────────────────────────────────────────────────────────────────────────────────────────────

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=4),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=8,
)
matchers = st.recursive(
    st.one_of(
        scalars,
        st.builds(lambda value: {"$eq": value}, values),
        st.sampled_from([{"$any": True}, {"$ignore": True}, {"$absent": True}]),
        st.builds(lambda bound: {"$gt": bound}, st.integers(-3, 3)),
        st.builds(lambda bound: {"$lte": bound}, st.integers(-3, 3)),
        st.builds(lambda name: {"$type": name}, st.sampled_from(["string", "number", "integer", "array", "object"])),
    ),
    lambda inner: st.one_of(
        st.builds(lambda one: {"$not": one}, inner),
        st.builds(lambda one: {"$optional": one}, inner),
        st.builds(lambda one: {"$contains": one}, inner),
        st.builds(lambda some: {"$one_of": some}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda some: {"$unordered": some}, st.lists(inner, max_size=3)),
        st.lists(inner, max_size=3),
    ),
    max_leaves=5,
)
present = values
anything = st.one_of(values, st.just(MISSING))


@given(values)
def test_eq_is_reflexive(value: Any) -> None:
    assert compiled({"$eq": value})(value)


@given(values, values)
def test_eq_is_symmetric(a: Any, b: Any) -> None:
    assert compiled({"$eq": a})(b) == compiled({"$eq": b})(a)


@given(matchers, present)
def test_not_is_the_complement_on_what_is_there(written: object, value: Any) -> None:
    assert compiled({"$not": written})(value) != compiled(written)(value)


@given(matchers)
def test_not_never_fits_what_is_missing(written: object) -> None:
    assert not compiled({"$not": written})(MISSING)


@given(st.lists(matchers, min_size=1, max_size=3), anything)
def test_one_of_is_or(written: list[object], value: Any) -> None:
    assert compiled({"$one_of": written})(value) == any(compiled(one)(value) for one in written)


@given(matchers, anything)
def test_optional_is_missing_or_fitting(written: object, value: Any) -> None:
    assert compiled({"$optional": written})(value) == (value is MISSING or compiled(written)(value))


@given(st.lists(matchers, max_size=4), st.lists(present, max_size=4), st.randoms(use_true_random=False))
def test_the_order_in_unordered_never_matters(written: list[object], found: list[Any], shuffle: Any) -> None:
    mixed, moved = list(written), list(found)
    shuffle.shuffle(mixed)
    shuffle.shuffle(moved)
    fits = [compiled(one) for one in written]
    paired = len(found) == len(written) and any(
        all(fit(value) for fit, value in zip(fits, order, strict=True)) for order in itertools.permutations(found)
    )
    assert compiled({"$unordered": written})(found) == paired
    assert compiled({"$unordered": mixed})(moved) == paired


@given(st.lists(matchers, max_size=3), present)
def test_a_plain_list_fits_element_by_element(written: list[object], value: Any) -> None:
    fits = isinstance(value, list) and len(value) == len(written)
    assert compiled(written)(value) == (
        fits and all(compiled(one)(item) for one, item in zip(written, value, strict=True))
    )


def test_a_suite_with_such_a_mistake_says_where() -> None:
    suite = "tests:\n  - id: t\n    metric: sequence_valid\n    rules:\n      - type: require\n"
    suite += "        tool: {tool: a, args: {x: {$regex: 'cost{s}'}}}\n"
    with pytest.raises(passmuster.SuiteError, match=r"passmuster\.yaml:6:\d+: .*write '\\\{'"):
        judge(suite, [trace("a")])
