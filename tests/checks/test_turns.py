"""`turns`: each turn of a conversation is checked on its own; a failed one fails the scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.checks.building import call, judge, write

import passmuster


def said(role: str, text: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": text}


TALK = [
    said("user", "Where is my order?"),
    call("get_order"),
    said("assistant", "It is on its way."),
    said("user", "Then refund it."),
    call("verify"),
    call("refund", {"amount": 5}),
    said("assistant", "Refunded 5 EUR."),
]
FIRST, SECOND = {"user": "Where is my order?"}, {"user": "Then refund it."}


def run(*turns: dict[str, Any], steps: list[Any] = TALK, scenario: dict[str, Any] | None = None, **suite: Any) -> Any:
    stated = {"id": "A", "turns": list(turns), **(scenario or {})}
    trace = {"scenario": "A", "steps": steps, "answer": "Refunded 5 EUR."}
    return judge({"scenarios": [stated], **suite}, [trace])


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [
        ({}, {}, "pass"),
        ({"correctness": {"expected_in_answer": "on its way"}}, {}, "pass"),
        ({"correctness": {"expected_in_answer": "refunded"}}, {}, "fail"),
        ({}, {"correctness": {"expected_in_answer": "refunded", "not_in_answer": "on its way"}}, "pass"),
        ({"path": {"forbidden_tools": ["refund"]}}, {}, "pass"),
        ({}, {"path": {"forbidden_tools": ["refund"]}}, "fail"),
        ({"path": {"max_tool_calls": 1}}, {"path": {"max_tool_calls": 1}}, "warn"),
        (
            {"path": {"expected_tools": ["get_order"]}},
            {"path": {"expected_tool_sequence": ["verify", "refund"]}},
            "pass",
        ),
        ({}, {"path": {"expected_tool_sequence": ["get_order", "refund"]}}, "warn"),
        ({"must_not": [{"tool_called": "refund"}]}, {}, "pass"),
        ({}, {"must_not": [{"tool_called": "refund"}]}, "fail"),
        ({"must_not": [{"answer_contains": "refunded"}]}, {"expected_behaviors": [{"tool_called": "verify"}]}, "pass"),
        ({"expected_behaviors": [{"tool_called": "verify"}]}, {}, "fail"),
        ({}, {"expected_behaviors": [{"type": "before", "first": "verify", "then": "refund"}]}, "pass"),
    ],
)
def test_each_turn_is_checked_on_its_own(first: dict[str, Any], second: dict[str, Any], status: str) -> None:
    report = run({**FIRST, **first}, {**SECOND, **second})
    assert report.scenarios[0].status == status
    assert report.exit_code == (1 if status == "fail" else 0)


def test_a_violation_is_located_in_the_whole_trace() -> None:
    report = run(FIRST, {**SECOND, "path": {"forbidden_tools": ["refund"]}})
    (check,) = (one for one in report.scenarios[0].layers["path"].checks)
    assert check.name == "turns[1].forbidden_tools"
    (violation,) = check.violations
    assert (violation.call_index, violation.neighbours.calls, violation.neighbours.before) == (3, 3, "verify")


def test_a_turn_that_did_not_take_place_fails() -> None:
    third = {"user": "Thanks.", "path": {"forbidden_tools": ["z"]}, "must_not": [{"tool_called": "z"}]}
    for turns in ([FIRST, SECOND, {"user": "Thanks."}], [FIRST, SECOND, third]):
        report = run(*turns)
        assert (report.scenarios[0].status, report.exit_code) == ("fail", 1)
        (line,) = (line for line in report.gate if line.kind == "scenario")
        assert "turns: the conversation has 2 turns, expected 3" in line.message


def test_the_query_is_the_first_turn_where_no_message_says_it() -> None:
    spoken = [one for one in TALK if one.get("content") != "Where is my order?"]
    suite = {"scenarios": [{"id": "A", "turns": [FIRST, {**SECOND, "path": {"expected_tools": ["refund"]}}]}]}
    trace = {"query": "Where is my order?", "steps": spoken, "answer": "Refunded 5 EUR."}
    assert judge(suite, [trace]).scenarios[0].status == "pass"


def test_a_trace_finds_its_scenario_by_the_first_turn() -> None:
    suite = {"scenarios": [{"turns": [{**FIRST, "correctness": {"expected_in_answer": "way"}}, SECOND]}]}
    report = judge(suite, [{"query": "Where is  my order?", "steps": TALK, "answer": "x"}])
    assert [(one.id, one.status) for one in report.scenarios] == [("where-is-my-order", "pass")]


def test_the_whole_conversation_can_be_checked_besides() -> None:
    report = run(FIRST, SECOND, scenario={"path": {"max_tool_calls": 2}, "must_not": [{"tool_called": "drop"}]})
    assert report.scenarios[0].status == "warn"
    assert [check.name for check in report.scenarios[0].layers["path"].checks] == ["max_tool_calls"]


def test_calls_that_are_unknown_stay_so() -> None:
    suite = {
        "scenarios": [{"id": "A", "turns": [{**FIRST, "must_not": [{"tool_called": "refund"}]}]}],
        "required_scenarios": ["A"],
    }
    assert judge(suite, [{"scenario": "A", "answer": "ok"}]).exit_code == 1


def test_mistakes(tmp_path: Path) -> None:
    for turns, told in (
        ("[{correctness: {exact_match: a}}]", "'user' is missing"),
        ("[]", "turns"),
        ("[{user: a, corectness: {exact_match: a}}]", "did you mean 'correctness'"),
        ("[{user: b}]", "'query' and the first 'user' of 'turns' differ"),
    ):
        path, _ = write(tmp_path, f"scenarios: [{{id: A, query: a, turns: {turns}}}]")
        with pytest.raises(passmuster.InputError, match=told):
            passmuster.load_suite(path)
