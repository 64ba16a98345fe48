"""`args_valid`: the arguments of each call against the policy, in every way a policy can be written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.checks.building import call, judge, judge_one, trace

import passmuster
from passmuster.checks._outcome import Violation
from passmuster.scoring import _report as reports

BY_POLICY = "tests: [{id: t, metric: args_valid, policy: policy.yaml}]\n"
BY_JSON = "tests: [{id: t, metric: args_valid, policy: policy.json}]\n"


def inline(constraint: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A suite that asks one thing of the argument `x` of the tool `a`."""
    return {"tests": [{"id": "t", "metric": "args_valid", "tool": "a", "constraints": {"x": constraint}, **fields}]}


def with_x(text: str) -> str:
    """A trace with one call of `a`; the text is its argument `x` as JSON writes it."""
    return f'{{"steps": [{{"type": "tool_call", "tool": "a", "arguments": {{"x": {text}}}}}]}}'


def facts(violation: Violation) -> tuple[str | None, Any, str | None, int | None]:
    return violation.argument, violation.value, violation.constraint, violation.policy_line


# ── Constraints ─────────────────────────────────────────────────────────────────────────────────────────────

CONSTRAINTS: list[tuple[dict[str, Any], list[str], list[str]]] = [
    # constraint, values that conform, values that do not (all as JSON writes them)
    ({"type": "string"}, ['""', '"5"'], ["5", "null", "true", "[]", "{}"]),
    ({"type": "number"}, ["5", "5.5", "-0", "1e308"], ['"5"', "true", "null", "1e400", "-1e400", "1" + "0" * 400]),
    ({"type": "integer"}, ["5", "5.0", "1e3", "1" + "0" * 30], ["5.5", '"5"', "true", "1e400", "1" + "0" * 400]),
    ({"type": "boolean"}, ["true", "false"], ["1", "0", '"true"', "null"]),
    ({"type": "object"}, ["{}"], ["[]", "null"]),
    ({"type": "array"}, ["[]"], ["{}", '"a"']),
    ({"type": "null"}, ["null"], ["0", '""']),
    ({"type": ["string", "null"]}, ['"a"', "null"], ["5"]),
    ({"type": ["number", "null"], "max": 30}, ["null", "30"], ["31", "1e400", "-1e400"]),
    ({"min": 1}, ["1", "1.0", "2"], ["0", "0.99", "-1e308", '"5"', "true"]),
    ({"minimum": 1}, ["1"], ["0"]),
    ({"max": 30}, ["30", "30.0", "-5"], ["30.01", "50", "1e400", "1" + "0" * 400, '"50"', "true"]),
    ({"maximum": 30}, ["30"], ["31"]),
    ({"exclusiveMinimum": 0}, ["0.1"], ["0", "-1"]),
    ({"exclusiveMaximum": 10}, ["9.9"], ["10", "1e400"]),
    ({"multipleOf": 5}, ["0", "10", "10.0"], ["7", "10.5"]),
    ({"multipleOf": 0.01}, ["19.99", "0.29"], ["19.999"]),
    ({"minLength": 2}, ['"ab"', '"é\\u00e9"'], ['"a"', '""', "22"]),
    ({"maxLength": 2}, ['"ab"', '"\\ud83d\\ude00\\ud83d\\ude00"'], ['"abc"']),
    ({"pattern": "^ord_[0-9]{3}$"}, ['"ord_123"'], ['"ord_12"', '"xord_123"', "123"]),
    ({"pattern": "b"}, ['"abc"'], ['"ac"']),
    ({"pattern": "^\\d+$"}, ['"12"'], ['"١٢"', '"a"']),  # ECMA-262: a digit is one of ten
    ({"format": "email"}, ['"a@example.com"'], ['"a.example.com"', "5"]),
    ({"format": "date"}, ['"2026-02-28"'], ['"2026-02-30"', '"28.2.2026"']),
    ({"format": "date-time"}, ['"2026-02-28T10:00:00Z"'], ['"2026-02-28 10:00"']),
    ({"format": "uuid"}, ['"123e4567-e89b-12d3-a456-426614174000"'], ['"123"']),
    ({"format": "ipv4"}, ['"10.0.0.1"'], ['"10.0.0.256"']),
    ({"format": "uri"}, ['"https://example.com/a"'], ['"example"']),
    ({"enum": ["a", 5]}, ['"a"', "5", "5.0"], ['"b"', '"5"', "null"]),
    ({"const": True}, ["true"], ["1", "false", '"true"']),
    ({"const": None}, ["null"], ["0"]),
    ({"items": {"type": "string"}}, ["[]", '["a"]'], ['["a", 5]', '"a"']),
    ({"minItems": 1}, ["[1]"], ["[]"]),
    ({"maxItems": 1}, ["[1]"], ["[1, 2]"]),
    ({"uniqueItems": True}, ["[1, 2]", '[1, "1"]', "[0, false]"], ["[1, 1.0]", '[{"a": 1}, {"a": 1}]']),
    ({"properties": {"n": {"type": "number"}}}, ["{}", '{"n": 1, "m": 2}'], ['{"n": "1"}', "[]"]),
    ({"properties": {"n": {"required": True}}}, ['{"n": null}'], ["{}"]),
    ({"properties": {"n": {}}, "additionalProperties": False}, ['{"n": 1}'], ['{"m": 1}']),
    ({"properties": {"n": {}}, "additionalProperties": {"type": "number"}}, ['{"m": 1}'], ['{"m": "1"}']),
    ({"type": "object", "required": ["n"]}, ['{"n": 1}'], ["{}"]),
    ({"type": "number", "min": 0, "max": 30}, ["0", "30"], ["-1", "31"]),
    ({}, ["null", "5", "{}"], []),
]


@pytest.mark.parametrize(
    ("constraint", "fine", "wrong"), CONSTRAINTS, ids=[json.dumps(row[0])[:50] for row in CONSTRAINTS]
)
def test_a_constraint_allows_these_values_and_no_others(
    constraint: dict[str, Any], fine: list[str], wrong: list[str]
) -> None:
    def broken(value: str) -> bool:
        test = judge_one(inline(constraint), with_x(value))
        assert test.status == ("fail" if test.violations else "pass")
        assert test.exercised
        return bool(test.violations)

    assert [value for value in fine if broken(value)] == []
    assert [value for value in wrong if not broken(value)] == []


def test_an_argument_is_optional_unless_it_is_required() -> None:
    for constraint, status in (({"type": "string"}, "pass"), ({"type": "string", "required": True}, "fail")):
        assert judge_one(inline(constraint), trace([call("a")])).status == status


@pytest.mark.parametrize(
    ("steps", "status"),
    [
        ([{"type": "tool_call", "tool": "a"}], "fail"),
        ([call("a", {"x": None})], "pass"),
        ([{"type": "tool_call", "tool": "a", "arguments": None}], "error"),
        ([call("a", '{"x": 1}')], "pass"),
        ([call("a", "{}")], "fail"),
        ([call("a", "not JSON")], "fail"),
        ([call("a", [1])], "fail"),
        ([call("a", 5)], "fail"),
    ],
    ids=["left out", "null is a value", "null for all", "JSON text", "JSON text without it", "text", "list", "number"],
)
def test_what_counts_as_arguments(steps: list[dict[str, Any]], status: str) -> None:
    assert judge_one(inline({"required": True}), trace(steps)).status == status


@pytest.mark.parametrize(
    "policy",
    [
        "tools: {a: {arguments: {x: {type: number}}}}",
        "tools: {a: {schema: {properties: {x: {type: number}}}}}",
        "tools: {a: {schema: {}}}",
        "tools: {a: {}}",
        "tools: [{name: a}]",
        "tools: [{name: a, inputSchema: {properties: {x: {}}}}]",
    ],
)
@pytest.mark.parametrize("arguments", [[1], "text", 5, True])
def test_arguments_that_are_no_map_break_every_policy(policy: str, arguments: object) -> None:
    (violation,) = judge_one(BY_POLICY, trace([call("a", arguments)]), policy__yaml=policy).violations
    assert (violation.argument, violation.value) == (None, arguments)
    assert violation.message.startswith("Expected object, found ")
    assert violation.policy_line == 1


# ── What is reported ────────────────────────────────────────────────────────────────────────────────────────

POLICY = """\
# What the shop's tools accept.
tools:
  order:
    additional_arguments: false
    arguments:
      id: {type: string, required: true}
      percent:
        type: number
        min: 0
        max: 30
      note:
        maxLength: 5
        on_violation: warn
      trace:
        type: string
        on_violation: log
      items:
        type: array
        minItems: 1
        items:
          properties:
            price:
              type: number
              maximum: 99.50
            name: {required: true}
      "odd.name": {const: 1}
  "get_*":
    arguments:
      id: {type: integer}
  get_all: {}
"""


def ordered(**arguments: Any) -> reports.TestReport:
    return judge_one(BY_POLICY, trace([call("x"), call("order", arguments)]), policy__yaml=POLICY)


def test_every_violation_of_a_call_is_reported_each_with_its_own_key() -> None:
    test = ordered(
        percent=50,
        note="too long",
        trace=5,
        items=[{"price": 1, "name": "a"}, {"name": "b"}, {"price": 100, "name": 0}, {"price": "1"}],
        odd=1,
        **{"odd.name": 2},
    )
    assert sorted(map(facts, test.violations), key=str) == sorted(
        [
            ("id", None, "required: true", 6),
            ("percent", 50, "max: 30", 10),
            ("note", "too long", "maxLength: 5", 12),
            ("trace", 5, "type: string", 15),
            ("items[2].price", 100, "maximum: 99.50", 24),
            ("items[3].price", "1", "type: number", 23),
            ("items[3].name", None, "required: true", 25),
            ("odd", 1, "additional_arguments: false", 4),
            ('["odd.name"]', 2, "const: 1", 26),
        ],
        key=str,
    )
    assert {found.level for found in test.violations if found.argument == "note"} == {"warn"}
    assert {found.level for found in test.violations if found.argument == "trace"} == {"log"}
    for found in test.violations:
        assert (found.tool, found.call_index, found.policy_file) == ("order", 2, "policy.yaml")
        assert found.constraint is not None
        assert found.constraint in found.message
        assert found.suggestion


@pytest.mark.parametrize(
    ("arguments", "status", "number"),
    [({"trace": 5}, "pass", 1), ({"note": "too long"}, "warn", 1), ({"trace": 5, "note": "too long"}, "warn", 2)],
)
def test_on_violation_decides_how_much_it_weighs(arguments: dict[str, Any], status: str, number: int) -> None:
    test = ordered(id="1", **arguments)
    assert (test.status, test.violation_count) == (status, number)


def test_a_missing_argument_has_no_value_and_a_null_has_one() -> None:
    missing, null = judge_one(
        inline({"type": "string", "required": True}), trace([call("a"), call("a", {"x": None})])
    ).violations
    assert (missing.value, missing.has_value, missing.message) == (
        None,
        False,
        "Required argument is missing (required: true)",
    )
    assert (null.value, null.has_value, null.message) == (None, True, "Expected string, found null (type: string)")


@pytest.mark.parametrize("text", ["1e400", "-1e400", "1" + "0" * 400])
@pytest.mark.parametrize("constraint", [{"type": "number"}, {"type": "integer"}, {"max": 30}, {"min": 0}])
def test_a_number_no_double_can_hold_is_told_as_such(text: str, constraint: dict[str, Any]) -> None:
    violations = judge_one(inline(constraint), with_x(text)).violations
    assert violations
    assert all(found.message.startswith("Number is too large for a double") for found in violations)


@pytest.mark.parametrize("text", ["1e400", "-1e400", "1" + "0" * 400])
@pytest.mark.parametrize("word", ["maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "multipleOf"])
def test_no_such_number_slips_past_a_bound_without_a_type(text: str, word: str) -> None:
    schema = {"properties": {"x": {word: 30}, "maximum": {"minimum": 5}, "minimum": True}}
    policy = json.dumps({"tools": {"a": {"schema": schema}}})
    suite = {"tests": [{"id": "t", "metric": "args_valid", "policy": "policy.json"}]}
    (found, *_) = judge_one(suite, with_x(text), policy__json=policy).violations
    assert found.message == f"Number is too large for a double ({word}: 30)"
    for text in ('"text"', "null", "true", "[]", "{}"):
        assert judge_one(suite, with_x(text), policy__json=policy).status == "pass"


@pytest.mark.parametrize("text", ["1e400", '[1, {"y": -1e400}]', "1" + "0" * 400])
def test_such_a_number_is_a_violation_where_the_policy_says_nothing_of_it(text: str) -> None:
    policy = "tools:\n  a: {arguments: {z: {type: string}}}\n"
    suite = "tests: [{id: t, metric: args_valid, policy: policy.yaml}]\n"
    (found,) = judge_one(suite, with_x(text), policy__yaml=policy).violations
    assert (found.argument or "").startswith("x")
    assert found.message.startswith("Number is too large for a double")


def test_a_number_that_no_double_can_hold_breaks_the_bound_it_is_under_once() -> None:
    policy = json.dumps(
        {
            "$defs": {"n": {"type": "number", "maximum": 30}},
            "tools": {"a": {"schema": {"properties": {"x": {"items": {"$ref": "#/$defs/n"}}}}}},
        }
    )
    suite = {"tests": [{"id": "t", "metric": "args_valid", "policy": "policy.json"}]}
    first, second = judge_one(suite, with_x("[1, 1e400, 31]"), policy__json=policy).violations
    assert (first.argument, first.message) == ("x[2]", "Value exceeds maximum (maximum: 30)")
    assert (second.argument, second.message) == ("x[1]", "Number is too large for a double (maximum: 30)")


@pytest.mark.parametrize(
    ("policy", "constraint"),
    [
        ("tools: {a: {schema: false}}", "schema: false"),
        ("tools: {a: {schema: {properties: {x: false}}}}", "x: false"),
        ('{"tools": [{"name": "a", "inputSchema": false}]}', "inputSchema: false"),
        ('[{"type": "function", "function": {"name": "a", "parameters": false}}]', "parameters: false"),
    ],
)
def test_a_schema_may_be_a_boolean(policy: str, constraint: str) -> None:
    suite = "tests: [{id: t, metric: args_valid, policy: policy.yaml}]\n"
    (found,) = judge_one(suite, with_x("1"), policy__yaml=policy).violations
    assert found.message == f"The schema allows no value ({constraint})"
    assert found.policy_line == 1
    passed = judge_one(suite, with_x("1"), policy__yaml=policy.replace("false", "true"))
    assert (passed.status, passed.exercised) == ("pass", True)


def test_each_argument_is_a_violation_where_the_policy_lists_none() -> None:
    suite = "tests: [{id: t, metric: args_valid, policy: policy.yaml}]\n"
    policy = "tools: {a: {additional_arguments: false}}\n"
    first, second = judge_one(suite, trace([call("a", {"x": 1, "y": 2})]), policy__yaml=policy).violations
    assert (first.argument, second.argument) == ("x", "y")
    assert first.message == "Argument is not allowed (additional_arguments: false)"


def test_the_line_is_that_of_the_key_in_a_json_policy_too() -> None:
    policy = """\
{
  "tools": [
    {
      "name": "a",
      "inputSchema": {
        "type": "object",
        "properties": {
          "x": {
            "type": "number",
            "maximum": 30
          },
          "who": {"$ref": "#/$defs/person"}
        },
        "required": [
          "x"
        ],
        "$defs": {
          "person": {
            "properties": {
              "age": {
                "minimum": 18
              }
            }
          }
        }
      }
    }
  ]
}
"""
    test = judge_one(BY_JSON, trace([call("a", {"x": 50}), call("a", {"who": {"age": 3}})]), policy__json=policy)
    assert list(map(facts, test.violations)) == [
        ("x", 50, "maximum: 30", 10),
        ("x", None, 'required: ["x"]', 14),
        ("who.age", 3, "minimum: 18", 21),
    ]


def test_the_line_is_that_of_the_key_in_the_suite_for_constraints_stated_there() -> None:
    suite = "tests:\n  - id: t\n    metric: args_valid\n    tool: a\n    constraints:\n      x:\n        max: 30\n"
    (found,) = judge_one(suite, with_x("31")).violations
    assert (found.policy_file, *facts(found)) == ("passmuster.yaml", "x", 31, "max: 30", 7)


# ── Forms of a policy ───────────────────────────────────────────────────────────────────────────────────────

SCHEMA = {"type": "object", "properties": {"x": {"type": "number", "maximum": 30}}, "required": ["x"]}
FORMS: dict[str, object] = {
    "own words": {"tools": {"a": {"arguments": {"x": {"type": "number", "max": 30, "required": True}}}}},
    "JSON Schema": {"tools": {"a": {"schema": SCHEMA}}},
    "MCP tools/list": {"tools": [{"name": "a", "title": "A", "inputSchema": SCHEMA, "annotations": {}}]},
    "MCP answer": {"jsonrpc": "2.0", "id": 7, "result": {"tools": [{"name": "a", "inputSchema": SCHEMA}]}},
    "OpenAI chat": [{"type": "function", "function": {"name": "a", "strict": True, "parameters": SCHEMA}}],
    "OpenAI responses": {"tools": [{"type": "function", "name": "a", "parameters": SCHEMA}]},
    "Anthropic": {"tools": [{"name": "a", "description": "…", "input_schema": SCHEMA}]},
    "Anthropic, bare list": [{"name": "a", "input_schema": SCHEMA}],
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_form_of_a_policy_asks_the_same(form: object) -> None:
    steps = [call("a", {"x": 30}), call("a", {"x": 31}), call("a"), call("a", {"x": "5"}), call("b")]
    test = judge_one(BY_JSON, trace(steps), policy__json=json.dumps(form))
    assert [(found.call_index, found.argument) for found in test.violations] == [(2, "x"), (3, "x"), (4, "x")]
    assert test.stats == {"calls_checked": 4, "unknown_tools": {"b": 1}}


def test_a_full_schema_may_share_definitions_within_its_file() -> None:
    policy = """\
$defs:
  percent:
    type: number
    maximum: 30
tools:
  a: {schema: {properties: {x: {$ref: "#/$defs/percent"}}}}
  b: {schema: {anyOf: [{required: [x]}, {required: [y]}], unevaluatedProperties: false, properties: {x: {}}}}
"""
    steps = [call("a", {"x": 31}), call("b", {}), call("b", {"x": 1}), call("b", {"x": 1, "z": 2})]
    found = judge_one(BY_POLICY, trace(steps), policy__yaml=policy).violations
    assert [(each.call_index, each.argument, each.policy_line) for each in found] == [
        (1, "x", 4),
        (2, None, 7),
        (4, "z", 7),
    ]


@pytest.mark.parametrize(
    "reference",
    ["file:///etc/hostname", "http://127.0.0.1:9/s.json", "other.json", "#/$defs/missing", "urn:nothing"],
)
def test_a_reference_out_of_the_file_is_refused_and_never_followed(reference: str, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text("{}")
    policy = {"tools": {"a": {"schema": {"properties": {"x": {"$ref": reference}}}}}}
    with pytest.raises(passmuster.SuiteError, match=r"policy\.json:1"):
        judge(BY_JSON, [trace("a")], files={"policy__json": json.dumps(policy), "other__json": "{}"})


def test_a_reference_to_a_real_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "allow.json").write_text("{}")
    schema = {"properties": {"x": {"$ref": (tmp_path / "allow.json").as_uri()}}}
    with pytest.raises(passmuster.SuiteError, match=r"\$ref"):
        judge(BY_JSON, [trace("a")], files={"policy__json": json.dumps({"tools": {"a": {"schema": schema}}})})


# ── Which calls are checked ─────────────────────────────────────────────────────────────────────────────────

NAMED = """\
tools:
  "get_*": {arguments: {id: {type: integer}}}
  "*_all": {arguments: {n: {max: 10}}}
  get_all: {arguments: {n: {max: 5}}}
  pay: {arguments: {n: {max: 1}}}
"""


@pytest.mark.parametrize(
    ("tool", "arguments", "number"),
    [
        ("get_one", {"id": "x"}, 1),
        ("get_all", {"id": "x", "n": 6}, 1),  # an exact name wins: its schema and no other
        ("get_all", {"n": 5}, 0),
        ("list_all", {"n": 11}, 1),
        ("get_them_all", {"id": "x", "n": 11}, 2),  # no exact name: every pattern that fits
        ("Get_one", {"id": "x"}, 0),
        ("paying", {"n": 5}, 0),
    ],
)
def test_an_exact_name_wins_over_patterns(tool: str, arguments: dict[str, Any], number: int) -> None:
    assert judge_one(BY_POLICY, trace([call(tool, arguments)]), policy__yaml=NAMED).violation_count == number


def restricted(**fields: Any) -> dict[str, Any]:
    return {"tests": [{"id": "t", "metric": "args_valid", "policy": "policy.yaml", **fields}]}


ALL_WRONG = [call("get_one", {"id": "x"}), call("pay", {"n": 5}), call("z"), call("z"), call("y")]


@pytest.mark.parametrize(
    ("fields", "broken", "stats"),
    [
        ({}, [1, 2], {"calls_checked": 2, "unknown_tools": {"y": 1, "z": 2}}),
        ({"tools": "pay"}, [2], {"calls_checked": 1}),
        ({"tools": ["get_*", "pay"]}, [1, 2], {"calls_checked": 2}),
        ({"strict": True}, [1, 2, 3, 4, 5], {"calls_checked": 2, "unknown_tools": {"y": 1, "z": 2}}),
        ({"strict": True, "tools": "pay"}, [2], {"calls_checked": 1}),
        ({"strict": False}, [1, 2], {"calls_checked": 2, "unknown_tools": {"y": 1, "z": 2}}),
    ],
    ids=str,
)
def test_tools_and_strict_decide_which_calls_are_asked_about(
    fields: dict[str, Any], broken: list[int], stats: dict[str, Any]
) -> None:
    test = judge_one(restricted(**fields), trace(ALL_WRONG), policy__yaml=NAMED)
    assert [found.call_index for found in test.violations] == broken
    assert test.stats == stats


def test_an_unknown_tool_is_told_at_the_line_of_tools() -> None:
    (found,) = judge_one(restricted(strict=True), trace("z"), policy__yaml="# first\n" + NAMED).violations
    assert (found.tool, found.policy_line, found.constraint) == ("z", 2, "strict: true")


@pytest.mark.parametrize(
    ("steps", "fields", "exercised"),
    [("pay", {}, True), ("z", {}, False), ("", {}, False), ("get_x", {"tools": "pay"}, False), ("pay!", {}, True)],
)
def test_it_is_exercised_where_a_call_met_a_schema(steps: str, fields: dict[str, Any], exercised: bool) -> None:
    assert judge_one(restricted(**fields), trace(steps), policy__yaml=NAMED).exercised == exercised


# ── Patterns that do not come to an end ─────────────────────────────────────────────────────────────────────

BACKTRACKING = r"^(?:(a+)\1?)+$"
LONG = "a" * 40 + "b"


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"x": {"pattern": BACKTRACKING}}},
        {"properties": {"x": {"not": {"pattern": BACKTRACKING}}}},
        {"properties": {"x": {"if": {"pattern": BACKTRACKING}, "then": {"maxLength": 1}}}},
        {"properties": {"x": {"anyOf": [{"pattern": BACKTRACKING}, {"type": "number"}]}}},
        {"additionalProperties": {"pattern": BACKTRACKING}},
    ],
    ids=["plain", "not", "if", "anyOf", "additional"],
)
@pytest.mark.parametrize("severity", ["block", "log"])
def test_a_pattern_that_reaches_its_limit_is_an_error(schema: dict[str, Any], severity: str) -> None:
    report = judge(
        restricted(severity=severity),
        [trace([call("a", {"x": LONG})]), trace([call("a", {"x": "aa"})])],
        files={"policy__yaml": json.dumps({"tools": {"a": {"schema": schema}}})},
    )
    assert (report.tests[0].status, report.exit_code) == ("error", 1)
    assert "policy.yaml:1" in (report.tests[0].error or "")
    assert "backtracking" in report.gate[0].message


def test_a_pattern_without_backtracking_takes_any_value_in_stride() -> None:
    assert judge_one(inline({"pattern": "^(a+)+$"}), trace([call("a", {"x": LONG})])).violation_count == 1


@pytest.mark.parametrize(("level", "status"), [("log", "pass"), ("warn", "warn"), ("block", "fail")])
def test_an_oversized_number_has_the_level_of_the_argument_around_it(tmp_path: Path, level: str, status: str) -> None:
    constraints = {"x": {"on_violation": level, "max": 3}, "other": {"type": "string"}}
    suite = passmuster.suite_from_dict(
        {"tests": [{"id": "a", "metric": "args_valid", "tool": "pay", "constraints": constraints}]}
    )
    (tmp_path / "t.jsonl").write_text(
        '{"steps": [{"type": "tool_call", "tool": "pay", "arguments": {"x": {"y": 1e400}}}]}'
    )
    (test,) = passmuster.evaluate(suite, passmuster.read_traces(tmp_path / "t.jsonl")).tests
    assert test.status == status
    assert [violation.argument for violation in test.violations] == ["x", "x.y"]
    assert {violation.level for violation in test.violations} == {level}
