"""What an agent did once: a `Trace` and its parts.

A *step* is a model call, a tool call, a handoff or a message. A tool call counts once, whether it was recorded as a
request, an execution or both: readers pair results with calls before a `Trace` exists. A call whose result was never
recorded has an unknown result, which is not a failure; a call with an `error` is an attempt, not a success.

Results stay JSON text until they are asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Raw, Struct, field

Amount = Annotated[float, Meta(ge=0)]
Count = Annotated[int, Meta(ge=0)]
Key = str | int

_LARGEST = sys.float_info.max
_decode = msgspec.json.Decoder().decode


def decoded(raw: Raw) -> Any:
    """The value of JSON text that was kept undecoded; None for empty text."""
    if not raw:
        return None
    try:
        return _decode(raw)
    except msgspec.ValidationError:  # a number no double can hold, such as 1e400, which `json` reads as infinite
        import json  # late, for few runs need it

        return json.loads(bytes(raw), parse_int=_whole)


def _whole(digits: str) -> float:
    try:
        return int(digits)
    except ValueError:  # more digits than Python is willing to convert
        return float(digits)


def oversized_numbers(value: Any) -> Iterator[tuple[str | int, ...]]:
    """The path of each number in a decoded JSON value that no double can hold: `1e400`, or an integer of 400 digits."""
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), [value])]
    while waiting:
        path, inner = waiting.pop()
        for key, item in inner.items() if type(inner) is dict else enumerate(inner):
            kind = type(item)
            if kind is dict or kind is list:
                waiting.append(((*path, key), item))
            elif (kind is float or kind is int) and not -_LARGEST <= item <= _LARGEST and item == item:
                yield (*path, key)[1:]


class LlmCall(Struct, frozen=True, gc=False, tag_field="type", tag="llm_call"):
    """One call of a model."""

    model: Annotated[str | None, Meta(description="The model that was called.")] = None
    tokens_in: Annotated[Count | None, Meta(description="Tokens sent to the model.")] = None
    tokens_out: Annotated[Count | None, Meta(description="Tokens the model produced.")] = None
    cost_usd: Annotated[Amount | None, Meta(description="What the call cost, in US dollars.")] = None
    duration_ms: Annotated[Amount | None, Meta(description="How long it took, in milliseconds.")] = None
    id: Annotated[Key | None, Meta(description="What other steps call this one in their `parent`.")] = None
    parent: Annotated[Key | None, Meta(description="The id of the step it ran inside.")] = None


class ToolCall(Struct, frozen=True, gc=False, tag_field="type", tag="tool_call"):
    """One call of a tool, with its result."""

    tool: str
    id: Key | None = None
    arguments: Any = None
    """A dict, unless the agent sent something else."""
    result_json: Raw = field(default=Raw(), name="result")
    error: Any = None
    duration_ms: Amount | None = None
    group: Key | None = None
    """Calls made in parallel share a group."""
    parent: Key | None = None

    @property
    def result(self) -> Any:
        """The result, decoded; None where none was recorded."""
        return decoded(self.result_json)

    @property
    def failed(self) -> bool:
        """Whether the call is recorded as failed."""
        return bool(self.error)


class ToolResult(Struct, frozen=True, gc=False, tag_field="type", tag="tool_result"):
    """A result recorded apart from its call, which it is joined to."""

    id: Annotated[Key | None, Meta(description="The id of the call it belongs to.")] = None
    tool: Annotated[str | None, Meta(description="The tool it came from.")] = None
    result_json: Annotated[Raw, Meta(description="What the tool returned.")] = field(default_factory=Raw, name="result")
    error: Annotated[Any, Meta(description="Why the call failed, as in a tool_call.")] = None
    duration_ms: Annotated[Amount | None, Meta(description="How long the call took, in milliseconds.")] = None


class Handoff(Struct, frozen=True, gc=False, tag_field="type", tag="handoff"):
    """One agent passing the task to another."""

    to: Annotated[str, Meta(description="The agent that takes over.")]
    from_: Annotated[str | None, Meta(description="The agent that hands over.")] = field(default=None, name="from")


class Message(Struct, frozen=True, gc=False, tag_field="type", tag="message"):
    """Something said by the user, the agent or the system."""

    role: Annotated[str, Meta(description="Who says it: user, assistant, system, …")]
    content: Annotated[Any, Meta(description='A string, or a list of parts with a "text".')] = None

    @property
    def text(self) -> str | None:
        """The text of the message, whether its content is a string or a list of parts."""
        if isinstance(self.content, list):
            parts = [part.get("text") for part in self.content if isinstance(part, dict)]
            return "".join(part for part in parts if isinstance(part, str))
        return self.content if isinstance(self.content, str) else None


Step = LlmCall | ToolCall | Handoff | Message
AnyStep = LlmCall | ToolCall | ToolResult | Handoff | Message


class Agent(Struct, frozen=True):
    """The agent that acted."""

    name: str | None = None
    version: str | None = None


class Fault(Struct, frozen=True):
    """Why the agent did not finish: its own failure, or that of the infrastructure."""

    message: str
    kind: Literal["agent", "infra"] = "agent"


class Place(Struct, frozen=True):
    """Where a step is: the record it came from, and its index there (-1 where the step is the record)."""

    offset: int
    line: int
    index: int = -1


class Origin(Struct, frozen=True):
    """Where a trace is in its source. Line numbers are computed later, for what is reported (`_locate`)."""

    file: str = ""
    """How reports name the file."""
    path: str = ""
    """Where it really is."""
    offset: int = 0
    """Byte offset of the record that the trace was read from."""
    part: int = 0
    """Byte offset at which the part of the file begins that was read in one go."""
    line: int = 0
    """The record's line in its part, from 1; 0 where a record is not a line."""
    step_places: tuple[Place, ...] | None = None
    """The place of each step, where it is not simply the step's index in the record."""
    steps_key: str = "steps"
    """The key of the record under which its steps are listed."""


class Trace(Struct, frozen=True, dict=True, kw_only=True):
    """What an agent did once."""

    steps: tuple[AnyStep, ...] = ()
    """What happened, in the recorded order. Readers leave no `ToolResult` among them."""
    trace_id: str | None = None
    scenario: str | None = None
    query: str | None = None
    answer: str | None = None
    run: int | None = None
    agent: Agent | str | None = None
    total_tokens: Count | None = None
    total_llm_calls: Count | None = None
    total_duration_ms: Amount | None = None
    total_cost_usd: Amount | None = None
    behaviors: list[str] | dict[str, bool] | None = None
    tags: tuple[str, ...] = ()
    error: Fault | None = None
    origin: Origin = field(default=Origin(), name="—origin")
    """Set by the reader, whatever the record says: no trace can claim the place of another."""

    @cached_property
    def tool_calls(self) -> list[ToolCall]:
        """The tool calls in the recorded order."""
        return [step for step in self.steps if type(step) is ToolCall]

    @cached_property
    def model_calls(self) -> list[LlmCall]:
        """The model calls in the recorded order."""
        return [step for step in self.steps if type(step) is LlmCall]

    @cached_property
    def call_steps(self) -> list[int]:
        """For each tool call, its index among the steps."""
        return [index for index, step in enumerate(self.steps) if type(step) is ToolCall]

    @cached_property
    def has_oversized_number(self) -> bool:
        """Whether the arguments of a call hold a number that no double can hold (`oversized_numbers` says where).

        Looks at every argument, unless the reader could tell from the bytes that there is none.
        """
        return any(True for call in self.tool_calls for _ in oversized_numbers(call.arguments))

    @property
    def agent_version(self) -> str | None:
        """The version of the agent, where it is recorded."""
        return self.agent.version if isinstance(self.agent, Agent) else None
