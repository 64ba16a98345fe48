"""SARIF points at the policy line, keeps its fingerprints, and stays within its limits."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.reports.report_factory import line, report, rich_report, scenario, test_report, too_much, violation

import passmuster
from passmuster.reports._text import violation_lines
from passmuster.reports.formats import sarif
from passmuster.scoring._report import Report


def run_of(made: Report) -> dict[str, Any]:
    return json.loads(sarif.write(made))["runs"][0]  # type: ignore[no-any-return]


def only_result(*violations: object, **fields: object) -> dict[str, Any]:
    (result,) = run_of(report(test_report(*violations), **fields))["results"]  # type: ignore[arg-type]
    return result  # type: ignore[no-any-return]


def test_a_violation_stands_at_its_policy_line_with_the_trace_beside_it() -> None:
    result = only_result(too_much())
    assert result["ruleId"] == "args_valid"
    assert result["level"] == "error"
    assert result["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "policies/customer.yaml", "uriBaseId": "SRCROOT"},
                "region": {"startLine": 12},
            }
        }
    ]
    (related,) = result["relatedLocations"]
    assert related["physicalLocation"]["artifactLocation"]["uri"] == "traces/a.jsonl"
    assert related["physicalLocation"]["region"] == {"startLine": 29}
    assert related["message"]["text"]
    head, _, rest = result["message"]["text"].partition("\n\n")
    assert head == "apply_discount, percent = 50: Value exceeds maximum (max: 30)."
    assert rest == "\n".join(violation_lines(too_much()))


@pytest.mark.parametrize(
    ("file", "root", "expected"),
    [
        ("a/b.yaml", "/r", {"uri": "a/b.yaml", "uriBaseId": "SRCROOT"}),
        ("./a//b.yaml", "/r", {"uri": "a/b.yaml", "uriBaseId": "SRCROOT"}),
        ("p y/ü#?%:.yaml", "/r", {"uri": "p%20y/%C3%BC%23%3F%25%3A.yaml", "uriBaseId": "SRCROOT"}),
        ("bad\udcff", "/r", {"uri": "bad%FF", "uriBaseId": "SRCROOT"}),
        ("/opt/x y.yaml", "/r", {"uri": "file:///opt/x%20y.yaml"}),
        ("/r/a.yaml", "/r", {"uri": "a.yaml", "uriBaseId": "SRCROOT"}),
        ("../out.yaml", "/r/s", {"uri": "file:///r/out.yaml"}),
        ("a/../../s/b.yaml", "/r/s", {"uri": "b.yaml", "uriBaseId": "SRCROOT"}),
        ("..odd/b.yaml", "/r", {"uri": "..odd/b.yaml", "uriBaseId": "SRCROOT"}),
        ("../out.yaml", "", None),
        ("C:\\x y\\a.yaml", "", {"uri": "file:///C:/x%20y/a.yaml"}),
        ("<stdin>", "/r", None),
    ],
)
def test_where_a_file_lies(file: str, root: str, expected: dict[str, Any] | None) -> None:
    result = only_result(violation(policy_file=file, policy_line=3), root=root)
    if expected is None:
        assert "locations" not in result
    else:
        assert result["locations"][0]["physicalLocation"]["artifactLocation"] == expected


@pytest.mark.parametrize(
    ("fields", "test_fields", "level"),
    [
        ({"level": "block"}, {}, "error"),
        ({"level": "warn"}, {"status": "warn"}, "warning"),
        ({"level": "log"}, {"status": "pass"}, "note"),
        ({"level": "block"}, {"status": "warn", "severity": "warn"}, "warning"),
        ({"level": "block"}, {"status": "pass", "severity": "log"}, "note"),
        ({"level": "block", "waived": "known"}, {"status": "warn"}, "warning"),
    ],
)
def test_levels(fields: dict[str, Any], test_fields: dict[str, Any], level: str) -> None:
    (result,) = run_of(report(test_report(violation(**fields), **test_fields)))["results"]
    assert result["level"] == level


def test_a_strict_run_makes_warnings_errors() -> None:
    made = report(test_report(violation(level="warn"), status="warn"), gate=[line("test", "check_all_args")])
    assert run_of(made)["results"][0]["level"] == "error"


def test_rules_and_lines_without_violations() -> None:
    run = run_of(rich_report())
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert sorted(rules) == sorted(set(rules))
    assert {"args_valid", "sequence_valid", "tool_blocklist", "my_metric"} <= set(rules)
    assert {"scenario", "vacuous", "input", "threshold"} <= set(rules)
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
    levels = {(result["ruleId"], result["level"]) for result in run["results"]}
    assert ("scenario", "error") in levels
    assert ("scenario", "warning") in levels
    assert ("vacuous", "warning") in levels


def test_a_passing_line_is_no_result() -> None:
    made = report(test_report(), scenarios=[scenario()], gate=[line("scenario", "SEC-001", "pass")])
    assert run_of(made)["results"] == []


def test_the_run_says_what_made_it() -> None:
    run = run_of(rich_report())
    assert run["automationDetails"] == {"id": "passmuster/customer-service/"}
    assert run["tool"]["driver"]["semanticVersion"] == "0.1.0"
    assert run["invocations"] == [
        {"executionSuccessful": True, "exitCode": 1, "exitCodeDescription": "the gate failed"}
    ]
    assert run_of(replace(rich_report(), exit_code=3))["invocations"][0]["executionSuccessful"] is False
    assert "/srv/shop" not in json.dumps(run)


def prints(made: Report) -> list[str]:
    return [result["partialFingerprints"]["passmuster/v1"] for result in run_of(made)["results"]]


def test_fingerprints_survive_moves_and_tell_others_apart() -> None:
    first = prints(report(test_report(too_much())))
    assert first == prints(report(test_report(too_much(policy_line=99, trace_line=1, value=60, call_index=1))))
    for other in ({"tool": "x"}, {"argument": "x"}, {"constraint": "min: 0"}, {"trace_id": "x"}, {"scenario": "S"}):
        assert prints(report(test_report(too_much(**other)))) != first
    twins = prints(report(test_report(too_much(), too_much())))
    assert twins[0] == first[0]
    assert twins[1] != twins[0]


def test_a_strict_run_shows_skipped_checks_beside_tolerated_violations() -> None:
    suite = {
        "layers": {"path": "block"},
        "scenarios": [
            {"id": "S", "path": {"max_loops": 0}, "cost": {"max_cost_usd": 1}},
            {"id": "T", "path": {"max_loops": 0}},
        ],
        "thresholds": {"blocking": {"pass_rate": 40}},
    }
    loop = [passmuster.ToolCall("a", arguments={}), passmuster.ToolCall("a", arguments={})]
    traces = [passmuster.Trace(scenario="S", steps=tuple(loop)), passmuster.Trace(scenario="T", steps=tuple(loop[:1]))]
    made = passmuster.evaluate(passmuster.suite_from_dict(suite), traces, strict=True)
    assert made.exit_code == 1
    levels = {result["ruleId"]: result["level"] for result in run_of(made)["results"]}
    assert levels == {"max_loops": "error", "vacuous": "error"}


def test_at_most_5000_results_and_a_notice_of_the_rest() -> None:
    many = test_report(*[violation(level="warn") for _ in range(6000)], violation_count=7000, status="warn")
    run = run_of(report(many, test_report(too_much(), id="last")))
    assert len(run["results"]) == 5000
    assert run["results"][0]["ruleId"] == "args_valid"
    assert run["results"][0]["level"] == "error"
    (notice,) = run["invocations"][0]["toolExecutionNotifications"]
    assert notice["message"]["text"].startswith("2001 more results")


def test_text_from_a_trace_makes_no_link_and_no_command() -> None:
    text = only_result(violation(message="[click](http://x) ##[error] ::error::x"))["message"]["text"]
    assert "](" not in text
    assert "##[" not in text


@settings(deadline=None)
@given(st.text(st.characters(codec=None)))
def test_any_text_survives(text: str) -> None:
    made = report(test_report(violation(message=text, tool=text, policy_file=text), metric=text), suite=text)
    assert len(run_of(made)["results"]) == 1


@pytest.mark.skipif(
    "PASSMUSTER_SARIF_MULTITOOL" not in os.environ,
    reason="PASSMUSTER_SARIF_MULTITOOL does not name the command that runs the SARIF validator",
)
def test_the_validator_finds_no_error(tmp_path: Path) -> None:
    hostile = "{0} {x} [a](b) ]]> \x1b[31m ::error::x\n##[error] \u202e " + "y" * 300
    noisy = test_report(
        too_much(message=hostile, tool=hostile, policy_file=f"{hostile}/a b.yaml"), id=hostile, metric=hostile
    )
    made = rich_report()
    for name, each in {
        "rich": made,
        "hostile": report(noisy, suite=hostile),
        "empty": report(),
        "many": report(test_report(*[too_much() for _ in range(5001)])),
    }.items():
        path = tmp_path / f"{name}.sarif"
        path.write_bytes(sarif.write(each))
        command = [*shlex.split(os.environ["PASSMUSTER_SARIF_MULTITOOL"]), "validate", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert ": error" not in done.stdout, done.stdout
        assert done.returncode == 0, done.stdout + done.stderr
