"""`answer_scope`: correctness reads the last answer, or every text of the agent."""

from __future__ import annotations

from typing import Any

import pytest
from tests.checks.building import call, judge


def said(role: str, text: Any) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": text}


TALK = [
    said("user", "May I have the code 7?"),
    said("assistant", "Your order is ord_1."),
    call("get_order"),
    said("user", "And the total?"),
    said("assistant", [{"type": "text", "text": "The total is 54.20 EUR."}]),
    said("assistant", "Anything else?"),
]


def status(correctness: dict[str, Any], scope: str | None, steps: list[Any], answer: str | None, **more: Any) -> str:
    scoped = {} if scope is None else {"answer_scope": scope}
    suite = {"scenarios": [{"id": "A", "correctness": correctness, **scoped, **more.pop("scenario", {})}], **more}
    return judge(suite, [{"scenario": "A", "steps": steps, "answer": answer}]).scenarios[0].status


@pytest.mark.parametrize(
    ("correctness", "last", "every"),
    [
        ({"expected_in_answer": ["ORD_1", "54.20"]}, "fail", "pass"),
        ({"expected_in_answer": ["anything"]}, "pass", "pass"),
        ({"any_expected_in_answer": ["54.20"]}, "fail", "pass"),
        ({"not_in_answer": ["ord_1"]}, "pass", "fail"),
        ({"not_in_answer": ["code 7"]}, "pass", "pass"),  # only the user said so
        ({"regex_match": "^Your order"}, "fail", "pass"),
        ({"exact_match": "The total is 54.20 EUR."}, "fail", "pass"),
        ({"exact_match": "Anything else?"}, "pass", "pass"),
    ],
)
def test_what_correctness_reads(correctness: dict[str, Any], last: str, every: str) -> None:
    for scope, wanted in ((None, last), ("last", last), ("all", every)):
        assert status(correctness, scope, TALK, "Anything else?") == wanted
    assert status(correctness, "all", TALK[:-1], "Anything else?") == every  # an answer is a text of its own


def test_a_json_answer_is_one_of_the_texts() -> None:
    steps = [said("assistant", '{"n": 1}'), said("assistant", "Done.")]
    schema = {"json_schema": {"type": "object", "required": ["n"]}}
    assert [status(schema, scope, steps, "Done.") for scope in ("last", "all")] == ["fail", "pass"]


def test_a_label_is_read_from_every_text() -> None:
    suite = {"classification": {"positive": "spam", "from": {"json": "$.label"}}}
    steps = [said("assistant", '{"label": "spam"}'), said("assistant", "Done.")]
    label: dict[str, Any] = {"label": "spam"}
    assert [status(label, scope, steps, "Done.", **suite) for scope in ("last", "all")] == ["fail", "pass"]
    contradicting = [said("assistant", '{"label": "ham"}'), *steps]
    assert status(label, "all", contradicting, "Done.", **suite) == "fail"


def test_without_any_text_there_is_no_answer() -> None:
    assert status({"not_in_answer": "x"}, "all", [said("user", "hi")], None) == "fail"
    assert status({"not_in_answer": "x"}, "all", [said("assistant", "hi")], None) == "pass"


def test_a_report_quotes_what_was_read() -> None:
    suite = {"scenarios": [{"id": "A", "correctness": {"expected_in_answer": "never"}, "answer_scope": "all"}]}
    report = judge(suite, [{"scenario": "A", "steps": TALK, "answer": "Anything else?"}])
    (check,) = report.scenarios[0].layers["correctness"].checks
    assert check.message.startswith("'never' not in the answer 'Your order is ord_1.")
