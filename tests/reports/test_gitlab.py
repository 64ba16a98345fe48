"""GitLab's report: every finding has a place, a severity, and a fingerprint that unrelated edits leave alone."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reports.report_factory import line, report, rich_report, test_report, too_much, violation

from passmuster.reports.formats import gitlab, sarif
from passmuster.scoring import Report


def entries(made: Report) -> list[dict[str, Any]]:
    read: list[dict[str, Any]] = json.loads(gitlab.write(made))
    return read


def test_a_violation_stands_at_the_line_of_its_policy() -> None:
    (entry,) = entries(report(test_report(too_much())))
    assert entry == {
        "description": "apply_discount, percent = 50: Value exceeds maximum (max: 30). Trace: traces/a.jsonl:29",
        "check_name": "args_valid",
        "fingerprint": entry["fingerprint"],
        "severity": "critical",
        "location": {"path": "policies/customer.yaml", "lines": {"begin": 12}},
    }


def test_fingerprints_are_those_of_the_finding_not_of_its_line() -> None:
    before = entries(report(test_report(too_much(), too_much())))
    moved = entries(report(test_report(too_much(policy_line=99, trace_line=7), too_much(policy_line=99))))
    assert [one["fingerprint"] for one in before] == [one["fingerprint"] for one in moved]
    assert before[0]["fingerprint"] != before[1]["fingerprint"]


def test_it_holds_what_sarif_holds() -> None:
    results = json.loads(sarif.write(rich_report()))["runs"][0]["results"]
    found = entries(rich_report())
    assert [one["check_name"] for one in found] == [one["ruleId"] for one in results]
    assert {one["severity"] for one in found} <= {"info", "minor", "critical"}


def test_a_line_without_a_file_stands_in_the_suite() -> None:
    (entry,) = entries(report(gate=[line("threshold", "pass_rate")]))
    assert entry["location"] == {"path": "passmuster.yaml", "lines": {"begin": 1}}


def test_findings_beyond_the_limit_are_counted() -> None:
    many = entries(report(test_report(*(too_much(trace_id=f"t-{n}") for n in range(1200)))))
    assert len(many) == 1001
    assert many[-1]["description"].startswith("200 more findings")
    assert len({one["fingerprint"] for one in many}) == 1001


@settings(max_examples=50)
@given(st.text(), st.text(), st.one_of(st.none(), st.text()))
def test_any_text_is_valid(message: str, tool: str, file: str | None) -> None:
    made = report(test_report(violation(message=message, tool=tool, policy_file=file, policy_line=3)))
    for entry in entries(made):
        assert "\n" not in entry["description"]
        assert entry["location"]["path"]
