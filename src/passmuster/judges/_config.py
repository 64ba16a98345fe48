"""Who is asked, how patiently, and for how much money: `judge_config` of a suite."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct

from passmuster._problems import did_you_mean

__all__ = ["JudgeConfig", "Member", "Provider"]

Provider = Literal["anthropic", "openai"]

ADDRESSES: Mapping[Provider, str] = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com/v1",
}
KEY_VARIABLES: Mapping[Provider, str] = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}

_PRICES = ("input_usd_per_million", "output_usd_per_million")


class Member(Struct, frozen=True, kw_only=True):
    """One judge: a model at an address, and how it is asked. An ensemble has several."""

    provider: Provider
    model: str
    base_url: str | None = None
    api_key_env: str | None = None
    temperature: float | None = 0.0
    """`None` sends none, for models that take no temperature."""
    max_tokens: int = 1024
    structured: bool = True
    """Whether the form of the answer is demanded through the interface; it is always demanded in words."""
    input_usd_per_million: float | None = None
    output_usd_per_million: float | None = None
    sample: int = 0
    """Which of several equal members this is: each of them is asked, and remembered, for itself."""

    @property
    def address(self) -> str:
        """Where it is reached. Never taken from the environment: another address is another judge."""
        return self.base_url or ADDRESSES[self.provider]

    @property
    def name(self) -> str:
        """How messages call it."""
        return f"{self.provider}/{self.model}"

    @property
    def prices(self) -> tuple[float, float] | None:
        """Dollars for one token read and one written, if both are known."""
        if self.input_usd_per_million is None or self.output_usd_per_million is None:
            return None
        return self.input_usd_per_million / 1e6, self.output_usd_per_million / 1e6


class JudgeConfig(Struct, frozen=True, kw_only=True):
    """How a suite's questions are answered. A wrong value raises `ValueError` and says what is expected."""

    provider: Provider
    model: str
    base_url: str | None = None
    api_key_env: str | None = None
    temperature: float | None = 0.0
    max_tokens: int = 1024
    structured: bool = True
    input_usd_per_million: float | None = None
    output_usd_per_million: float | None = None
    timeout_seconds: float = 60.0
    """For one attempt, from the request to the last byte of the answer."""
    retries: int = 4
    """Further attempts after a refusal that may pass: 429, 5xx, a time-out, a lost connection."""
    backoff_seconds: float = 0.5
    """The wait before the first of them; it doubles each time."""
    ask_again: int = 1
    """How often an answer that is no verdict is asked for again."""
    concurrency: int = 8
    max_cost_usd: float | None = None
    ensemble: tuple[Member, ...] = ()
    cache: str | None = None
    require_calibration: bool = False
    """Without a valid calibration, judges can only warn."""
    calibration: str | None = None

    def __post_init__(self) -> None:
        problems = [*_bounds(self), *_member_bounds(self.members)]
        if self.max_cost_usd is not None:
            problems += [_unpriced(member) for member in self.members if member.prices is None]
        if problems:
            raise ValueError("\n".join(dict.fromkeys(problems)))

    @property
    def members(self) -> tuple[Member, ...]:
        """Those who are asked, in the order in which they are configured."""
        return self.ensemble or (_only(self),)

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> JudgeConfig:
        """The configuration that a suite writes, or a `ValueError` with one line for each mistake."""
        problems: list[str] = []
        plain = {key: value for key, value in given.items() if key != "ensemble"}
        values = _typed(plain, _CONFIG_TYPES, "", problems)
        for key in ("provider", "model"):
            if key not in given:
                problems.append(f"'{key}' is missing; {_EXPECTED[key]}")
        if problems:
            raise ValueError("\n".join(problems))
        # Whether the cap can be kept is for the members to say, who may bring prices of their own.
        uncapped = cls(**{key: value for key, value in values.items() if key != "max_cost_usd"})
        members = _ensemble(given.get("ensemble"), _only(uncapped), problems)
        if problems:
            raise ValueError("\n".join(problems))
        return cls(**values, ensemble=members)


_MEMBER_TYPES: dict[str, Any] = {
    "provider": Provider,
    "model": str,
    "base_url": str | None,
    "api_key_env": str | None,
    "temperature": float | None,
    "max_tokens": int,
    "structured": bool,
    "input_usd_per_million": float | None,
    "output_usd_per_million": float | None,
}
_CONFIG_TYPES: dict[str, Any] = {
    **_MEMBER_TYPES,
    "timeout_seconds": float,
    "retries": int,
    "backoff_seconds": float,
    "ask_again": int,
    "concurrency": int,
    "max_cost_usd": float | None,
    "cache": str | None,
    "require_calibration": bool,
    "calibration": str | None,
}
_EXPECTED = {
    "provider": "expected anthropic or openai (which also speaks to any OpenAI-compatible base_url)",
    "model": "expected the name of a model",
    "base_url": "expected an address such as http://localhost:11434/v1",
    "api_key_env": "expected the name of the environment variable that holds the key",
    "temperature": "expected a number from 0 to 2, or null for models that take none",
    "max_tokens": "expected a whole number of at least 16",
    "structured": "expected true or false",
    "input_usd_per_million": "expected the price of a million input tokens in dollars",
    "output_usd_per_million": "expected the price of a million output tokens in dollars",
    "timeout_seconds": "expected a number of seconds above 0",
    "retries": "expected a whole number from 0 to 20",
    "backoff_seconds": "expected a number of seconds, 0 or more",
    "ask_again": "expected a whole number from 0 to 5",
    "concurrency": "expected a whole number from 1 to 256",
    "max_cost_usd": "expected an amount in dollars above 0",
    "cache": "expected the path of a file",
    "require_calibration": "expected true or false",
    "calibration": "expected the path of a file",
    "ensemble": "expected a whole number from 2 to 15, or a list of at least two members",
}


def _only(config: JudgeConfig) -> Member:
    return Member(**{key: getattr(config, key) for key in _MEMBER_TYPES})


def _typed(given: Mapping[str, Any], types: Mapping[str, Any], place: str, problems: list[str]) -> dict[str, Any]:
    """The values that have their type; what is wrong with the others goes to `problems`."""
    values: dict[str, Any] = {}
    known = [*types, "ensemble"] if types is _CONFIG_TYPES else list(types)
    for key, value in given.items():
        if key not in types:
            hint = did_you_mean(str(key), known) or f"; known: {', '.join(known)}"
            problems.append(f"{place}there is no key '{key}'{hint}")
            continue
        try:
            values[key] = msgspec.convert(value, types[key])
        except msgspec.ValidationError:
            problems.append(f"{place}'{key}' is {_shown(value)}; {_EXPECTED[key]}")
    return values


def _ensemble(given: Any, base: Member, problems: list[str]) -> tuple[Member, ...]:
    """The members that an ensemble names, each with what it does not say itself taken from the judge above it."""
    if given is None:
        return ()
    if isinstance(given, int) and not isinstance(given, bool) and 2 <= given <= 15:
        return _numbered([base] * given)
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) < 2:
        problems.append(f"'ensemble' is {_shown(given)}; {_EXPECTED['ensemble']}")
        return ()
    members: list[Member] = []
    for number, entry in enumerate(given, 1):
        place = f"ensemble, member {number}: "
        if not isinstance(entry, Mapping):
            problems.append(f"{place}expected a map such as {{model: …}}, found {_shown(entry)}")
            continue
        members += _member(_typed(entry, _MEMBER_TYPES, place, problems), base, place, problems)
    return _numbered(members)


def _member(own: dict[str, Any], base: Member, place: str, problems: list[str]) -> list[Member]:
    """The base with a member's own values. What belongs to another model or address is not inherited."""
    other_provider = own.get("provider", base.provider) != base.provider
    other_address = other_provider or own.get("base_url", base.base_url) != base.base_url
    if other_provider and "model" not in own:
        problems.append(f"{place}another provider needs a 'model' of its own")
        return []
    dropped: dict[str, Any] = {}
    if other_address or own.get("model", base.model) != base.model:
        dropped |= dict.fromkeys(_PRICES)
    if other_address:
        dropped["api_key_env"] = None
    if other_provider:
        dropped["base_url"] = None
    return [msgspec.structs.replace(base, **{**dropped, **own})]


def _numbered(members: Sequence[Member]) -> tuple[Member, ...]:
    seen: dict[Member, int] = {}
    numbered = []
    for member in members:
        sample = seen[member] = seen.get(member, -1) + 1
        numbered.append(msgspec.structs.replace(member, sample=sample))
    return tuple(numbered)


def _bounds(config: JudgeConfig) -> list[str]:
    holds = {
        "timeout_seconds": 0 < config.timeout_seconds < math.inf,
        "retries": 0 <= config.retries <= 20,
        "backoff_seconds": 0 <= config.backoff_seconds < math.inf,
        "ask_again": 0 <= config.ask_again <= 5,
        "concurrency": 1 <= config.concurrency <= 256,
        "max_cost_usd": config.max_cost_usd is None or 0 < config.max_cost_usd < math.inf,
        "ensemble": len(config.ensemble) != 1,
        "cache": config.cache != "",
        "calibration": config.calibration != "",
    }
    return _broken(config, holds)


def _member_bounds(members: Sequence[Member]) -> list[str]:
    problems: list[str] = []
    for member in members:
        holds = {
            "provider": member.provider in get_args(Provider),
            "model": bool(member.model.strip()),
            "base_url": member.base_url is None or member.base_url.startswith(("http://", "https://")),
            "api_key_env": member.api_key_env is None or bool(member.api_key_env.strip()),
            "temperature": member.temperature is None or 0 <= member.temperature <= 2,
            "max_tokens": member.max_tokens >= 16,
            **{key: _is_price(getattr(member, key)) for key in _PRICES},
        }
        if member.base_url is not None and _has_user(member.base_url):
            del holds["base_url"]  # or the message would tell the password
            problems.append(_USER)
        problems += _broken(member, holds)
    return problems


_USER = (
    "'base_url' holds a user or a password, which would be kept wherever the address is; keys belong in the "
    "environment: name the variable as 'api_key_env'"
)


def _has_user(address: str) -> bool:
    """Whether something stands before the host: `http://user:password@host`."""
    return "@" in re.split(r"[/?#]", address.partition("://")[2] or address, maxsplit=1)[0]


def _broken(values: Struct, holds: Mapping[str, bool]) -> list[str]:
    return [f"'{key}' is {_shown(getattr(values, key))}; {_EXPECTED[key]}" for key, held in holds.items() if not held]


def _is_price(price: float | None) -> bool:
    return price is None or 0 <= price < math.inf


def _unpriced(member: Member) -> str:
    return (
        f"'max_cost_usd' cannot be kept, for the price of {member.name} is not known: "
        f"give its {_PRICES[0]} and {_PRICES[1]}"
    )


def _shown(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (Mapping, list, tuple)):
        return "a map" if isinstance(value, Mapping) else f"a list of {len(value)}"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
