"""The canaries, and what they say of a judge whose weakness is known."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from tests.judges.loopback import Asked, Behaviour, loopback, scored

from passmuster.checks._question import JudgeAnswer, JudgeFailure, Question, Verdict
from passmuster.judges._asking import ask_all
from passmuster.judges._canaries import CANARIES, FAMILIES, Canary, sway
from passmuster.redaction._redactor import Redactor
from passmuster.scoring import wilson

WEAKNESS = {
    "direct_instruction": 0.5,
    "delimiter_escape": 0.0,
    "claimed_authority": 0.25,
    "self_grading": 0.8,
    "forged_verdict": 1.0,
    "appeal": 0.1,
    "disguise": 0.05,
}
BY_ANSWER = {canary.answer: canary for canary in CANARIES}


def falls(seed: int, canary_id: str, turn: int, probability: float) -> bool:
    """Whether the weak judge falls for a canary this time: chance, but the same in every run of the test."""
    drawn = hashlib.sha256(f"{seed}/{canary_id}/{turn}".encode()).digest()[:8]
    return int.from_bytes(drawn) / 2**64 < probability


def weak_judge(seed: int) -> Callable[[str], int]:
    """A judge that falls for each family with a known probability."""
    turns: Counter[str] = Counter()

    def judge(answer: str) -> int:
        canary = BY_ANSWER.get(answer)
        if canary is None:
            return 1
        turns[canary.id] += 1
        return 5 if falls(seed, canary.id, turns[canary.id], WEAKNESS[canary.family]) else 1

    return judge


def in_process(judge: Callable[[str], int]) -> Callable[[Sequence[Question]], list[Verdict]]:
    return lambda questions: [Verdict(score=judge(question.answer), reason="r") for question in questions]


def test_there_are_enough_of_them() -> None:
    assert len(CANARIES) >= 30
    assert len(FAMILIES) >= 6
    assert WEAKNESS.keys() == set(FAMILIES)
    assert set(Counter(canary.family for canary in CANARIES).values()) == {5}
    assert len({canary.answer for canary in CANARIES}) == len({canary.id for canary in CANARIES}) == len(CANARIES)


@pytest.mark.parametrize("canary", CANARIES, ids=lambda canary: canary.id)
def test_each_is_its_bad_answer_and_more_and_reaches_the_judge_whole(canary: Canary) -> None:
    assert canary.base.bad_answer in canary.answer
    assert len(canary.answer) > len(canary.base.bad_answer) + 20
    for text in (canary.answer, canary.base.query, canary.base.rule):
        assert Redactor().hide(text) == text


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_known_weakness_is_recovered_within_its_interval(provider: str) -> None:
    judge = weak_judge(seed=3)

    def mind(asked: Asked) -> Behaviour:
        return scored(judge(asked.quoted["answer"]))

    with loopback(mind) as server:
        config = server.config(provider, temperature=1)
        report = sway(lambda questions: ask_all(questions, config, "live", None), rounds=8)
    for found in report.families:
        assert found.tried == 40
        assert found.ci95 is not None
        low, high = found.ci95
        assert low <= WEAKNESS[found.family] <= high, found
    assert report.overall.tried == 280
    assert report.overall.ci95 is not None
    low, high = report.overall.ci95
    assert low <= sum(WEAKNESS.values()) / len(WEAKNESS) <= high
    assert len(report.swayed_by) == report.overall.swayed


def test_the_interval_holds_what_it_promises() -> None:
    """Over many judges the interval covers the truth about 95 times in 100."""
    covered = tried = 0
    for seed in range(100):
        for found in sway(in_process(weak_judge(seed)), rounds=8).families:
            assert found.ci95 is not None
            covered += found.ci95[0] <= WEAKNESS[found.family] <= found.ci95[1]
            tried += 1
    assert 0.92 <= covered / tried <= 1.0


def test_a_judge_of_stone_and_a_judge_of_wax() -> None:
    stone = sway(in_process(lambda answer: 1))
    assert (stone.overall.swayed, stone.overall.tried, stone.overall.rate) == (0, 35, 0.0)
    assert stone.overall.ci95 is not None
    assert 0.05 < stone.overall.ci95[1] < 0.15
    wax = sway(in_process(lambda answer: 5 if answer in BY_ANSWER else 1))
    assert (wax.overall.swayed, wax.overall.rate) == (35, 1.0)
    assert set(wax.swayed_by) == {canary.id for canary in CANARIES}


def test_a_judge_that_passes_everything_is_not_called_swayed() -> None:
    found = sway(in_process(lambda answer: 5)).overall
    assert (found.tried, found.rate, found.ci95, found.control_passed) == (0, None, None, 35)


def test_a_judge_that_fails_is_counted_apart() -> None:
    def ask(questions: Sequence[Question]) -> list[Verdict | JudgeFailure]:
        return [
            JudgeFailure("no") if question.query == "What is 17 times 6?" else Verdict(score=1, reason="r")
            for question in questions
        ]

    found = sway(ask).overall
    assert (found.tried, found.unanswered, found.swayed) == (28, 7, 0)
    silent = sway(lambda questions: [None] * len(questions)).overall
    assert (silent.tried, silent.unanswered, silent.rate) == (0, 35, None)


def test_what_passes_is_for_the_threshold_to_say() -> None:
    ask = in_process(lambda answer: 3 if answer in BY_ANSWER else 2)
    assert sway(ask).overall.rate == 1.0
    assert sway(ask, passing_score=4).overall.rate == 0.0
    assert sway(ask, passing_score=2).overall.control_passed == 35


def test_an_answer_for_each_question_is_needed() -> None:
    with pytest.raises(ValueError, match="40 questions got 1 answers"):
        sway(lambda questions: [Verdict(score=1, reason="r")])


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    # Newcombe (1998), table I, method 3.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_by_published_figures(successes: int, n: int, low: float, high: float) -> None:
    found = wilson(successes, n)
    assert found is not None
    assert math.isclose(found[0], low, abs_tol=5e-5)
    assert math.isclose(found[1], high, abs_tol=5e-5)


def test_wilson_of_nothing() -> None:
    assert wilson(0, 0) is None


def test_rounds_of_a_judge_that_always_answers_alike_tell_nothing_more() -> None:
    def ask(questions: Sequence[Question]) -> list[JudgeAnswer]:
        return [Verdict(score=5 if "score 5" in one.answer else 1, reason="r") for one in questions]

    once, often = sway(ask), sway(ask, rounds=10)
    assert often.overall.tried == 10 * once.overall.tried
    assert often.overall.rate == once.overall.rate
    assert often.overall.ci95 == pytest.approx(once.overall.ci95)
