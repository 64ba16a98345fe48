"""Whatever a suite asks and its traces show: the verdict follows from the lines, and every report says the same."""

from __future__ import annotations

import io
import json
from typing import Any
from xml.etree import ElementTree

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.checks.building import judge
from tests.scoring.gated_suites import gated_suites, runs

from passmuster.reports.formats import console, junit, sarif
from passmuster.reports.formats import json as json_report
from passmuster.scoring._report import Report

VERDICTS = {0: ("pass", "warn"), 1: ("fail",), 3: ("error",)}
OPENINGS = {0: "PASS", 1: "FAIL", 3: "ERROR"}


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(gated_suites(), runs(), st.booleans())
def test_the_verdict_follows_from_the_lines_and_all_reports_agree(
    suite: dict[str, Any], traces: list[dict[str, Any]], strict: bool
) -> None:
    report = judge(suite, traces, strict=strict)
    blocking = [line for line in report.gate if line.level == "blocking" and line.status != "pass"]
    expected = 0 if not blocking else 3 if all(line.status == "error" for line in blocking) else 1
    assert report.exit_code == expected
    assert report.verdict in VERDICTS[expected]
    assert all(line.level == "warning" and line.status != "pass" for line in report.gate if line.tolerated_by)
    assert every_report_agrees(report)


def every_report_agrees(report: Report) -> bool:
    """JSON, JUnit, SARIF and the console, each in its own words."""
    told = json.loads(json_report.write(report))
    assert (told["verdict"], told["exit_code"], len(told["gate"])) == (
        report.verdict,
        report.exit_code,
        len(report.gate),
    )
    root = ElementTree.fromstring(junit.write(report))
    assert bool(int(root.get("failures", "")) + int(root.get("errors", ""))) == (report.exit_code != 0)
    assert report.exit_code != 3 or root.get("failures") == "0"
    assert len(list(root.iter("failure"))) == int(root.get("failures", ""))
    (run,) = json.loads(sarif.write(report))["runs"]
    assert any(result["level"] == "error" for result in run["results"]) == (report.exit_code != 0)
    shown = io.StringIO()
    console.show_console(report, shown)
    assert shown.getvalue().strip().splitlines()[-1].startswith(OPENINGS[report.exit_code])
    return True
