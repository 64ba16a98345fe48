"""`judge_config`: what is read, what is refused, and what a member of an ensemble inherits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.suite.suite_files import problems

from passmuster.judges._asking import Judges
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
        ({"modle": "x"}, "judge_config: unknown key 'modle'; did you mean 'model'?"),
        ({"zzz": 1}, "judge_config: unknown key 'zzz'; known: provider, model,"),
        ({"ensembel": 3}, "did you mean 'ensemble'?"),
        (
            {"provider": "mistral"},
            ".provider: expected one of anthropic, openai, found a string ('mistral')",
        ),
        ({"model": ""}, ".model: is empty"),
        ({"model": [4]}, ".model: expected a string, found a list"),
        (
            {"base_url": "localhost:11434"},
            ".base_url: expected an address such as http://localhost",
        ),
        (
            {"temperature": "0"},
            ".temperature: expected a number from 0 to 2, or null",
        ),
        (
            {"temperature": True},
            ".temperature: expected a number from 0 to 2, or null",
        ),
        (
            {"temperature": 3},
            ".temperature: expected a number from 0 to 2, or null",
        ),
        ({"max_tokens": 1}, ".max_tokens: expected a whole number of 16 or more, found a number ('1')"),
        (
            {"timeout_seconds": 0},
            ".timeout_seconds: expected a number of seconds above 0, found a number ('0')",
        ),
        ({"retries": -1}, ".retries: expected a whole number from 0 to 20, found a number ('-1')"),
        ({"concurrency": 0}, ".concurrency: expected a whole number from 1 to 256, found a number ('0')"),
        ({"ask_again": 9}, ".ask_again: expected a whole number from 0 to 5, found a number ('9')"),
        ({"cache": ""}, ".cache: is empty"),
        (
            {"max_cost_usd": 0, **PRICED},
            ".max_cost_usd: expected an amount in dollars above 0, found a number ('0')",
        ),
        ({"max_cost_usd": 1}, "'max_cost_usd' cannot be enforced, because the price of openai/m is not known"),
        ({"max_cost_usd": 1, "input_usd_per_million": 1}, "cannot be enforced"),
        (
            {"ensemble": 1},
            "or a list of at least two members, found a number",
        ),
        (
            {"ensemble": True},
            "or a list of at least two members, found a boolean",
        ),
        (
            {"ensemble": [{}]},
            "or a list of at least two members, found a list",
        ),
        ({"ensemble": ["a", "b"]}, ".ensemble[0]: expected a map, found a string ('a')"),
        ({"ensemble": [{}, {"modle": "x"}]}, ".ensemble[1]: unknown key 'modle'; did you mean 'model'?"),
        ({"ensemble": [{}, {"retries": 1}]}, ".ensemble[1]: unknown key 'retries'"),
        (
            {"ensemble": [{}, {"provider": "anthropic"}]},
            ".ensemble[1]: another provider needs a 'model' of its own",
        ),
    ],
)
def test_mistakes_are_named(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match="judge_config") as caught:
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


def test_judges_refuse_a_cap_that_cannot_be_kept() -> None:
    with pytest.raises(ValueError, match="cannot be enforced"):
        Judges(JudgeConfig(provider="openai", model="m", max_cost_usd=1.0), "live", None)


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


def test_mistakes_are_told_at_their_place_with_all_others_of_the_file(tmp_path: Path) -> None:
    text = """\
judge_config:
  provider: openai
  model: m
  retries: 99
  ensemble: [{}, {modle: x}]
  cache: ../../verdicts.jsonl
tests: [{id: t, metric: tool_blocklist, blocklist: [x], severity: loud}]
"""
    found = problems(tmp_path, text)
    assert [problem.split(": ")[0].split(":", 1)[1] for problem in found] == ["4:12", "5:19", "6:10", "7:67"]
    assert "judge_config.retries: expected a whole number from 0 to 20" in found[0]
    assert "judge_config.cache: '../../verdicts.jsonl' is outside the root" in found[2]
