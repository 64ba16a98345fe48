"""What a judge may do wrong on the wire, and how patiently it is borne."""

from __future__ import annotations

import email.utils
import itertools
import time

import pytest
from tests.judges.loopback import (
    Asked,
    Behaviour,
    CutsOff,
    Drips,
    Mind,
    Refuses,
    Says,
    Sends,
    closed_address,
    loopback,
    scored,
)
from tests.judges.questions import question

from passmuster.checks._question import JudgeFailure, Verdict
from passmuster.judges._asking import ask_all
from passmuster.judges._config import JudgeConfig

PROVIDERS = pytest.mark.parametrize("provider", ["openai", "anthropic"])


def first_then(trouble: Behaviour, times: int = 1) -> Mind:
    def mind(asked: Asked) -> Behaviour:
        return trouble if asked.number <= times else scored(4)

    return mind


def _limit(trouble: Behaviour) -> float:
    """Short only where the time-out is the point: a busy machine is slow as well."""
    return 0.5 if isinstance(trouble, (Says, Drips)) else 30


PASSING: list[tuple[Behaviour, str]] = [
    (Refuses(429, message="slow down"), "it answered 429: slow down"),
    (Refuses(408), "it answered 408"),
    (Refuses(500), "it answered 500"),
    (Refuses(503), "it answered 503"),
    (Refuses(529, message="overloaded"), "it answered 529: overloaded"),
    (CutsOff(), "the connection failed: peer closed connection"),
    (Sends(b"<html>Sign in</html>", "text/html"), "what it sent was not JSON, or cut off"),
    (Sends(b'{"choices": [{"mess'), "what it sent was not JSON, or cut off"),
    (Sends(b"[]"), "what it sent was not JSON, or cut off"),
    (Says({"score": 5, "reason": "late"}, delay=2), "it did not answer"),
    (Drips(), "it did not answer"),
]


@PROVIDERS
@pytest.mark.parametrize(("trouble", "message"), PASSING)
def test_what_may_pass_is_tried_again(provider: str, trouble: Behaviour, message: str) -> None:
    with loopback(first_then(trouble)) as judge:
        config = judge.config(provider, timeout_seconds=_limit(trouble))
        assert ask_all([question()], config, "live", None) == [Verdict(score=4, reason="Because.")]
    assert len(judge.asked) >= 2
    assert judge.asked[0].user == judge.asked[1].user


@PROVIDERS
@pytest.mark.parametrize(("trouble", "message"), PASSING)
def test_but_not_for_ever(provider: str, trouble: Behaviour, message: str) -> None:
    with loopback(trouble) as judge:
        config = judge.config(provider, timeout_seconds=_limit(trouble), retries=1)
        found = ask_all([question()], config, "live", None)[0]
    assert isinstance(found, JudgeFailure)
    assert found.message.startswith(f"judge {provider}/loop-1: {message}")
    assert found.message.endswith("(2 attempts)")
    assert len(judge.asked) == 2


@PROVIDERS
@pytest.mark.parametrize("status", [302, 400, 401, 403, 404, 422])
def test_what_cannot_pass_is_not_tried_again(provider: str, status: int) -> None:
    with loopback(Refuses(status, {"Location": closed_address()}, "no such thing")) as judge:
        found = ask_all([question()], judge.config(provider), "live", None)[0]
    assert found == JudgeFailure(f"judge {provider}/loop-1: it answered {status}: no such thing")
    assert len(judge.asked) == 1


@PROVIDERS
def test_nobody_listens(provider: str) -> None:
    given = {"provider": provider, "model": "m", "base_url": closed_address(), "retries": 2, "backoff_seconds": 0.01}
    found = ask_all([question()], JudgeConfig.from_mapping(given), "live", None)[0]
    assert isinstance(found, JudgeFailure)
    assert found.message.startswith(f"judge {provider}/m: the connection failed: ")
    assert found.message.endswith("(3 attempts)")


@PROVIDERS
@pytest.mark.parametrize(
    "headers",
    [
        {"Retry-After": "0.4"},
        {"retry-after-ms": "400"},
        {"Retry-After": "DATE"},
    ],
)
def test_retry_after_is_honoured(provider: str, headers: dict[str, str]) -> None:
    if headers.get("Retry-After") == "DATE":
        headers = {"Retry-After": email.utils.formatdate(time.time() + 2, usegmt=True)}
    with loopback(first_then(Refuses(429, headers))) as judge:
        began = time.monotonic()
        found = ask_all([question()], judge.config(provider), "live", None)
    assert isinstance(found[0], Verdict)
    assert time.monotonic() - began >= 0.4


@PROVIDERS
def test_a_wait_beyond_patience_is_a_failure_at_once(provider: str) -> None:
    with loopback(Refuses(429, {"Retry-After": "3600"}, "come back later")) as judge:
        found = ask_all([question()], judge.config(provider), "live", None)[0]
    assert isinstance(found, JudgeFailure)
    assert "it asks to wait 3600 seconds, which is too long" in found.message
    assert len(judge.asked) == 1


@pytest.mark.parametrize("value", ["soon", "-5", "nan", "inf", ""])
def test_a_wait_that_makes_no_sense_is_passed_over(value: str) -> None:
    with loopback(first_then(Refuses(429, {"Retry-After": value}))) as judge:
        assert isinstance(ask_all([question()], judge.config(), "live", None)[0], Verdict)


def test_the_wait_grows() -> None:
    arrived: list[float] = []

    def mind(asked: Asked) -> Behaviour:
        arrived.append(time.monotonic())
        return Refuses(500)

    with loopback(mind) as judge:
        ask_all([question()], judge.config(retries=3, backoff_seconds=0.1), "live", None)
    waits = [later - earlier for earlier, later in itertools.pairwise(arrived)]
    assert len(waits) == 3
    for wait, least in zip(waits, (0.05, 0.1, 0.2), strict=True):
        assert wait >= least


@PROVIDERS
def test_after_a_hopeless_refusal_the_others_are_spared(provider: str) -> None:
    with loopback(Refuses(401, message="invalid key")) as judge:
        config = judge.config(provider, concurrency=1)
        found = ask_all([question(str(number)) for number in range(6)], config, "live", None)
    assert {str(one) for one in found} == {str(JudgeFailure(f"judge {provider}/loop-1: it answered 401: invalid key"))}
    assert len(judge.asked) == 1


def test_an_empty_account_is_hopeless() -> None:
    with loopback(Refuses(429, message="You exceeded your quota", code="insufficient_quota")) as judge:
        found = ask_all([question()], judge.config(), "live", None)[0]
    assert isinstance(found, JudgeFailure)
    assert len(judge.asked) == 1


def test_a_judge_out_of_reach_is_not_tried_for_every_question() -> None:
    with loopback(Refuses(503)) as judge:
        config = judge.config(concurrency=1, retries=1)
        found = ask_all([question(str(number)) for number in range(10)], config, "live", None)
    assert len(judge.asked) == 6
    assert all(isinstance(one, JudgeFailure) for one in found)
    assert "3 questions in a row got no reply" in str(found[9])


def test_one_question_that_fails_does_not_stop_the_others() -> None:
    def mind(asked: Asked) -> Behaviour:
        return Refuses(400, message="too long") if len(asked.quoted["answer"]) > 3 else scored(4)

    with loopback(mind) as judge:
        found = ask_all(
            [question(text) for text in ("too long", "ok", "as long", "yes")],
            judge.config(),
            "live",
            None,
        )
    assert [type(one) for one in found] == [JudgeFailure, Verdict, JudgeFailure, Verdict]


@PROVIDERS
def test_a_key_that_is_echoed_is_not_shown(provider: str) -> None:
    key = "plain-looking-key-000"
    with loopback(Refuses(401, message=f"Incorrect key: {key}")) as judge:
        environment = {"OPENAI_API_KEY": key, "ANTHROPIC_API_KEY": key}
        found = ask_all([question()], judge.config(provider), "live", None, environment=environment)
    assert key not in str(found)
    assert "Incorrect key: [hidden #1]" in str(found)


@pytest.mark.parametrize(
    ("provider", "message", "hint"),
    [
        ("openai", "Unsupported value: 'temperature'", "`temperature: null`"),
        ("anthropic", "temperature is not supported", "`temperature: null`"),
        ("openai", "response_format is unknown", "`structured: false`"),
    ],
)
def test_a_refused_setting_comes_with_advice(provider: str, message: str, hint: str) -> None:
    with loopback(Refuses(400, message=message)) as judge:
        assert hint in str(ask_all([question()], judge.config(provider), "live", None)[0])
