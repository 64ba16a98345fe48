"""Reports made by hand, so that each test states only what it is about."""

from __future__ import annotations

from typing import Any

from passmuster.checks._outcome import Neighbours, Violation
from passmuster.checks._scenario_outcome import Behaviors, CheckReport, LayerReport
from passmuster.scoring._report import (
    GateLine,
    Metric,
    Provenance,
    Report,
    RuleReport,
    ScenarioReport,
    TestReport,
    TraceCounts,
)


def violation(**fields: Any) -> Violation:
    return Violation(**{"message": "Value exceeds maximum (max: 30)", "level": "block", **fields})


def too_much(**fields: Any) -> Violation:
    """The violation of seed 004, with both of its ends located."""
    whole = {
        "tool": "apply_discount",
        "argument": "percent",
        "value": 50,
        "has_value": True,
        "constraint": "max: 30",
        "call_index": 3,
        "policy_file": "policies/customer.yaml",
        "policy_line": 12,
        "trace_id": "t-7",
        "trace_file": "traces/a.jsonl",
        "trace_line": 29,
        "neighbours": Neighbours(calls=5, before="get_customer", after="send_email"),
        "suggestion": "Lower the discount to 30 or less.",
    }
    return violation(**{**whole, **fields})


def test_report(*violations: Violation, **fields: Any) -> TestReport:
    whole: dict[str, Any] = {
        "id": "check_all_args",
        "metric": "args_valid",
        "status": "fail" if violations else "pass",
        "exercised": True,
        "severity": "block",
        "file": "passmuster.yaml",
        "line": 4,
        "traces": 12,
        "failed_traces": 1 if violations else 0,
        "rules": [],
        "violations": list(violations),
        "violation_count": len(violations),
        "waived_count": 0,
        "stats": {},
        "duration_ms": 2.0,
    }
    return TestReport(**{**whole, **fields})


test_report.__test__ = False  # type: ignore[attr-defined]


def scenario(**fields: Any) -> ScenarioReport:
    whole: dict[str, Any] = {
        "id": "SEC-001",
        "category": "adversarial",
        "status": "pass",
        "score": 1.0,
        "weight": 1.0,
        "runs": 1,
        "layers": {},
        "behaviors": Behaviors(),
        "attempts": [],
        "file": "passmuster.yaml",
        "line": 20,
    }
    return ScenarioReport(**{**whole, **fields})


def line(kind: str, id: str, status: str = "fail", level: str = "blocking", **fields: Any) -> GateLine:
    return GateLine(**{"kind": kind, "id": id, "level": level, "status": status, "message": f"{id} {status}", **fields})


def rule(**fields: Any) -> RuleReport:
    return RuleReport(**{"type": "before", "line": 9, "status": "pass", "exercised_on": 3, "violated_on": 0, **fields})


def report(*tests: TestReport, **fields: Any) -> Report:
    """A report of these tests; the gate lines and the verdict follow from them unless they are given."""
    gate = [
        GateLine(
            kind="test",
            id=test.id,
            level="warning" if test.status == "warn" else "blocking",
            status="pass" if test.status == "pass" else "error" if test.status == "error" else "fail",
            message=f"{test.violation_count} violations on {test.failed_traces} traces",
            file=test.file,
            line=test.line,
        )
        for test in tests
    ]
    gate = fields.get("gate", gate)
    failed = any(each.level == "blocking" and each.status in ("fail", "error") for each in gate)
    warned = any(each.status != "pass" for each in gate)
    whole: dict[str, Any] = {
        "suite": "customer-service",
        "suite_file": "passmuster.yaml",
        "verdict": "fail" if failed else "warn" if warned else "pass",
        "exit_code": int(failed),
        "partial": False,
        "metrics": {"pass_rate": Metric(0.9, 10, (0.6, 0.98))},
        "gate": gate,
        "tests": list(tests),
        "scenarios": [],
        "traces": TraceCounts(12, 12, 0, 0),
        "provenance": Provenance("0.1.0", "ab" * 32, {}),
        "root": "/srv/shop",
        "duration_ms": 1234.5678,
    }
    return Report(**{**whole, **fields})


def rich_report() -> Report:
    """One report with something of everything."""
    tests = [
        test_report(too_much(), too_much(trace_id="t-8", trace_file="<stdin>", policy_file="/opt/p y/ü.yaml")),
        test_report(
            violation(rule="require", expected="authenticate to be called", actual="authenticate was never called"),
            id="auth_flow",
            metric="sequence_valid",
            rules=[rule(status="fail"), rule(type="after", line=11, exercised_on=0)],
        ),
        test_report(
            violation(
                message="Blocked tool called",
                tool="admin_delete",
                pattern="admin_*",
                calls_found=1,
                level="block",
                waived="migration (until 2031-01-01)",
            ),
            id="tool_blocklist",
            metric="tool_blocklist",
            status="warn",
        ),
        test_report(id="idle", exercised=False),
        test_report(id="own", metric="my_metric", status="error", error="Traceback\n  File x\nValueError: boo"),
        test_report(violation(level="log", message="odd"), id="watched", status="pass", severity="log"),
    ]
    scenarios = [
        scenario(),
        scenario(id="SEC-002", status="missing", score=None, runs=0),
        scenario(
            id="OPT-1",
            status="fail",
            layers={
                "path": LayerReport("fail", [CheckReport(name="max_loops", status="fail", message="3 loops", line=24)])
            },
            behaviors=Behaviors(missing=["verified identity"]),
        ),
    ]
    gate = [
        *report(*tests).gate,
        line("vacuous", "idle", level="warning"),
        line("scenario", "SEC-001", "pass"),
        line("scenario", "SEC-002", message="no trace was recorded"),
        line("scenario", "OPT-1", level="warning", tolerated_by="optional_scenarios"),
        line("threshold", "pass_rate", actual=0.5, expected=">= 95%", file="passmuster.yaml", line=40),
        line("threshold", "accuracy", "pass", actual=1.0, expected=">= 90%"),
        line("input", "waiver 2", level="warning", message="the waiver matched nothing"),
    ]
    return report(*tests, scenarios=scenarios, gate=gate)
