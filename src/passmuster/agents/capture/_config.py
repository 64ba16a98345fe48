"""`agent.capture` of a suite: where to look for what an agent does."""

from collections.abc import Iterator
from typing import Annotated, Literal

from passmuster.suite import (
    PATH,
    Choice,
    Custom,
    Definitions,
    Either,
    JsonSchema,
    Key,
    Mapping,
    Mistake,
    Node,
    OneOrMore,
    Reader,
    Record,
    RecordOf,
    Whole,
    address_of_api,
    limited,
)

Source = Literal["opentelemetry", "model_api", "returned"]
Tape = Literal["record", "replay", "replay-or-record"]

SOURCES: tuple[Source, ...] = ("opentelemetry", "model_api", "returned")

_ADDRESS = address_of_api("the agent's own key is passed on, and no other is needed")
_SOURCES = OneOrMore(Choice(*SOURCES))
_SECONDS = limited("a number of seconds from 0 to 600", {"minimum": 0, "maximum": 600}, lambda value: 0 <= value <= 600)


class CaptureConfig(Record, frozen=True, kw_only=True):
    """How what the agent does is captured."""

    sources: Annotated[
        tuple[Source, ...],
        _SOURCES,
        Key(
            "What has to arrive: `opentelemetry`, `model_api` (requests to OpenAI and Anthropic), `returned` (messages "
            "or steps in what the agent returns). By default whatever arrives counts.",
            name="from",
            example=["opentelemetry"],
        ),
    ] = ()
    grace: Annotated[
        float,
        _SECONDS,
        Key("How long to wait, in seconds, for spans that are missing when a run has ended.", example=5),
    ] = 5.0
    port: Annotated[
        int | None,
        Whole(1, 65_535),
        Key("A fixed port on 127.0.0.1, for an agent that is started elsewhere (`http`).", example=4318),
    ] = None
    openai: Annotated[
        str | None,
        _ADDRESS,
        Key(
            "Where requests to OpenAI's API are passed on to; by default `OPENAI_BASE_URL`, or OpenAI.",
            example="http://localhost:11434/v1",
        ),
    ] = None
    anthropic: Annotated[
        str | None,
        _ADDRESS,
        Key("Where requests to Anthropic's API are passed on to; by default `ANTHROPIC_BASE_URL`, or Anthropic."),
    ] = None
    cassette: Annotated[
        str | None,
        PATH,
        Key("A file with the requests and answers of the model's API.", example="cassettes/support.jsonl"),
    ] = None
    tape: Annotated[
        Tape,
        Choice("record", "replay", "replay-or-record"),
        Key("What to do with the cassette.", needs="cassette", example="replay"),
    ] = "replay"

    def mistakes(self, map_: Mapping) -> Iterator[Mistake]:
        """A cassette is a recording of the model's API."""
        if self.cassette and self.sources and "model_api" not in self.sources:
            yield map_.entries["cassette"], "'cassette' means nothing where 'from' does not have model_api"


def _read_sources(reader: Reader, node: Node, at: str) -> CaptureConfig:
    return CaptureConfig(sources=_SOURCES.read(reader, node, at))


def _sources_schema(definitions: Definitions) -> JsonSchema:
    return _SOURCES.schema(definitions)


_LISTED = Custom("where from", _read_sources, _sources_schema)

CAPTURE = Either(
    "a source, a list of sources, or a map", scalar=_LISTED, list=_LISTED, map=RecordOf(CaptureConfig, "a map")
)
"""The value type of `agent.capture`."""
