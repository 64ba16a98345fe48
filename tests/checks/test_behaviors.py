"""Behaviors: what a run showed of what it should show, and of what it must not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.checks.building import call, judge, trace

import passmuster
from passmuster.checks._question import Question
from passmuster.checks._view import Viewer
from passmuster.checks.layers._behavior_grammar import Asked
from passmuster.checks.layers._behaviors import BehaviorCheck
from passmuster.scoring._report import Report, ScenarioReport
from passmuster.suite import Behavior
from passmuster.traces._model import ToolCall, Trace

NAMED = {"behaviors": {"verified": {"tool_called": "verify"}, "quiet": {"tool_not_called": ["mail", "sms"]}}}


def run(
    scenario: Mapping[str, Any], steps: str | list[Any] = "", top: Mapping[str, Any] | None = None, **fields: Any
) -> tuple[ScenarioReport, Report]:
    suite = {**NAMED, **(top or {}), "scenarios": [{"id": "S", **scenario}]}
    report = judge(suite, [trace(steps, scenario="S", **fields)])
    return report.scenarios[0], report


@pytest.mark.parametrize(
    ("behavior", "steps", "answer", "observed"),
    [
        ("verified", "verify", None, True),
        ("verified", "look", None, False),
        ("verified", "verify!", None, False),
        ({"tool_called": ["a", "b"]}, "b", None, True),
        ({"tool_called": {"tool": "a", "failed": True}}, "a!", None, True),
        ({"tool_not_called": "a"}, "b", None, True),
        ({"tool_not_called": "a"}, "a!", None, False),
        ("quiet", "verify", None, True),
        ("quiet", "sms", None, False),
        ({"answer_contains": "Refund"}, "", "your refund is on its way", True),
        ({"answer_contains": ["nothing", "way"]}, "", "your refund is on its way", True),
        ({"answer_contains": "refund"}, "", None, False),
        ({"answer_matches": r"\d+ EUR"}, "", "12 EUR", True),
        ({"answer_matches": "^$"}, "", None, False),
        ({"type": "before", "first": "a", "then": "b"}, "a b", None, True),
        ({"type": "before", "first": "a", "then": "b"}, "b a", None, False),
        ({"type": "max_calls", "tool": "a", "max": 1}, "a a", None, False),
    ],
)
def test_what_is_observed(behavior: Any, steps: str, answer: str | None, observed: bool) -> None:
    scenario, report = run({"expected_behaviors": [behavior]}, steps, answer=answer)
    assert (scenario.score, scenario.status) == ((1.0, "pass") if observed else (0.0, "fail"))
    assert len(scenario.behaviors.observed) == observed
    assert len(scenario.behaviors.missing) == (not observed)
    assert report.exit_code == (0 if observed else 1)


@pytest.mark.parametrize(
    ("behavior", "steps", "answer", "violated"),
    [
        ({"tool_called": "delete_*"}, "delete_user!", None, True),
        ({"tool_called": "delete_*"}, "look", None, False),
        ({"tool_not_called": "verify"}, "verify!", None, True),
        ({"tool_not_called": "verify"}, "verify", None, False),
        ({"answer_contains": "password"}, "", "your PASSWORD is", True),
        ({"answer_contains": "password"}, "", None, False),
        ({"type": "require", "tool": "pay", "name": "pays"}, "pay", None, True),
        ({"type": "before", "first": "a", "then": "b"}, "a", None, False),
    ],
)
def test_what_must_not_be(behavior: Any, steps: str, answer: str | None, violated: bool) -> None:
    scenario, _ = run({"must_not": [behavior]}, steps, answer=answer)
    assert bool(scenario.behaviors.violated) == violated
    assert (scenario.score, scenario.status) == ((0.0, "fail") if violated else (1.0, "pass"))


def test_the_calls_are_written_once_for_all_questions_about_a_trace() -> None:
    made = Trace(steps=(ToolCall("pay", arguments={"n": 1}),), answer="Done.")
    tools = Viewer()
    view = tools.view(made)
    asked = [Behavior(name, Asked(judge="Is it?"), 1) for name in ("kind", "short")]
    first, second = (BehaviorCheck(one, tools.tools, forbidden=False).evaluate(view) for one in asked)
    assert isinstance(first, Question)
    assert isinstance(second, Question)
    assert first.evidence == ('{"tool":"pay","arguments":{"n":1}}',)
    assert first.evidence is second.evidence


def test_the_score_is_observed_of_expected_and_a_violation_makes_it_nothing() -> None:
    expected = ["verified", {"answer_contains": "x"}, {"tool_called": "a"}, {"tool_called": "b"}]
    scenario, _ = run({"expected_behaviors": expected, "pass_score": 0.5}, "verify a", answer="y")
    assert (scenario.score, scenario.status) == (0.5, "pass")
    scenario, _ = run({"expected_behaviors": expected, "pass_score": 0.75}, "verify a", answer="y")
    assert (scenario.score, scenario.status) == (0.5, "fail")
    forbidden = {"expected_behaviors": expected, "must_not": [{"tool_called": "a"}], "pass_score": 0.5}
    scenario, _ = run(forbidden, "verify a", answer="y")
    assert (scenario.score, scenario.status, scenario.behaviors.violated) == (0.0, "fail", ["tool_called: a"])


def test_a_name_is_looked_up_in_the_suite_then_on_the_trace_and_then_asked() -> None:
    both = {"expected_behaviors": ["verified", "was polite"]}
    scenario, _ = run(both, "verify", behaviors=["was polite"])
    assert scenario.status == "pass"
    scenario, _ = run(both, "verify", behaviors={"verified": False, "was polite": True})
    assert scenario.behaviors.observed == ["verified", "was polite"]
    scenario, _ = run(both, "verify", behaviors=["something else"])
    assert scenario.behaviors.missing == ["was polite"]
    scenario, report = run(both, "verify", behaviors={"something else": True})
    assert (scenario.status, scenario.behaviors.undecided, report.exit_code) == ("error", ["was polite"], 3)
    assert "no judge is configured" in next(line.message for line in report.gate if line.kind == "scenario")


def test_a_rule_that_never_came_into_play_is_told() -> None:
    scenario, report = run({"expected_behaviors": [{"type": "before", "first": "a", "then": "b"}]}, "c")
    assert (scenario.status, report.verdict) == ("pass", "warn")
    assert "was not exercised" in next(line.message for line in report.gate if line.kind == "vacuous")


def test_a_pattern_that_takes_too_long_fails_the_gate() -> None:
    slow = {"expected_behaviors": [{"answer_matches": "(a|aa)+$"}]}
    scenario, report = run(slow, answer="a" * 60 + "b")
    assert (scenario.status, report.exit_code) == ("fail", 1)
    assert "longer than a second" in " ".join(line.message for line in report.gate)


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ({"expected_behaviors": []}, "the list is empty"),
        ({"must_not": [{}]}, "expected one of tool_called"),
        ({"must_not": [{"tool_caled": "a"}]}, "did you mean 'tool_called'?"),
        ({"must_not": [{"tool_called": "a", "judge": "b"}]}, "found tool_called and judge"),
        ({"must_not": [{"tool_called": "a", "threshold": 1}]}, "unknown key 'threshold'"),
        ({"expected_behaviors": [{"judge": "kind?", "threshold": 4}]}, "expected a number from 0 to 1"),
        ({"expected_behaviors": [{"answer_matches": "("}]}, "not a regular expression"),
        ({"expected_behaviors": [{"answer_contains": []}]}, "the list is empty"),
        ({"expected_behaviors": ["verified", "verified"]}, "'verified' is listed on line"),
        ({"expected_behaviors": [{"type": "befor", "first": "a", "then": "b"}]}, "unknown rule type 'befor'"),
    ],
)
def test_what_cannot_be_meant_is_refused(written: Mapping[str, Any], problem: str) -> None:
    with pytest.raises(passmuster.SuiteError) as caught:
        run(written)
    assert problem in str(caught.value)


# ── Labels ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("source", "answer", "right"),
    [
        ({"json": "$.label"}, '{"label": "spam"}', True),
        ({"json": "$.label"}, '{"label": "ham"}', False),
        ({"json": "$.a[0].label"}, '{"a": [{"label": "spam"}]}', True),
        ({"json": "$.label"}, "spam", False),
        ({"json": "$.label"}, '{"label": ["spam"]}', False),
        ({"regex": r"label: (\w+)"}, "label: spam", True),
        ({"regex": "spam|ham"}, "it is spam, spam, spam", True),
        ({"regex": "spam|ham"}, "spam or ham", False),
        ({"words": ["spam", "ham"]}, "This is SPAM.", True),
        ({"words": ["spam", "ham"]}, "spam or ham", False),
        ({"words": ["spam", "ham"]}, "spammer", False),
        ({"words": ["spam", "ham"]}, None, False),
    ],
)
def test_the_label_of_an_answer(source: Mapping[str, Any], answer: str | None, right: bool) -> None:
    top = {"classification": {"positive": "spam", "from": source}}
    scenario, report = run({"label": "spam"}, top=top, answer=answer)
    check = scenario.layers["correctness"].checks[0]
    assert (check.name, check.status) == ("label", "pass" if right else "fail")
    assert report.metrics["recall"].value == float(right)
    assert report.metrics["accuracy"].value == float(right)


# ── Effects from MCP annotations ────────────────────────────────────────────────────────────────────────────

MCP = """\
{"tools": [
  {"name": "look", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}},
  {"name": "note", "inputSchema": {"type": "object"}, "annotations": {"destructiveHint": false}},
  {"name": "drop", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": false}},
  {"name": "odd", "inputSchema": {"type": "object"}, "annotations": {"title": "Odd"}}
]}
"""


@pytest.mark.parametrize(
    ("effects", "steps", "holds"),
    [
        ({"policy": "mcp.json"}, "look note", True),
        ({"policy": "mcp.json"}, "look odd note", True),
        ({"policy": "mcp.json"}, "note drop", False),
        ({"policy": "mcp.json", "read": ["drop"]}, "note drop", True),
    ],
)
def test_annotations_say_which_tools_change_something(effects: Mapping[str, Any], steps: str, holds: bool) -> None:
    expected = {"calls": ["note"], "extras": "forbid", "scope": "effects"}
    suite = {"effects": effects, "scenarios": [{"id": "S", "path": {"expected_calls": expected}}]}
    report = judge(suite, [trace(steps, scenario="S")], files={"mcp.json": MCP})
    assert report.scenarios[0].status == ("pass" if holds else "warn")


def test_a_policy_of_a_test_says_so_too() -> None:
    expected = {"calls": ["note"], "extras": "forbid", "scope": "effects"}
    suite = {
        "tests": [{"id": "t", "metric": "args_valid", "policy": "mcp.json"}],
        "scenarios": [{"id": "S", "path": {"expected_calls": expected}}],
    }
    report = judge(suite, [trace([call("note"), call("drop")], scenario="S")], files={"mcp.json": MCP})
    assert "drop" in report.scenarios[0].layers["path"].checks[0].message
