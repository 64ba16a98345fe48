"""Explanations say what was asked, matchers and all, and what was found instead."""

from __future__ import annotations

from typing import Any

import pytest
from tests.checks.building import Step, call, calls, judge_one, rules, trace
from tests.suite.suite_files import problems

LARGE = {"tool": "pay", "args": {"amount": {"$gt": 500}}}
APPROVED = {"tool": "read", "result": {"approved": True}}


def one(rule: dict[str, Any], steps: list[Step] | str) -> tuple[str | None, str | None]:
    """What the only violation of a rule expected and found."""
    (violation,) = judge_one(rules(rule), trace(steps)).violations
    return violation.expected, violation.actual


@pytest.mark.parametrize(
    ("rule", "steps", "expected", "actual"),
    [
        (
            {"type": "never_after", "trigger": APPROVED, "forbidden": "send"},
            [call("read", result={"approved": True}), call("send")],
            "no send after read (result {approved: true})",
            "send was called after read (result {approved: true}) (call 1)",
        ),
        (
            {"type": "never_after", "trigger": "read", "forbidden": LARGE},
            [call("read"), call("pay", {"amount": 900})],
            "no pay (amount > 500) after read",
            "pay (amount > 500) was called after read (call 1)",
        ),
        (
            {"type": "before", "first": APPROVED, "then": LARGE},
            [call("read", result={"approved": False}), call("pay", {"amount": 900})],
            "read (result {approved: true}) before pay (amount > 500)",
            "pay (amount > 500) called without prior read (result {approved: true}) (read was called, but on call 1 "
            'its result was {"approved": false})',
        ),
        (
            {"type": "require", "tool": APPROVED},
            [call("read", result="pending"), call("read")],
            "read (result {approved: true}) to be called",
            "read (result {approved: true}) was never called: read was called, but on the last of 2 calls (call 2) its "
            "result was not recorded",
        ),
        (
            {"type": "require", "tool": LARGE},
            [call("pay", {"amount": 5})],
            "pay (amount > 500) to be called",
            "pay (amount > 500) was never called: pay was called, but on call 1 amount was 5",
        ),
        (
            {"type": "require", "tool": {"tool": "pay", "args": {"a": 1, "password": "x"}}},
            [call("pay", {"password": "y"})],
            "pay (a 1, password (hidden)) to be called",
            "pay (a 1, password (hidden)) was never called: pay was called, but on call 1 a was missing and password "
            "was (hidden)",
        ),
        (
            {"type": "require", "tool": {"tool": "pay", "failed": True}},
            [call("pay")],
            "pay (failed) to be called",
            "pay (failed) was never called: pay was called, but on call 1 it succeeded",
        ),
        (
            {"type": "eventually", "tool": LARGE, "within": 2},
            [call("read")],
            "pay (amount > 500) to be called among the first 2 positions",
            "pay (amount > 500) was never called",
        ),
        (
            {"type": "count", "tool": LARGE, "min": 1},
            [call("pay", {"amount": 5})],
            "pay (amount > 500) to be called at least once",
            "pay (amount > 500) was never called: pay was called, but on call 1 amount was 5",
        ),
        (
            {"type": "after", "trigger": LARGE, "then": APPROVED},
            [call("pay", {"amount": 900}), call("read", result={"approved": False})],
            "read (result {approved: true}) after pay (amount > 500)",
            "read (result {approved: true}) was not called after it (read was called, but on call 2 its result was "
            '{"approved": false})',
        ),
        (
            {"type": "blocklist", "tools": [LARGE]},
            [call("pay", {"amount": 900})],
            "pay (amount > 500) not to be called",
            "pay (amount > 500) was called once",
        ),
        (
            {"type": "immediately_before", "first": "check", "then": LARGE},
            [call("pay", {"amount": 900})],
            "check directly before pay (amount > 500)",
            "pay (amount > 500) called as the first call",
        ),
        (
            {"type": "immediately_before", "first": "check", "then": "pay"},
            calls("(read pay)"),
            "check directly before pay",
            "pay called among the first calls, in parallel",
        ),
    ],
)
def test_a_sentence_tells_the_matchers_and_what_was_found(
    rule: dict[str, Any], steps: list[Step], expected: str, actual: str
) -> None:
    assert one(rule, steps) == (expected, actual)


def test_a_violation_quotes_the_description_of_its_rule() -> None:
    rule = {"type": "require", "tool": "check", "description": "Every payment is checked first."}
    (violation,) = judge_one(rules(rule), trace("pay")).violations
    assert violation.description == "Every payment is checked first."


def test_an_argument_that_the_suite_hides_is_not_quoted() -> None:
    rule = {"type": "require", "tool": {"tool": "pay", "args": {"card.number": "1"}}}
    suite = {**rules(rule), "redact": {"arguments": ["pay.card"]}}
    (violation,) = judge_one(suite, trace([call("pay", {"card": {"number": "4929"}})])).violations
    assert violation.actual is not None
    assert "card.number was" in violation.actual
    assert "4929" not in violation.actual


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("not_after", "never_after"),
        ("denylist", "blocklist"),
        ("whitelist", "allowlist"),
        ("required", "require"),
        ("at_most", "max_calls"),
        ("in_order", "sequence"),
        ("directly-before", "immediately_before"),
        ("befor", "before"),
    ],
)
def test_an_unknown_rule_is_told_the_one_that_was_meant(tmp_path: Any, written: str, meant: str) -> None:
    suite = f"tests: [{{id: t, metric: sequence_valid, rules: [{{type: {written}, tool: a}}]}}]\n"
    (told,) = problems(tmp_path, suite)
    assert f"unknown rule type '{written}'; did you mean '{meant}'?" in told
