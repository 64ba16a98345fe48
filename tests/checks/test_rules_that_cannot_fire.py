"""What can never fit, and what was left empty, is refused with a hint of what to write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.checks.building import call, judge_one, rules, trace
from tests.suite.suite_files import problems, write

import passmuster

SELECTING = "tests: [{{id: s, metric: sequence_valid, rules: [{{type: blocklist, tools: [{{tool: pay, {0}}}]}}]}}]\n"


@pytest.mark.parametrize(
    ("selector", "says"),
    [
        # texts that read like a comparison
        ("args: {amount: '> 1000'}", "write {$gt: 1000}, or {$eq: '> 1000'} for the text"),
        ("args: {amount: '>1000'}", "write {$gt: 1000}"),
        ("args: {amount: '>= 5.5'}", "write {$gte: 5.5}"),
        ("args: {amount: '≤ 5'}", "write {$lte: 5}"),
        ("args: {amount: '<100'}", "write {$lt: 100}"),
        ("args: {amount: '!= 5'}", "write {$not: 5}"),
        ("args: {amount: '== 5'}", "write {$eq: 5}"),
        ("args: {amount: '> $1,000'}", "can never match a number"),
        ("args: {amount: '> 10%'}", "can never match a number"),
        ("args: {amount: '> 5 and < 10'}", "write {$gt: 5, $lt: 10}"),
        ("args: {amount: {$one_of: [5, '> 10']}}", "write {$gt: 10}"),
        ("args: {order: {amount: '> 10'}}", "write {$gt: 10}"),
        ("args: {amount: '$gt 5'}", "write {$gt: …}"),
        ("result: '> 5'", "write {$gt: 5}"),
        ("result: {total: '> 5'}", "write {$gt: 5}"),
        ("args: {amount: {gt: 5}}", "write '$gt'"),
        ("args: {amount: {gte: 5, lt: 10}}", "write '$gte'"),
        ("args: {$gt: 5}", "'$gt' stands where the name of an argument belongs"),
        # paths
        ("args: {'items[*].price': {$gt: 5}}", "for any element use $contains"),
        ("args: {'items[].price': {$gt: 5}}", "for any element use $contains"),
        ("args: {'items[-1].price': {$gt: 5}}", "'[-1]' is no index"),
        ("args: {'items[last]': 5}", "'[last]' is no index"),
        ("args: {'items[0:2]': 5}", "'[0:2]' is no index"),
        ("args: {\"items['a']\": 5}", "is no index"),
        ("args: {'items[?(@.a)]': 5}", "is no index"),
        ("args: {$.amount: 5}", "write 'amount'"),
        ("args: {$..amount: 5}", "write 'amount'"),
        ("args: {'$[0].a': 5}", "without '$'"),
        ("args: {$: 5}", "without '$'"),
        ("args: {/amount: 5}", "write a path like"),
        ("args: {a..b: 5}", "is no path"),
        ("args: {.a: 5}", "is no path"),
        ("args: {a.: 5}", "is no path"),
        ("args: {'a.[0]': 5}", "is no path"),
        ("args: {'a[0]b': 5}", "is no path"),
        ("args: {'a[0': 5}", "is no path"),
        ("args: {'': 5}", "the name of the argument is empty"),
        ("args: {' amount': 5}", "begins or ends with white space"),
        ("args: {'amount*': 5}", "named without wildcards"),
        ("args: {'amount > 5': true}", "reads like a comparison"),
        ("args: {order: {'items[0].price': 5}}", "paths stand directly under 'args'"),
        # what excludes each other
        ("args: {amount: {$gt: 500, $lt: 100}}", "exclude each other"),
        ("args: {amount: {$gt: 5, $lt: 5}}", "exclude each other"),
        ("args: {amount: {$gt: 5, $lte: 5}}", "exclude each other"),
        ("args: {amount: {$gte: 5, $lt: 5}}", "exclude each other"),
        ("args: {amount: {$type: integer, $gt: 5, $lt: 6}}", "exclude each other"),
        ("args: {amount: {$approx: 10, $within: 1, $gt: 20}}", "exclude each other"),
        ("args: {amount: {$eq: 5, $gt: 10}}", "exclude each other"),
        ("args: {amount: {$eq: 5, $not: 5}}", "exclude each other"),
        ("args: {amount: {$one_of: [1, 2], $gt: 10}}", "exclude each other"),
        ("args: {amount: {$type: string, $gt: 10}}", "exclude each other"),
        ("args: {amount: {$type: number, $regex: a}}", "exclude each other"),
        ("args: {amount: {$glob: 'a*', $contains: {x: 1}}}", "exclude each other"),
        ("args: {amount: {$absent: true, $gt: 10}}", "exclude each other"),
        ("args: {amount: {$absent: true, $any: true}}", "exclude each other"),
        ("args: {amount: {$not: {$any: true}}}", "write $absent: true"),
        ("args: {order: {amount: {$gt: 5, $lt: 1}}}", "exclude each other"),
        ("result: {$gt: 5, $lt: 1}", "exclude each other"),
        # left empty
        ("args: {amount: }", "is empty; write 'null' for the value null"),
        ("args: {amount: {$eq: 5, $gt: }}", "expected a number, found null"),
        ("args: {}", "'args' is empty"),
        ("args: ", "expected a map, found null"),
        ("result: ", "is empty; write 'null'"),
        ("failed: ", "expected true or false"),
        # patterns
        ('args: {note: {$regex: "\\bssn\\b"}}', "a backspace character"),
        ('args: {note: {$glob: "\\bssn*"}}', "a backspace character"),
        ("args: {note: {$regex: 'a^b'}}", "can never be found"),
        ("args: {note: {$glob: '[z-a]'}}", "out of order"),
    ],
)
def test_a_selector_that_can_never_fit_is_refused(tmp_path: Path, selector: str, says: str) -> None:
    found = problems(tmp_path, SELECTING.format(selector))
    assert len(found) == 1, found
    assert says in found[0]


@pytest.mark.parametrize(
    "selector",
    [
        "args: {amount: {$gt: 5, $lt: 6}}",
        "args: {amount: {$gte: 5, $lte: 5}}",
        "args: {amount: {$type: integer, $gte: 5, $lt: 6}}",
        "args: {amount: null}",
        "args: {amount: {$eq: '> 1000'}}",
        "args: {note: '<b>bold</b>'}",
        "args: {note: '> quoted'}",
        "args: {note: '=SUM(A1:A2)'}",
        "args: {note: 'a > b'}",
        "args: {price: {min: 5, max: 10}}",
        "args: {query: {gte: 5, field: price}}",
        "args: {$top: 5, $filter: x}",
        "args: {'filter[status]': open}",
        "args: {'items[0].price': 5, items.0.name: x, a-b.c: 1}",
        "args: {order: {a.b: 5}}",
        "args: {note: {$not: x, $type: string}}",
        "args: {note: {$optional: {$gt: 5}, $not: 7}}",
        "args: {note: {$ignore: true}}",
        "args: {note: {$regex: '\\bssn\\b'}}",
        "args: {note: {$one_of: [a, b], $not: a}}",
    ],
)
def test_what_may_fit_is_not_refused(tmp_path: Path, selector: str) -> None:
    passmuster.load_suite(write(tmp_path, SELECTING.format(selector)))


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("a,b", "write several patterns as a list"),
        ("a, b", "write several patterns as a list"),
        ("a|b", "write several patterns as a list"),
        ("a or b", "write several patterns as a list"),
        ("a -> b", "write several patterns as a list"),
        ("{a,b}_*", "write several patterns as a list"),
        ("^admin", "patterns are globs"),
        ("admin$", "patterns are globs"),
        ("!admin", "patterns are globs"),
        ("/admin.*/", "patterns are globs"),
        ("admin\\_*", "patterns are globs"),
        ("[z-a]x", "out of order"),
        ("admin\u200b_*", "invisible character U+200B"),
        ("admin\b", "invisible character U+0008"),
        (" admin", "begins or ends with white space"),
        ("", "cannot be empty"),
        ("a[", "is never closed"),
    ],
)
def test_a_tool_pattern_that_fits_no_tool_is_refused(tmp_path: Path, pattern: str, says: str) -> None:
    suites: list[dict[str, Any]] = [
        {"tests": [{"id": "b", "metric": "tool_blocklist", "blocklist": [pattern]}]},
        {"tests": [{"id": "s", "metric": "sequence_valid", "rules": [{"type": "require", "tool": pattern}]}]},
        {"tests": [{"id": "a", "metric": "args_valid", "tool": pattern, "constraints": {"x": {"max": 1}}}]},
        {"scenarios": [{"id": "S", "path": {"forbidden_tools": [pattern]}}]},
    ]
    for suite in suites:
        (found,) = problems(tmp_path, json.dumps(suite))
        assert says in found


@pytest.mark.parametrize(
    "pattern", ["Web Search", "github.create_issue", "mcp__x__y", "a-b/c", "ns:tool", "[!,]x", "a[|]b"]
)
def test_tool_patterns_may_have_other_signs(tmp_path: Path, pattern: str) -> None:
    suite = {"tests": [{"id": "b", "metric": "tool_blocklist", "blocklist": [pattern]}]}
    passmuster.load_suite(write(tmp_path, json.dumps(suite)))


EMPTY_KEYS = [
    *("must_not", "expected_behaviors", "path", "cost", "correctness", "category", "capability", "tags", "weight"),
    *("pass_score", "repeat", "repeat_policy", "label", "description", "query"),
]


@pytest.mark.parametrize("key", EMPTY_KEYS)
@pytest.mark.parametrize("written", ["", "null", "~"])
def test_a_key_of_a_scenario_left_empty_is_an_error(tmp_path: Path, key: str, written: str) -> None:
    suite = f"scenarios:\n  - id: A\n    {key}: {written}\n    x-note:\n"
    assert any(f"passmuster.yaml:3:5: scenarios[0].{key}: is empty" in one for one in problems(tmp_path, suite))


LAYER_KEYS = [
    *(("path", key) for key in ("forbidden_tools", "expected_tools", "expected_calls", "max_loops", "match_mode")),
    *(("correctness", key) for key in ("not_in_answer", "regex_match", "json_schema", "llm_judge", "safety_check")),
    *(("cost", key) for key in ("max_total_tokens", "max_cost_usd")),
]


@pytest.mark.parametrize(("layer", "key"), LAYER_KEYS)
def test_a_key_of_a_layer_left_empty_is_an_error(tmp_path: Path, layer: str, key: str) -> None:
    suite = f"defaults: {{cost: {{max_llm_calls: 3}}}}\nscenarios:\n  - id: A\n    {layer}:\n      {key}:\n"
    told = problems(tmp_path, suite)
    assert told[0].startswith(f"passmuster.yaml:5:7: scenarios[0].{layer}.{key}: is empty, and 'defaults' has nothing")


def test_null_still_removes_a_default(tmp_path: Path) -> None:
    suite = """defaults: {path: {max_loops: 1, forbidden_tools: [x]}, category: c}
scenarios:
  - {id: A, path: {max_loops: }, category: null}
  - {id: B, path: null, cost: {max_llm_calls: 1}}
"""
    first, second = passmuster.load_suite(write(tmp_path, suite)).scenarios
    assert first.path is not None
    assert list(first.path.values) == ["forbidden_tools"]
    assert (first.category, second.path) == (None, None)


@pytest.mark.parametrize(
    ("scenario", "says"),
    [
        ('must_not: [{answer_matches: "\\bssn\\b"}]', "a backspace character; for a word boundary write '\\b'"),
        ('correctness: {regex_match: "\\bssn\\b"}', "a backspace character"),
        ('correctness: {not_in_answer: ["\\bssn"]}', "a backspace character"),
        ('correctness: {not_in_answer: "secret\\n"}', "begins or ends with a line break"),
        ('must_not: [{answer_contains: "secret\\n"}]', "begins or ends with a line break"),
        ('must_not: [{answer_matches: "a\\0"}]', "U+0000"),
        ("must_not: [{answer_matches: 'a^b'}]", "can never be found"),
        ("must_not: [{answer_matches: 'x$y'}]", "can never be found"),
        ("must_not: [{answer_matches: '(?!)'}]", "can never be found"),
        ("must_not: [{answer_matches: '[^\\s\\S]'}]", "can never be found"),
        ("must_not: [{answer_matches: '(^a)(^b)'}]", "can never be found"),
    ],
)
def test_a_pattern_that_can_never_be_found_is_refused(tmp_path: Path, scenario: str, says: str) -> None:
    (found,) = problems(tmp_path, f"scenarios:\n  - id: A\n    {scenario}\n")
    assert says in found


@pytest.mark.parametrize(
    "pattern", [r"\bssn\b", "^$", r"a$\n", "(?m)a$^b", "(?x)a\n  b", "a|b^", "(a$)?b", r"x$\s", "(?<=^)a", "(?m:^)a"]
)
def test_a_pattern_that_may_be_found_is_not_refused(tmp_path: Path, pattern: str) -> None:
    suite = {"scenarios": [{"id": "A", "must_not": [{"answer_matches": pattern}]}]}
    passmuster.load_suite(write(tmp_path, json.dumps(suite)))


def test_an_empty_list_of_handoffs_is_refused(tmp_path: Path) -> None:
    (told,) = problems(tmp_path, "scenarios:\n  - id: A\n    path: {expected_handoff: []}\n")
    assert "the list is empty, so nothing would be checked" in told


def test_an_empty_allowlist_is_always_exercised() -> None:
    held = judge_one(rules({"type": "allowlist", "tools": []}), trace([]))
    assert (held.status, held.exercised) == ("pass", True)
    assert judge_one(rules({"type": "allowlist", "tools": ["a"]}), trace([])).exercised is False


@pytest.mark.parametrize(
    ("matcher", "result", "fits"),
    [
        ({"ok": True}, '{"ok": true}', True),
        ({"ok": True}, '{"ok": false}', False),
        ({"ok": True}, "{not JSON", False),
        ([1, 2], " [1, 2]", True),
        ({"$contains": {"id": 1}}, '[{"id": 1}]', True),
        ({"$not": {"ok": True}}, '{"ok": true}', False),
        ({"$one_of": [{"ok": True}, "fine"]}, '{"ok": true}', True),
        ({"$regex": '"ok": true'}, '{"ok": true}', True),
        ('{"ok": true}', '{"ok": true}', True),
        ({"$type": "string"}, '{"ok": true}', True),
    ],
)
def test_a_result_that_is_json_text_is_read_where_fields_are_asked_for(matcher: Any, result: str, fits: bool) -> None:
    rule = {"type": "blocklist", "tools": [{"tool": "pay", "result": matcher}]}
    steps = [call("pay", result=result)]
    assert (judge_one(rules(rule), trace(steps)).status == "fail") is fits
