"""Suites with more tool patterns than have a bit of their own give the same outcomes."""

from __future__ import annotations

from typing import Any

import pytest
from tests.checks.building import call, judge, trace

FILLER = {"id": "filler", "metric": "tool_blocklist", "blocklist": [*(f"never_{n}" for n in range(1200)), "neve?_*"]}
CALLS = [call("look", {"n": 1}), call("other"), call("pay", {"n": 5}, result={"ok": False}), call("log")]
RULES: list[dict[str, Any]] = [
    {"type": "require", "tool": "absent"},
    {"type": "require", "tool": "look"},
    {"type": "before", "first": "absent", "then": "pay"},
    {"type": "before", "first": "look", "then": "pay"},
    {"type": "before", "first": "pay", "then": "absent"},
    {"type": "immediately_before", "first": "look", "then": "pay"},
    {"type": "blocklist", "tools": ["absent", "abs*"]},
    {"type": "blocklist", "tools": ["absent", "pa?"]},
    {"type": "allowlist", "tools": ["look", "pay", "l*"]},
    {"type": "count", "tool": "absent", "max": 0},
    {"type": "count", "tool": "l*", "max": 1},
    {"type": "count", "tool": {"tool": "pay", "args": {"n": {"$gt": 1}}}, "exactly": 0},
    {"type": "after", "trigger": "look", "then": "absent"},
    {"type": "after", "trigger": "absent", "then": "other"},
    {"type": "after", "trigger": "look", "then": "log", "within": 2},
    {"type": "never_after", "trigger": "look", "forbidden": "absent"},
    {"type": "never_after", "trigger": "look", "forbidden": "log"},
    {"type": "never_after", "trigger": "absent", "forbidden": "log"},
    {"type": "eventually", "tool": "absent"},
    {"type": "sequence", "tools": ["look", "log"]},
    {"type": "sequence", "tools": ["log", "look"]},
]
TESTS: list[dict[str, Any]] = [
    *({"metric": "sequence_valid", "rules": [rule]} for rule in RULES),
    {"metric": "tool_blocklist", "blocklist": ["absent"]},
    {"metric": "tool_blocklist", "blocklist": ["absent", "p*", "log"]},
]
SCENARIOS: list[dict[str, Any]] = [
    {"path": {"forbidden_tools": ["absent", "x*"]}},
    {"path": {"forbidden_tools": ["absent", "lo*"]}},
    {"must_not": [{"tool_called": "absent"}]},
    {"must_not": [{"tool_called": "pay"}]},
    {"expected_behaviors": [{"tool_called": "absent"}]},
    {"path": {"expected_calls": {"calls": [{"tool": "pay", "args": {"n": 5}}], "scope": "effects"}}},
]


@pytest.mark.parametrize("written", TESTS)
def test_a_test_finds_the_same(written: dict[str, Any]) -> None:
    found = []
    for filler in ([], [FILLER]):
        suite = {"tests": [*filler, {"id": "t", **written}], "failed_when": [{"tool": "pay", "result": {"ok": False}}]}
        report = judge(suite, [trace(CALLS)])
        one = report.tests[-1]
        told = [(each.tool, each.call_index, each.message, each.pattern) for each in one.violations]
        found.append((one.status, one.exercised, told))
    assert found[0] == found[1]


@pytest.mark.parametrize("written", SCENARIOS)
def test_a_scenario_finds_the_same(written: dict[str, Any]) -> None:
    found = []
    for filler in ([], [FILLER]):
        suite = {
            "tests": filler,
            "effects": {"write": ["pay"], "irreversible": ["absent"]},
            "scenarios": [{"id": "S", **written}],
        }
        report = judge(suite, [trace(CALLS, scenario="S", answer="x")])
        one = report.scenarios[0]
        layers = {
            name: [(check.name, check.status, check.message) for check in layer.checks]
            for name, layer in one.layers.items()
        }
        found.append((one.status, layers, one.behaviors.violated, one.behaviors.missing))
    assert found[0] == found[1]
