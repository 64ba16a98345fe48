"""Violations of layer checks: each stands at the line of its key and at its call, in every report."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.checks.building import call, trace

import passmuster
from passmuster.checks._outcome import Violation
from passmuster.reports import render
from passmuster.scoring._report import Report

SUITE = """\
suite: s
scenarios:
  - id: S
    correctness:
      expected_in_answer: [hello]
    path:
      max_tool_calls: 2
      max_loops: 0
      forbidden_tools: [drop_*]
      expected_calls:
        extras: forbid
        mode: in_order
        calls:
          - look
          - tool: pay
            args: {amount: {$lte: 30}, to: bob}
          - mail
    cost: {max_total_tokens: 5}
    expected_behaviors:
      - {tool_called: mail}
      - {type: before, first: verify, then: pay, name: verified}
    must_not:
      - {tool_called: "drop_*"}
layers: {cost: block}
"""
STEPS = [call("look"), call("look"), call("pay", {"amount": 40, "note": "x"}), call("drop_all"), call("drop_all")]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("layers")
    (folder / "passmuster.yaml").write_text(SUITE)
    pretty = json.dumps(trace(STEPS, scenario="S", trace_id="t-1", answer="bye", total_tokens=9), indent=1)
    (folder / "t.json").write_text(pretty)
    suite = passmuster.load_suite(folder / "passmuster.yaml", root=folder)
    return passmuster.evaluate(suite, passmuster.read_traces(folder / "t.json"))


def violations(report: Report, layer: str, check: str) -> tuple[Violation, ...]:
    (found,) = [one for one in report.scenarios[0].layers[layer].checks if one.name == check]
    return found.violations


@pytest.mark.parametrize(
    ("layer", "check", "line", "index", "fields"),
    [
        ("correctness", "expected_in_answer", 5, None, {"level": "block"}),
        ("path", "max_tool_calls", 7, 3, {"level": "warn", "tool": "pay", "actual": "5 calls"}),
        ("path", "max_loops", 8, 2, {"expected": "at most 0 loops", "constraint": "max_loops: 0"}),
        ("path", "forbidden_tools", 9, 4, {"level": "block", "pattern": "drop_*", "calls_found": 2}),
        ("cost", "max_total_tokens", 18, None, {"level": "block", "expected": "at most 5 tokens"}),
    ],
)
def test_a_violation_stands_at_its_key_and_its_call(
    report: Report, layer: str, check: str, line: int, index: int | None, fields: dict[str, Any]
) -> None:
    (found,) = violations(report, layer, check)
    assert (found.policy_file, found.policy_line, found.call_index) == ("passmuster.yaml", line, index)
    assert {name: getattr(found, name) for name in fields} == fields
    assert (found.scenario, found.trace_id) == ("S", "t-1")
    assert found.trace_file is not None
    assert found.trace_line is not None
    assert (found.trace_line > 1) == (index is not None)


def test_expected_calls_gives_every_difference(report: Report) -> None:
    found = [
        (one.kind, one.tool, one.argument, one.expected, one.actual, one.call_index, one.policy_line)
        for one in violations(report, "path", "expected_calls")
    ]
    assert found == [
        ("different", "pay", "amount", "≤ 30", "40", 3, 15),
        ("different", "pay", "to", '"bob"', "missing", 3, 15),
        ("missing", "mail", None, "mail", "no such call", 4, 17),
        ("extra", "look", None, "no further call", "look()", 2, 10),
        ("extra", "drop_all", None, "no further call", "drop_all()", 4, 10),
        ("extra", "drop_all", None, "no further call", "drop_all()", 5, 10),
    ]


def test_behaviors_are_located_too(report: Report) -> None:
    checks = {check.name: check for check in report.scenarios[0].behaviors.checks}
    found = {name: [(one.policy_line, one.call_index) for one in check.violations] for name, check in checks.items()}
    assert found == {"tool_called: mail": [(20, None)], "verified": [(21, 3)], "tool_called: drop_*": [(23, 4)]}


def test_each_is_a_sarif_result_of_its_own_kind(report: Report) -> None:
    (run,) = json.loads(render("sarif", report))["runs"]
    places = [
        (one["ruleId"], one["level"], one["locations"][0]["physicalLocation"]["region"]["startLine"])
        for one in run["results"]
    ]
    assert sorted(places) == [
        ("expected_behaviors", "error", 20),
        ("expected_behaviors", "error", 21),
        *[("expected_calls", "warning", line) for line in (10, 10, 10, 15, 15, 17)],
        ("expected_in_answer", "error", 5),
        ("forbidden_tools", "error", 9),
        ("max_loops", "warning", 8),
        ("max_tool_calls", "warning", 7),
        ("max_total_tokens", "error", 18),
        ("must_not", "error", 23),
    ]
    assert all(one["relatedLocations"] for one in run["results"])
    assert len({one["partialFingerprints"]["passmuster/v1"] for one in run["results"]}) == len(places)


@pytest.mark.parametrize("name", ["console", "junit"])
def test_text_reports_name_both_places(report: Report, name: str) -> None:
    text = render(name, report).decode()
    assert "Policy line: passmuster.yaml:8" in text
    assert "Call: 2 of 5, after look, before pay" in text
