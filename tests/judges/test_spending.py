"""The spending cap, counted from what the service says was used."""

from __future__ import annotations

from typing import Any

import pytest
from tests.judges.loopback import Behaviour, CutsOff, Loopback, Refuses, Says, loopback
from tests.judges.questions import question

from passmuster.checks._question import JudgeFailure, Verdict
from passmuster.judges._asking import ask_all
from passmuster.judges._calling import worst_price
from passmuster.judges._config import JudgeConfig
from passmuster.judges._prompts import prompt_for

PROVIDERS = pytest.mark.parametrize("provider", ["openai", "anthropic"])
PRICES: dict[str, Any] = {"input_usd_per_million": 10.0, "output_usd_per_million": 100.0, "max_tokens": 100}
# 400 tokens at $10 a million and 60 at $100: a cent.
CENT = Says({"score": 4, "reason": "r"}, tokens=(400, 60), delay=0.01)


def asked_with(judge: Loopback, cap: float | None, count: int = 20, **more: Any) -> list[Any]:
    config = judge.config(**{**PRICES, "max_cost_usd": cap, **more})
    return ask_all([question(f"{number:03}") for number in range(count)], config, "live", None)


def worst() -> float:
    """The most that one of these questions can cost."""
    config = JudgeConfig(provider="openai", model="m", **PRICES)
    most = worst_price(config.members[0], prompt_for(question("000")))
    assert most is not None
    return most


@PROVIDERS
@pytest.mark.parametrize("concurrency", [1, 8])
def test_the_cap_is_kept_and_nearly_used(provider: str, concurrency: int) -> None:
    cap = 0.125
    with loopback(CENT) as judge:
        found = asked_with(judge, cap, provider=provider, concurrency=concurrency)
    spent = 0.01 * len(judge.asked)
    assert cap - worst() - 0.01 < spent <= cap
    assert sum(isinstance(one, Verdict) for one in found) == len(judge.asked)
    refused = [one for one in found if isinstance(one, JudgeFailure)]
    assert len(refused) == 20 - len(judge.asked)
    assert "the spending cap of $0.125 (max_cost_usd) is reached" in refused[0].message


def test_a_cap_below_one_request_asks_nothing() -> None:
    with loopback(CENT) as judge:
        found = asked_with(judge, 0.001)
    assert judge.asked == []
    assert all(isinstance(one, JudgeFailure) for one in found)


UNSEEN = [None, (True, 3), (-1, 3), ("400", 60), (400, None)]


@pytest.mark.parametrize("unseen", [*(Says({"score": 4, "reason": "r"}, tokens=one) for one in UNSEEN), CutsOff()])
def test_what_cannot_be_seen_counts_at_its_worst(unseen: Behaviour) -> None:
    with loopback(unseen) as judge:
        asked_with(judge, 0.125, concurrency=1, retries=0)
    assert 0 < len(judge.asked) <= 0.125 / worst()


def test_refusals_are_free() -> None:
    with loopback(lambda asked: CENT if asked.number > 10 else Refuses(429)) as judge:
        found = asked_with(judge, 0.05, 1, retries=12, backoff_seconds=0.001)
    assert isinstance(found[0], Verdict)


def test_replies_that_are_no_verdict_are_paid_for_too() -> None:
    with loopback(Says(text="hm", tokens=(400, 60))) as judge:
        found = asked_with(judge, worst() + 0.015, 1, ask_again=5)
    assert len(judge.asked) == 2
    assert "(max_cost_usd) is reached: $0.0200 is spent" in found[0].message


def test_the_cache_costs_nothing(tmp_path: Any) -> None:
    path = tmp_path / "verdicts.jsonl"
    with loopback(CENT) as judge:
        config = judge.config(**PRICES, max_cost_usd=0.06)
        ask_all([question()], config, "live", path)
        for _ in range(10):
            assert isinstance(ask_all([question()], config, "live", path)[0], Verdict)
    assert len(judge.asked) == 1
