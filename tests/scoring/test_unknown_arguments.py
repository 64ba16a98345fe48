"""Arguments that a trace does not record are unknown: `args_valid` decides nothing about them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.checks.building import judge

POLICY = {"tool": "pay", "constraints": {"amount": {"max": 30}}}
SUITE: dict[str, Any] = {"tests": [{"id": "t", "metric": "args_valid", **POLICY}]}


def made(tool: str, arguments: Any) -> dict[str, Any]:
    return {"type": "tool_call", "tool": tool, "arguments": arguments}


def ran(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"steps": list(calls)}


UNKNOWN, GOOD, BAD = made("pay", None), made("pay", {"amount": 5}), made("pay", {"amount": 50})


@pytest.mark.parametrize(
    ("traces", "exit_code", "accepted"),
    [
        ([ran(GOOD)], 0, 0),
        ([ran({"type": "tool_call", "tool": "pay"})], 0, 0),  # absent arguments are none
        ([ran(UNKNOWN)], 3, 0),
        ([ran(GOOD, UNKNOWN)], 3, 0),
        ([ran(GOOD), ran(UNKNOWN)], 3, 0),
        ([ran(BAD), ran(UNKNOWN)], 1, 1),
        ([ran(BAD, UNKNOWN)], 1, 1),
        ([ran(made("other", None), GOOD)], 0, 0),
    ],
)
def test_unknown_arguments_are_an_error_that_accept_loss_skips(
    traces: list[dict[str, Any]], exit_code: int, accepted: int
) -> None:
    assert judge(SUITE, traces).exit_code == exit_code
    assert judge(SUITE, traces, accept_loss=True).exit_code == accepted


def test_the_line_says_which_calls_lack_them() -> None:
    report = judge(SUITE, [ran(UNKNOWN)])
    (line,) = report.gate
    assert (line.kind, line.id, line.level, line.status) == ("error", "t", "blocking", "error")
    assert "args_valid could not be decided: the trace does not record the arguments of 1 call (pay)" in line.message
    assert (report.verdict, report.tests[0].status) == ("error", "error")


def test_a_skip_is_a_warning_line() -> None:
    report = judge(SUITE, [ran(GOOD), ran(UNKNOWN)], accept_loss=True)
    assert [(line.kind, line.status) for line in report.gate] == [("test", "pass"), ("vacuous", "fail")]
    assert "skipped on 1 of 2" in report.gate[1].message
    assert judge(SUITE, [ran(UNKNOWN)], accept_loss=True, strict=True).exit_code == 1


@pytest.mark.parametrize("schema", [True, {}, {"type": ["object", "null"]}])
def test_a_schema_that_takes_null_decides_nothing_either(schema: Any) -> None:
    suite = {"tests": [{"id": "t", "metric": "args_valid", "policy": "policy.yaml"}]}
    policy = json.dumps({"tools": {"pay": {"schema": schema}}})
    assert judge(suite, [ran(UNKNOWN)], files={"policy__yaml": policy}).exit_code == 3
