"""`judge_config`: what is read, what is refused, and what a member of an ensemble inherits."""

from __future__ import annotations

from typing import Any

import pytest

from passmuster.judges._config import JudgeConfig

BASE = {"provider": "openai", "model": "m"}
PRICED = {"input_usd_per_million": 1, "output_usd_per_million": 2}


def test_defaults() -> None:
    config = JudgeConfig.from_mapping(BASE)
    assert config == JudgeConfig(provider="openai", model="m")
    assert (config.temperature, config.max_tokens, config.concurrency, config.ensemble) == (0.0, 1024, 8, ())
    assert [member.name for member in config.members] == ["openai/m"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"modle": "x"}, "there is no key 'modle'; did you mean 'model'?"),
        ({"zzz": 1}, "there is no key 'zzz'; known: provider, model,"),
        ({"ensembel": 3}, "did you mean 'ensemble'?"),
        ({"provider": "mistral"}, "'provider' is 'mistral'; expected anthropic or openai"),
        ({"model": ""}, "'model' is ''; expected the name of a model"),
        ({"model": 4}, "'model' is 4; expected the name of a model"),
        ({"base_url": "localhost:11434"}, "'base_url' is 'localhost:11434'; expected an address such as"),
        ({"temperature": "0"}, "'temperature' is '0'; expected a number from 0 to 2"),
        ({"temperature": True}, "'temperature' is true"),
        ({"temperature": 3}, "'temperature' is 3.0"),
        ({"max_tokens": 1}, "'max_tokens' is 1; expected a whole number of at least 16"),
        ({"timeout_seconds": 0}, "'timeout_seconds' is 0.0"),
        ({"retries": -1}, "'retries' is -1"),
        ({"concurrency": 0}, "'concurrency' is 0"),
        ({"ask_again": 9}, "'ask_again' is 9"),
        ({"cache": ""}, "'cache' is ''; expected the path of a file"),
        ({"max_cost_usd": 0, **PRICED}, "'max_cost_usd' is 0.0"),
        ({"max_cost_usd": 1}, "'max_cost_usd' cannot be kept, for the price of openai/m is not known"),
        ({"max_cost_usd": 1, "input_usd_per_million": 1}, "cannot be kept"),
        ({"ensemble": 1}, "'ensemble' is 1; expected a whole number from 2 to 15, or a list"),
        ({"ensemble": True}, "'ensemble' is true"),
        ({"ensemble": [{}]}, "'ensemble' is a list of 1"),
        ({"ensemble": ["a", "b"]}, "ensemble, member 1: expected a map"),
        ({"ensemble": [{}, {"modle": "x"}]}, "ensemble, member 2: there is no key 'modle'; did you mean 'model'?"),
        ({"ensemble": [{}, {"retries": 1}]}, "ensemble, member 2: there is no key 'retries'"),
        ({"ensemble": [{}, {"provider": "anthropic"}]}, "member 2: another provider needs a 'model' of its own"),
    ],
)
def test_mistakes_are_named(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match="'") as caught:
        JudgeConfig.from_mapping({**BASE, **given})
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "address",
    ["http://user:secretpw@host/v1", "https://secretpw@host", "user:secretpw@host/v1", "http://u:secretpw@h?x"],
)
@pytest.mark.parametrize("member", [False, True])
def test_an_address_holds_no_password_and_the_message_tells_none(address: str, member: bool) -> None:
    given = {"ensemble": [{}, {"base_url": address}]} if member else {"base_url": address}
    with pytest.raises(ValueError, match="keys belong in the environment") as caught:
        JudgeConfig.from_mapping({**BASE, **given})
    assert "secretpw" not in str(caught.value)


@pytest.mark.parametrize("address", ["http://host/v1/@me", "http://host?x=a@b", "https://host:8080#@"])
def test_an_at_sign_behind_the_host_is_no_password(address: str) -> None:
    assert JudgeConfig.from_mapping({**BASE, "base_url": address}).base_url == address


def test_every_mistake_is_told_at_once() -> None:
    with pytest.raises(ValueError, match="modle") as caught:
        JudgeConfig.from_mapping({"modle": "x", "retries": "many"})
    assert len(str(caught.value).splitlines()) == 4


def test_the_plain_constructor_refuses_the_same() -> None:
    with pytest.raises(ValueError, match="cannot be kept"):
        JudgeConfig(provider="openai", model="m", max_cost_usd=1.0)


def test_a_number_asks_the_same_model_several_times() -> None:
    members = JudgeConfig.from_mapping({**BASE, "ensemble": 3}).members
    assert [(member.model, member.sample) for member in members] == [("m", 0), ("m", 1), ("m", 2)]


def test_equal_members_are_numbered_and_different_ones_are_not() -> None:
    given = [{}, {"model": "other"}, {"temperature": 0.0}, {"model": "other"}]
    members = JudgeConfig.from_mapping({**BASE, "ensemble": given}).members
    assert [(member.model, member.sample) for member in members] == [("m", 0), ("other", 0), ("m", 1), ("other", 1)]


def test_what_belongs_to_another_model_or_address_is_not_inherited() -> None:
    base = {**BASE, **PRICED, "base_url": "http://a/v1", "api_key_env": "KEY_A", "temperature": 0.5}
    given = [{}, {"model": "n"}, {"base_url": "http://b/v1"}, {"provider": "anthropic", "model": "c"}]
    same, model, address, provider = JudgeConfig.from_mapping({**base, "ensemble": given}).members
    assert same.prices == (1e-6, 2e-6)
    assert (model.prices, model.api_key_env, model.base_url) == (None, "KEY_A", "http://a/v1")
    assert (address.prices, address.api_key_env, address.model) == (None, None, "m")
    assert (provider.prices, provider.api_key_env, provider.base_url) == (None, None, None)
    assert {member.temperature for member in (same, model, address, provider)} == {0.5}


def test_a_cap_needs_the_price_of_every_member() -> None:
    given = {**BASE, **PRICED, "max_cost_usd": 1, "ensemble": [{}, {"model": "n"}]}
    with pytest.raises(ValueError, match="the price of openai/n is not known"):
        JudgeConfig.from_mapping(given)
    priced = {**given, "ensemble": [{}, {"model": "n", **PRICED}]}
    assert JudgeConfig.from_mapping(priced).max_cost_usd == 1.0


def test_a_cap_may_rest_on_the_members_own_prices() -> None:
    members = [{"model": "a", **PRICED}, {"model": "b", **PRICED}]
    assert JudgeConfig.from_mapping({**BASE, "max_cost_usd": 1, "ensemble": members}).max_cost_usd == 1.0
