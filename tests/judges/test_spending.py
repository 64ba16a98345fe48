"""The spending cap, counted from what the service says was used."""

from __future__ import annotations

from typing import Any

import pytest
from tests.judges.loopback import Behaviour, CutsOff, Loopback, Refuses, Says, loopback
from tests.judges.questions import question

from passmuster.checks.question import JudgeFailure, Verdict
from passmuster.judges.asking import ask_all
from passmuster.judges.prompts import prompt_for
from passmuster.judges.spending import worst_price

PROVIDERS = pytest.mark.parametrize("provider", ["openai", "anthropic"])
PRICES: dict[str, Any] = {"input_usd_per_million": 10.0, "output_usd_per_million": 100.0, "max_tokens": 100}
# 400 tokens at $10 a million and 60 at $100: a cent.
CENT = Says({"score": 4, "reason": "r"}, tokens=(400, 60), delay=0.01)


def asked_with(judge: Loopback, cap: float | None, count: int = 20, **more: Any) -> list[Any]:
    config = judge.config(**{**PRICES, "max_cost_usd": cap, **more})
    return ask_all([question(f"{number:03}") for number in range(count)], config, "live", None)


@PROVIDERS
def test_what_a_verdict_cost(provider: str) -> None:
    with loopback(CENT) as judge:
        found = asked_with(judge, None, 1, provider=provider)
    assert found[0].cost_usd == pytest.approx(0.01)


@pytest.mark.parametrize("tokens", [None, (True, 3), (-1, 3), ("400", 60), (400, None)])
def test_a_cost_that_is_not_known_is_none(tokens: Any) -> None:
    with loopback(Says({"score": 4, "reason": "r"}, tokens=tokens)) as judge:
        assert asked_with(judge, None, 1)[0].cost_usd is None


@PROVIDERS
@pytest.mark.parametrize("concurrency", [1, 8])
def test_the_cap_is_kept_and_nearly_used(provider: str, concurrency: int) -> None:
    cap = 0.125
    with loopback(CENT) as judge:
        found = asked_with(judge, cap, provider=provider, concurrency=concurrency)
    spent = 0.01 * len(judge.asked)
    worst = worst_price(judge.config(**PRICES).members[0], prompt_for(question("000")))
    assert worst is not None
    assert cap - worst - 0.01 < spent <= cap
    assert sum(isinstance(one, Verdict) for one in found) == len(judge.asked)
    refused = [one for one in found if isinstance(one, JudgeFailure)]
    assert len(refused) == 20 - len(judge.asked)
    assert "the spending cap of $0.125 (max_cost_usd) is reached" in refused[0].message


def test_a_cap_below_one_request_asks_nothing() -> None:
    with loopback(CENT) as judge:
        found = asked_with(judge, 0.001)
    assert judge.asked == []
    assert all(isinstance(one, JudgeFailure) for one in found)


@pytest.mark.parametrize("unseen", [Says({"score": 4, "reason": "r"}, tokens=None), CutsOff()])
def test_what_cannot_be_seen_counts_at_its_worst(unseen: Behaviour) -> None:
    with loopback(unseen) as judge:
        asked_with(judge, 0.125, concurrency=1, retries=0)
    worst = worst_price(judge.config(**PRICES).members[0], prompt_for(question("000")))
    assert worst is not None
    assert 0 < len(judge.asked) <= 0.125 / worst


def test_refusals_are_free() -> None:
    with loopback(lambda asked: CENT if asked.number > 10 else Refuses(429)) as judge:
        found = asked_with(judge, 0.05, 1, retries=12, backoff_seconds=0.001)
    assert isinstance(found[0], Verdict)


def test_replies_that_are_no_verdict_are_paid_for_too() -> None:
    def mind(asked: object) -> Behaviour:
        return CENT if judge.asked[-1].number == 3 else Says(text="hm", tokens=(400, 60))

    with loopback(mind) as judge:
        found = asked_with(judge, None, 1, ask_again=2)
    assert found[0].cost_usd == pytest.approx(0.03)


def test_the_cache_costs_nothing(tmp_path: Any) -> None:
    path = tmp_path / "verdicts.jsonl"
    with loopback(CENT) as judge:
        config = judge.config(**PRICES, max_cost_usd=0.06)
        ask_all([question()], config, "live", path)
        for _ in range(10):
            assert ask_all([question()], config, "live", path)[0].cost_usd == 0.0  # type: ignore[union-attr]
    assert len(judge.asked) == 1
