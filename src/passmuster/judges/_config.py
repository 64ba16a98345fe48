"""`judge_config` of a suite: which model is asked, how patiently, and for how much money."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from msgspec import field, structs

from passmuster.suite import (
    AMOUNT,
    BOOLEAN,
    PATH,
    TEXT,
    Choice,
    Custom,
    Definitions,
    JsonSchema,
    Key,
    Node,
    Reader,
    Record,
    Scalar,
    Sequence,
    Suite,
    Unread,
    Whole,
    address_of_api,
    fields_of,
    key_schema,
    limited,
    node_of,
    object_schema,
    read_record,
)
from passmuster.suite import Mapping as MappingNode

Provider = Literal["anthropic", "openai"]

ADDRESSES: Mapping[Provider, str] = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com/v1",
}
KEY_VARIABLES: Mapping[Provider, str] = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}

_PRICES = ("input_usd_per_million", "output_usd_per_million")
_ENSEMBLE = "a whole number from 2 to 15, or a list of at least two members"


def _read_temperature(reader: Reader, node: Node, at: str) -> float | None:
    is_null = isinstance(node, Scalar) and node.value is None
    return None if is_null else _TEMPERATURE.read(reader, node, at)


ADDRESS = address_of_api("keys belong in the environment: name the variable as 'api_key_env'")
_TEMPERATURE = limited(
    "a number from 0 to 2, or null for models that take none",
    {"minimum": 0, "maximum": 2},
    lambda value: 0 <= value <= 2,
)
TEMPERATURE = Custom(
    "a number from 0 to 2, or null", _read_temperature, {"type": ["number", "null"], "minimum": 0, "maximum": 2}
)
DOLLARS = limited("an amount in dollars above 0", {"exclusiveMinimum": 0}, lambda value: value > 0)
SECONDS = limited("a number of seconds above 0", {"exclusiveMinimum": 0}, lambda value: value > 0)


class Member(Record, frozen=True, kw_only=True):
    """One judge: a model at an address, and how it is asked. An ensemble has several."""

    provider: Annotated[
        Provider,
        Choice("anthropic", "openai"),
        Key("The API; `openai` also for any server with an OpenAI-compatible chat completions API."),
    ]
    model: Annotated[str, TEXT, Key("The model's name.", example="gpt-4.1-mini")]
    base_url: Annotated[
        str | None,
        ADDRESS,
        Key(
            "An address other than the vendor's, without user and password. Addresses in the environment "
            "(`OPENAI_BASE_URL`) are not read: another address is another judge.",
            example="http://localhost:11434/v1",
        ),
    ] = None
    api_key_env: Annotated[
        str | None,
        TEXT,
        Key(
            "The variable that holds the key, if not `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`. At a `base_url` of your "
            "own a key is needed only if you name its variable."
        ),
    ] = None
    temperature: Annotated[float | None, TEMPERATURE, Key("`null` sends none, for models without this setting.")] = 0.0
    max_tokens: Annotated[int, Whole(16), Key("The longest reply in tokens, thinking included.")] = 1024
    structured: Annotated[
        bool,
        BOOLEAN,
        Key(
            "Whether the interface enforces the form of the reply (a forced tool, a JSON schema). `false` for servers "
            "that refuse it; the prompt asks for the form either way."
        ),
    ] = True
    input_usd_per_million: Annotated[float | None, AMOUNT, Key("The price of a million input tokens.")] = None
    output_usd_per_million: Annotated[float | None, AMOUNT, Key("The price of a million output tokens.")] = None
    sample: int = 0
    """Which of several equal members this is: each of them is asked, and remembered, for itself."""

    @property
    def address(self) -> str:
        """Where it is reached. Never taken from the environment: another address is another judge."""
        return self.base_url or ADDRESSES[self.provider]

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that could change its verdicts."""
        names = ("provider", "model", "max_tokens", "structured", "sample")
        return {
            **{name: getattr(self, name) for name in names},
            "address": self.address.rstrip("/"),
            "temperature": None if self.temperature is None else float(self.temperature),
        }

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


def _ensemble_schema(definitions: Definitions) -> JsonSchema:
    keys = {name: key_schema(field, definitions) for name, field in fields_of(Member).items()}
    member = {"type": "object", "properties": keys, "patternProperties": {"^x-": {}}, "additionalProperties": False}
    return {
        "anyOf": [
            {"type": "integer", "minimum": 2, "maximum": 15},
            {"type": "array", "items": member, "minItems": 2},
        ]
    }


def _read_cache(reader: Reader, node: Node, at: str) -> str | bool:
    if isinstance(node, Scalar) and isinstance(node.value, bool):
        return node.value
    return PATH.read(reader, node, at)


class JudgeConfig(Member, frozen=True, kw_only=True):
    """Which model judges what code cannot decide, how patiently it is asked, and for how much money."""

    timeout_seconds: Annotated[float, SECONDS, Key("Time limit of one attempt, including the whole reply.")] = 60.0
    retries: Annotated[
        int,
        Whole(0, 20),
        Key("Further attempts after 408, 429, 5xx, a timeout or a lost connection. Other errors are final."),
    ] = 4
    backoff_seconds: Annotated[
        float,
        AMOUNT,
        Key("The wait before the first retry. It doubles, is randomized, and is added to `Retry-After`."),
    ] = 0.5
    ask_again: Annotated[int, Whole(0, 5), Key("How often to ask again after a reply that is not a verdict.")] = 1
    concurrency: Annotated[int, Whole(1, 256), Key("The number of concurrent requests.")] = 8
    max_cost_usd: Annotated[
        float | None, DOLLARS, Key("The spending cap of a run; needs both prices.", example=2.0)
    ] = None
    ensemble: Annotated[
        tuple[Member, ...],
        Unread(Custom(_ENSEMBLE, lambda reader, node, at: (), _ensemble_schema)),
        Key("Several judges whose median counts: a number, or what differs for each.", example=3),
    ] = ()
    cache: Annotated[
        str | bool,
        Custom("the path of a file, or false", _read_cache, {"anyOf": [{"type": "string"}, {"type": "boolean"}]}),
        Key(
            "The file of cached verdicts, within the root; by default `.passmuster/judge-cache.jsonl` under it. "
            "`false`: no cache.",
            example="verdicts.jsonl",
        ),
    ] = True
    require_calibration: Annotated[bool, BOOLEAN, Key("Without a valid calibration, judges can only warn.")] = False
    calibration: Annotated[
        str | None,
        PATH,
        Key("The calibration file within the root, if not `judge-calibration.json` beside the suite."),
    ] = None
    lines: dict[str, int] = field(default_factory=dict)
    """The line of each key, where it was read from a suite."""

    @property
    def members(self) -> tuple[Member, ...]:
        """Those who are asked, in the order in which they are configured."""
        return self.ensemble or (Member(**{name: getattr(self, name) for name in _MEMBER}),)

    def unpriced(self) -> Iterator[str]:
        """Why `max_cost_usd` cannot be kept."""
        for member in self.members if self.max_cost_usd is not None else ():
            if member.prices is None:
                yield (
                    f"'max_cost_usd' cannot be enforced, because the price of {member.name} is not known: "
                    f"give its {_PRICES[0]} and {_PRICES[1]}"
                )

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> "JudgeConfig":
        """The configuration that a suite would write so. Raises `ValueError` with one line for each mistake."""
        reader = Reader("")
        config = _read_config(reader, node_of(given), "judge_config")
        if config is None or reader.problems:
            raise ValueError("\n".join(problem.message for problem in reader.problems))
        return structs.replace(config, lines={})


_MEMBER = fields_of(Member)


def _read_config(reader: Reader, node: Node, at: str) -> JudgeConfig | None:
    config = read_record(JudgeConfig, reader, node, at)
    if config is None or not isinstance(node, MappingNode):
        return None
    if "temperature" in node and _read_temperature(Reader(""), node.entries["temperature"].value, "") is None:
        config = structs.replace(config, temperature=None)
    ensemble = node.get("ensemble")
    config = structs.replace(config, ensemble=())
    if ensemble is not None:
        members = _read_members(reader, ensemble, config.members[0], f"{at}.ensemble")
        config = structs.replace(config, ensemble=members)
    for message in dict.fromkeys(config.unpriced()):
        reader.problem(node.entries["max_cost_usd"], f"{at}: {message}")
    return config


def _read_members(reader: Reader, node: Node, base: Member, at: str) -> tuple[Member, ...]:
    """The members of an ensemble, each with what it does not say itself taken from the judge above it."""
    number = node.value if isinstance(node, Scalar) else None
    if isinstance(number, int) and not isinstance(number, bool) and 2 <= number <= 15:
        return _numbered([base] * number)
    if not isinstance(node, Sequence) or len(node.items) < 2:
        reader.expected(_ENSEMBLE, node, at)
        return ()
    members = []
    for place, item in enumerate(node.items):
        map_ = reader.mapping(item, f"{at}[{place}]", tuple(_MEMBER))
        own = {
            entry.key: _MEMBER[entry.key].value.read(reader, entry.value, f"{at}[{place}].{entry.key}")
            for entry in map_
            if entry.key in _MEMBER
        }
        if own.get("provider", base.provider) != base.provider and "model" not in own:
            reader.problem(item, f"{at}[{place}]: another provider needs a 'model' of its own")
        members.append(_member(own, base))
    return _numbered(members)


def _member(own: dict[str, Any], base: Member) -> Member:
    """The base with a member's own values. What belongs to another model or address is not inherited."""
    other_provider = own.get("provider", base.provider) != base.provider
    other_address = other_provider or own.get("base_url", base.base_url) != base.base_url
    dropped: dict[str, Any] = {}
    if other_address or own.get("model", base.model) != base.model:
        dropped |= dict.fromkeys(_PRICES)
    if other_address:
        dropped["api_key_env"] = None
    if other_provider:
        dropped["base_url"] = None
    return structs.replace(base, **{**dropped, **own})


def _numbered(members: list[Member]) -> tuple[Member, ...]:
    seen: dict[Member, int] = {}
    numbered = []
    for member in members:
        sample = seen[member] = seen.get(member, -1) + 1
        numbered.append(structs.replace(member, sample=sample))
    return tuple(numbered)


JUDGE_CONFIG = Custom(
    "a map",
    _read_config,
    lambda definitions: definitions.ref("JudgeConfig", lambda: object_schema(JudgeConfig, definitions)),
)


def config_of(suite: Suite) -> JudgeConfig | None:
    """What the suite says in `judge_config`."""
    assert suite.judge_config is None or isinstance(suite.judge_config, JudgeConfig)
    return suite.judge_config
