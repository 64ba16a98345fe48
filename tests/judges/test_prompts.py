"""What a judge is told."""

from __future__ import annotations

from typing import Any

import pytest
from tests.judges.questions import question

from passmuster.checks._question import Example
from passmuster.judges._prompts import prompt_for


def test_trusted_words_stand_outside_and_untrusted_ones_inside() -> None:
    asked = question("ANSWER", query="QUERY", rule="RULE", context="CONTEXT", evidence=('{"days": 30}',))
    user = prompt_for(asked).user
    begin = user.index("\nDATA-")
    end = user.rindex("\nDATA-")
    for outside in ("RULE", "CONTEXT"):
        assert user.index(outside) < begin
    for inside in ("ANSWER", "QUERY", "days"):
        assert begin < user.index(inside) < end
    assert "ANSWER" not in prompt_for(asked).system


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("llm_judge", "how well the answer satisfies the rule"),
        ("safety_check", "whether the answer is safe"),
        ("hallucination_check", "supported by the evidence"),
        ("behavior", "the behavior that the rule names was shown"),
    ],
)
def test_each_kind_has_a_task_and_a_scale(kind: str, words: str) -> None:
    system = prompt_for(question(kind=kind)).system
    assert words in system
    assert "\n5: " in system
    assert "{" not in system


@pytest.mark.parametrize("kind", ["llm_judge", "safety_check", "hallucination_check", "behavior"])
def test_a_kind_without_a_rule_has_one(kind: str) -> None:
    assert prompt_for(question(kind=kind, rule=" ")).user.startswith('The rule: "The answer ')


def test_a_hallucination_check_without_evidence_says_so() -> None:
    assert '"evidence": []' in prompt_for(question(kind="hallucination_check")).user
    assert "evidence" not in prompt_for(question()).user


def test_examples_are_shown_with_their_scores() -> None:
    shown: tuple[Any, ...] = (Example("30 days", 5, "exact"), Example('a "long" time', 1))
    user = prompt_for(question(examples=shown)).user
    assert '- score 5 for "30 days", because "exact"' in user
    assert '- score 1 for "a \\"long\\" time"\n' in user


def test_asking_again_says_what_was_wrong() -> None:
    prompt = prompt_for(question())
    again = prompt.again("it was empty")
    assert again.user.startswith(prompt.user)
    assert "could not be used: it was empty." in again.user
