"""A tool that a suite names and nobody has is a warning with the name that was meant."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.checks.building import call, judge, rules, trace

CALLED = trace([call("delete_database", {}), call("search_orders", {})])


def told(suite: dict[str, Any], *, kind: str = "input", **files: str) -> list[str]:
    return [line.message for line in judge(suite, [CALLED], files=files).gate if line.kind == kind]


def blocking(*patterns: str) -> dict[str, Any]:
    return {"tests": [{"id": "t", "metric": "tool_blocklist", "blocklist": list(patterns)}]}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("delete_databse", "delete_database"),
        ("delete_dtabase", "delete_database"),
        ("Delete_Database", "delete_database"),
        ("deleteDatabase", "delete_database"),
        ("delete-database", "delete_database"),
        ("delete_databases", "delete_database"),
        ("seach_orders", "search_orders"),
        ("deleet_*", "delete_database"),
        ("Delete_*", "delete_database"),
    ],
)
def test_a_misspelt_tool_is_a_warning_with_the_name_that_was_meant(written: str, meant: str) -> None:
    said = f"names '{written}', which neither a policy nor any trace has; did you mean '{meant}'?"
    suites: list[dict[str, Any]] = [
        blocking(written),
        rules({"type": "blocklist", "tools": [written]}),
        rules({"type": "allowlist", "tools": [written, "*"]}),
        rules({"type": "count", "tool": written, "max": 0}),
        rules({"type": "never_after", "trigger": "search_orders", "forbidden": written}),
        {"scenarios": [{"id": "S", "path": {"forbidden_tools": [written]}}]},
        {"scenarios": [{"id": "S", "must_not": [{"tool_called": written}]}]},
        {"scenarios": [{"id": "S", "turns": [{"user": "q", "must_not": [{"tool_called": written}]}]}]},
        {"scenarios": [{"id": "S", "turns": [{"user": "q", "path": {"forbidden_tools": [written]}}]}]},
        {"scenarios": [{"id": "S", "path": {"expected_calls": [{"tool": written, "optional": True}, "*"]}}]},
        {**blocking("x"), "failed_when": [{"tool": written, "result": {"ok": False}}]},
    ]
    for suite in suites:
        (message,) = (one for one in told(suite) if "names" in one)
        assert said in message


@pytest.mark.parametrize(
    "pattern",
    ["delete_database", "delete_*", "*", "drop_table", "admin_*", "search_order_v2", "a", "[ds]*"],
)
def test_other_tools_may_be_forbidden_though_nobody_has_them(pattern: str) -> None:
    assert told(blocking(pattern)) == []


def test_a_policy_knows_tools_too() -> None:
    suite = blocking("delete_databases")
    suite["tests"].append({"id": "a", "metric": "args_valid", "policy": "p.yaml"})
    assert told(suite, p__yaml=json.dumps({"tools": {"delete_databases": {}}})) == []
    assert told(suite, p__yaml=json.dumps({"tools": {"delete_*": {}}})) == []
    assert len(told(suite, p__yaml=json.dumps({"tools": {"other": {}}}))) == 1


def test_a_rule_that_never_fired_says_which_tools_nobody_has() -> None:
    before = {"type": "before", "first": "verify", "then": "delete_databse"}
    (message,) = told(rules({"type": "blocklist", "tools": ["x"]}, before), kind="vacuous")
    assert "was never exercised: neither a policy nor any trace has 'verify', 'delete_databse'" in message
    inline = {"tests": [{"id": "t", "metric": "args_valid", "tool": "serch_orders", "constraints": {"q": {"max": 1}}}]}
    (message,) = told(inline, kind="vacuous")
    assert message.endswith("has 'serch_orders'; did you mean 'search_orders'?")


def test_nothing_is_said_where_no_call_was_recorded() -> None:
    report = judge(blocking("delete_databse"), [trace([])])
    assert [line.kind for line in report.gate] == ["vacuous"]
    assert "neither" not in report.gate[0].message


def test_one_line_per_name_that_blocks_a_strict_run() -> None:
    suite = blocking("delete_databse")
    suite["tests"] += [{**suite["tests"][0], "id": "again"}]
    traces = [trace([call("delete_database", {})])]
    lines = [line for line in judge(suite, traces).gate if line.kind == "input"]
    assert [(line.id, line.level) for line in lines] == [("tool:delete_databse", "warning")]
    assert judge(suite, traces, strict=True).exit_code == 1
