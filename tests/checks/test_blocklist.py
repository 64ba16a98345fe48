"""`tool_blocklist`, and the one language of tool patterns that every check speaks."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.checks.building import judge, judge_one, rules, trace

import passmuster
from passmuster.suite.grammar import _globs as globs


def blocking(*patterns: str, **fields: Any) -> dict[str, Any]:
    return {"tests": [{"id": "t", "metric": "tool_blocklist", "blocklist": list(patterns), **fields}]}


@pytest.mark.parametrize(
    ("patterns", "steps", "found"),
    [
        (["admin_*"], "get admin_x admin_y admin_x", [("admin_x", "admin_*", 2, 2), ("admin_y", "admin_*", 1, 3)]),
        (["*_dangerous"], "run_dangerous", [("run_dangerous", "*_dangerous", 1, 1)]),
        (["delete_customer"], "delete_customer!", [("delete_customer", "delete_customer", 1, 1)]),
        (["read_*_file"], "read_secret_file", [("read_secret_file", "read_*_file", 1, 1)]),
        (["a", "a*"], "a ab", [("a", "a", 1, 1), ("ab", "a*", 1, 2)]),
        (["a"], "(a a)", [("a", "a", 2, 1)]),
        (["a"], "A aa b", []),
        (["[!a]"], "a b", [("b", "[!a]", 1, 2)]),
    ],
)
def test_one_violation_per_blocked_tool(
    patterns: list[str], steps: str, found: list[tuple[str, str, int, int]]
) -> None:
    test = judge_one(blocking(*patterns), trace(steps))
    assert [(one.tool, one.pattern, one.calls_found, one.call_index) for one in test.violations] == found
    assert test.status == ("fail" if found else "pass")
    assert test.exercised


def test_one_violation_per_tool_and_trace() -> None:
    test = judge_one(blocking("a"), trace("a a", trace_id="1"), trace("b", trace_id="2"), trace("a", trace_id="3"))
    assert [(one.trace_id, one.calls_found, one.trace_line) for one in test.violations] == [("1", 2, 1), ("3", 1, 3)]


def test_without_any_call_it_is_not_exercised() -> None:
    assert not judge_one(blocking("a"), trace("")).exercised


def test_the_line_is_that_of_the_pattern() -> None:
    suite = "tests:\n  - id: t\n    metric: tool_blocklist\n    blocklist:\n      - admin_*\n      - *_dangerous\n"
    (found,) = judge_one(suite, trace("run_dangerous")).violations
    assert (found.pattern, found.policy_file, found.policy_line) == ("*_dangerous", "passmuster.yaml", 6)


# ── One pattern language ────────────────────────────────────────────────────────────────────────────────────

# Tests that fail exactly where the pattern fits the tool that was called.
NAMING: dict[str, Any] = {
    "tool_blocklist": lambda pattern: blocking(pattern)["tests"][0],
    "blocklist rule": lambda pattern: rules({"type": "blocklist", "tools": pattern})["tests"][0],
    "selector map": lambda pattern: rules({"type": "blocklist", "tools": {"tool": pattern}})["tests"][0],
    "count": lambda pattern: rules({"type": "count", "tool": pattern, "max": 0})["tests"][0],
    "policy": lambda pattern: {
        "id": "t",
        "metric": "args_valid",
        "tool": pattern,
        "constraints": {"x": {"required": True}},
    },
}


@pytest.mark.parametrize("place", NAMING)
@pytest.mark.parametrize(
    ("pattern", "tool"),
    [
        ("read_*_file", "read_my_file"),
        ("read_*_file", "read_file"),
        ("get_?", "get_x"),
        ("get_?", "get_xy"),
        ("[a-c]x", "bx"),
        ("[!a-c]x", "bx"),
        ("a.b", "a.b"),
        ("a.b", "axb"),
        ("a*", "bA"),
        ("A", "a"),
        ("mcp__*__write", "mcp__files__write"),
        ("*", "anything/at.all"),
        ("[[]x]", "[x]"),
    ],
)
def test_a_pattern_means_the_same_wherever_a_tool_is_named(place: str, pattern: str, tool: str) -> None:
    test = judge_one({"tests": [NAMING[place](pattern)]}, trace(tool))
    assert (test.status == "fail") == fnmatchcase(tool, pattern)


@pytest.mark.parametrize("pattern", ["", "a[", "[", "[!", "[]"])
def test_a_bad_pattern_is_refused_wherever_a_tool_is_named(pattern: str) -> None:
    for write in NAMING.values():
        with pytest.raises(passmuster.SuiteError):
            judge({"tests": [write(pattern)]}, [trace("a")])


alphabet = st.text("ab[]!-*?^.\\ \n", max_size=6)


@given(alphabet, alphabet)
def test_patterns_fit_what_fnmatch_says(pattern: str, name: str) -> None:
    assert globs.glob_matcher(pattern)(name) == fnmatchcase(name, pattern)


@given(st.text(max_size=8), st.text(max_size=8))
def test_an_escaped_name_fits_itself_and_nothing_else(name: str, other: str) -> None:
    fits = globs.glob_matcher(globs.escape_glob(name))
    assert fits(name)
    assert fits(other) == (other == name)
