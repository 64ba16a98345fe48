"""Several judges: the lower median, and never a smaller jury."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.judges.loopback import Asked, Behaviour, Refuses, loopback, scored
from tests.judges.questions import question

from passmuster.checks._question import JudgeFailure, Verdict
from passmuster.judges._answers import Opinion
from passmuster.judges._asking import _Ask, _verdict, ask_all
from passmuster.judges._cache import load
from passmuster.judges._config import Member
from passmuster.judges._prompts import Prompt


def by_model(asked: Asked) -> Behaviour:
    """A judge whose model's name ends with its score; `x` refuses."""
    last = asked.body["model"][-1]
    return Refuses(400, message="broken") if last == "x" else scored(int(last), f"says {last}")


def ask(models: list[str], cache: Path | None = None, mode: Any = "live") -> Any:
    with loopback(by_model) as judge:
        config = judge.config(ensemble=[{"model": model} for model in models])
        return ask_all([question()], config, mode, cache)[0]


@pytest.mark.parametrize(
    ("models", "score"),
    [
        (["m5", "m1", "m4"], 4),
        (["m1", "m1", "m5"], 1),
        (["m2", "m3"], 2),
        (["m5", "m2", "m3", "m4"], 3),
        (["m1", "m5", "m5", "m1"], 1),
    ],
)
def test_the_lower_median_decides(models: list[str], score: int) -> None:
    found = ask(models)
    assert found.score == score
    assert found.votes == tuple(int(model[-1]) for model in models)
    assert found.reason == f"says {score}"


def test_one_failed_member_leaves_no_verdict() -> None:
    found = ask(["m5", "mx", "m5"])
    assert found == JudgeFailure("one of 3 judges has no vote: judge openai/mx: it answered 400: broken")


def test_members_of_both_vendors() -> None:
    with loopback(by_model) as judge:
        other = {"provider": "anthropic", "model": "claude-2", "base_url": judge.address}
        config = judge.config(model="gpt-5", ensemble=[{}, other])
        found = ask_all([question()], config, "live", None)[0]
    assert isinstance(found, Verdict)
    assert (found.votes, found.score) == ((5, 2), 2)
    assert sorted(asked.path for asked in judge.asked) == ["/v1/chat/completions", "/v1/messages"]


def test_the_same_model_is_asked_several_times_and_each_is_remembered(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    with loopback(lambda asked: scored([2, 5, 4][(asked.number - 1) % 3])) as judge:
        config = judge.config(ensemble=3, temperature=1, concurrency=1)
        first = ask_all([question(), question()], config, "live", path)
        again = ask_all([question()], config, "cached", path)[0]
        alone = ask_all([question()], judge.config(temperature=1), "cached", path)[0]
    assert len(judge.asked) == 3
    assert first[0] == first[1]
    assert isinstance(again, Verdict)
    assert (again.votes, again.score) == ((2, 5, 4), 4)
    assert isinstance(alone, Verdict)
    assert alone.score == 2
    assert len(load(path)) == 3


def test_a_member_that_the_cache_lacks_is_a_miss(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    with loopback(by_model) as judge:
        ask_all([question()], judge.config(ensemble=[{"model": "m1"}, {"model": "m2"}]), "live", path)
        more = judge.config(ensemble=[{"model": "m1"}, {"model": "m2"}, {"model": "m3"}])
        assert "one of 3 judges has no vote" in str(ask_all([question()], more, "cached", path)[0])
        live = ask_all([question()], more, "live", path)[0]
    assert isinstance(live, Verdict)
    assert [json.loads(line)["model"] for line in path.read_text().splitlines()].count("m1") == 1


def jury(scores: list[int]) -> Verdict:
    members = [Member(provider="openai", model="m", sample=number) for number in range(len(scores))]
    asks = [_Ask(str(number), question(), Prompt("", ""), member) for number, member in enumerate(members)]
    found = _verdict(asks, {str(n): Opinion(score, "r") for n, score in enumerate(scores)})
    assert isinstance(found, Verdict)
    return found


@settings(deadline=None)
@given(st.lists(st.integers(1, 5), min_size=2, max_size=9), st.integers(1, 5), st.randoms())
def test_it_passes_only_with_more_than_half_of_the_votes(scores: list[int], threshold: int, chance: Any) -> None:
    passing = sum(score >= threshold for score in scores)
    assert (jury(scores).score >= threshold) == (2 * passing > len(scores))
    shuffled = list(scores)
    chance.shuffle(shuffled)
    assert jury(shuffled).score == jury(scores).score
