"""What an agent did once: a `Trace` and its parts.

A *step* is a model call, a tool call, a handoff or a message. A tool call counts once, whether it was recorded as a
request, an execution or both: readers pair results with calls before a `Trace` exists. A call whose result was never
recorded has an unknown result, which is not a failure; a call with an `error` is an attempt, not a success.

Results stay JSON text until they are asked for. The structs refuse fields that they do not know, so that no reader that
decodes into them overlooks one. Annotations are not postponed: msgspec would compile each again, which takes 1.5 ms.
"""

import sys
from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Raw, Struct, field

Amount = Annotated[float, Meta(ge=0)]
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Key = str | int
Moment = str | float
"""A time as it was recorded: text as in RFC 3339 (`2026-03-01T09:30:00Z`), or a number."""

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


class LlmCall(Struct, frozen=True, gc=False, forbid_unknown_fields=True, tag_field="type", tag="llm_call"):
    """One call of a model."""

    model: Annotated[str | None, Meta(description="The model that was called.")] = None
    tokens_in: Annotated[Count | None, Meta(description="Tokens sent to the model.")] = None
    tokens_out: Annotated[Count | None, Meta(description="Tokens the model produced.")] = None
    cost_usd: Annotated[Amount | None, Meta(description="What the call cost, in US dollars.")] = None
    duration_ms: Annotated[Amount | None, Meta(description="How long it took, in milliseconds.")] = None
    id: Annotated[Key | None, Meta(description="The id of the response; other steps' `parent` may name it.")] = None
    parent: Annotated[Key | None, Meta(description="The id of the step it ran inside.")] = None
    tokens_cached: Annotated[Count | None, Meta(description="Of `tokens_in`, those that came from a cache.")] = None
    agent: Annotated[str | None, Meta(description="Who made the call, where several agents took part.")] = None
    started_at: Annotated[Moment | None, Meta(description="When it began, as in RFC 3339.")] = None


class ToolCall(Struct, frozen=True, gc=False, forbid_unknown_fields=True, tag_field="type", tag="tool_call"):
    """One call of a tool, with its result."""

    tool: str
    id: Key | None = None
    arguments: Any = field(default_factory=dict)
    """A dict, unless the agent sent something else; None where they are unknown."""
    result_json: Raw = field(default=Raw(), name="result")
    error: Any = None
    duration_ms: Amount | None = None
    group: Key | None = None
    """Calls made in parallel share a group."""
    parent: Key | None = None
    agent: str | None = None
    """Who made the call, where several agents took part."""
    started_at: Moment | None = None

    @property
    def result(self) -> Any:
        """The result, decoded; None where none was recorded."""
        return decoded(self.result_json)

    @property
    def failed(self) -> bool:
        """Whether the call is recorded as failed."""
        return bool(self.error)


class ToolResult(Struct, frozen=True, gc=False, forbid_unknown_fields=True, tag_field="type", tag="tool_result"):
    """A result recorded apart from its call, which it is joined to."""

    id: Annotated[Key | None, Meta(description="The id of the call it belongs to.")] = None
    tool: Annotated[Annotated[str, Meta(min_length=1)] | None, Meta(description="The tool it came from.")] = None
    result_json: Annotated[Raw, Meta(description="What the tool returned.")] = field(default_factory=Raw, name="result")
    error: Annotated[Any, Meta(description="Why the call failed, as in a tool_call.")] = None
    duration_ms: Annotated[Amount | None, Meta(description="How long the call took, in milliseconds.")] = None
    arguments: Annotated[Any, Meta(description="What the tool was called with, where the call is not recorded.")] = None


class Handoff(Struct, frozen=True, gc=False, forbid_unknown_fields=True, tag_field="type", tag="handoff"):
    """One agent passing the task to another."""

    to: Annotated[str, Meta(description="The agent that takes over.")]
    from_: Annotated[str | None, Meta(description="The agent that hands over.")] = field(default=None, name="from")


class Message(Struct, frozen=True, gc=False, forbid_unknown_fields=True, tag_field="type", tag="message"):
    """Something said by the user, the agent or the system."""

    role: Annotated[str, Meta(description="Who says it: user, assistant, system, …")]
    content: Annotated[Any, Meta(description='A string, or a list of parts with a "text".')] = None
    agent: Annotated[str | None, Meta(description="Which agent says it, where several took part.")] = None

    @property
    def text(self) -> str | None:
        """The text of the message, whether its content is a string or a list of parts."""
        if isinstance(self.content, list):
            parts = [_part_text(part) for part in self.content]
            return "".join(part for part in parts if part is not None)
        return _part_text(self.content)


def _part_text(part: Any) -> str | None:
    """The text of a part of a message: a string, or the `text` of an object, which may have it as its `value`."""
    text = part.get("text") if isinstance(part, dict) else part
    text = text.get("value") if isinstance(text, dict) else text
    return text if isinstance(text, str) else None


Step = LlmCall | ToolCall | Handoff | Message
AnyStep = LlmCall | ToolCall | ToolResult | Handoff | Message


class Agent(Struct, frozen=True, forbid_unknown_fields=True):
    """The agent that acted."""

    name: str | None = None
    version: str | None = None


class Fault(Struct, frozen=True, forbid_unknown_fields=True):
    """Why the agent did not finish: its own failure, or that of the infrastructure."""

    message: str
    kind: Literal["agent", "infra"] = "agent"


class Place(Struct, frozen=True, gc=False):
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


class Trace(Struct, frozen=True, dict=True, kw_only=True, forbid_unknown_fields=True):
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
    metadata_json: Raw = field(default=Raw(), name="metadata")
    """What the record says for its owner's use, undecoded."""
    started_at: Moment | None = None
    inferred: tuple[str, ...] = ()
    """What was worked out rather than read: `run`, that these steps are one; `groups`, which are parallel; `cost`."""
    origin: Origin = field(default=Origin(), name="—origin")
    """Set by the reader, whatever the record says: no trace can claim the place of another."""
    wrapped: bool = field(default=False, name="—wrapped")
    """Whether a call may have its arguments wrapped (`kwargs`, `input`, …). Set by the reader."""
    calls_unknown: bool = False
    """Whether the source could not have shown all tool calls: having none here then says nothing."""

    @cached_property
    def tool_calls(self) -> list[ToolCall]:
        """The tool calls in the recorded order."""
        return [step for step in self.steps if type(step) is ToolCall]

    @cached_property
    def tool_names(self) -> list[str]:
        """The tool of each tool call."""
        return [call.tool for call in self.tool_calls]

    @cached_property
    def has_plain_calls(self) -> bool:
        """Whether no tool call failed, and none was made in parallel with others."""
        return not any(call.error or call.group is not None for call in self.tool_calls)

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

    @cached_property
    def metadata(self) -> Any:
        """What the record says for its owner's use, decoded; None where it says nothing."""
        try:
            return decoded(self.metadata_json)
        except (ValueError, RecursionError):  # which only whoever asks for it needs to know
            return None

    @property
    def agent_name(self) -> str | None:
        """The name of the agent, where it is recorded."""
        return self.agent.name if isinstance(self.agent, Agent) else self.agent

    def agent_of(self, step: ToolCall | LlmCall) -> str | None:
        """The name of the agent that made a step: its own, else that of the trace."""
        return step.agent if step.agent is not None else self.agent_name

    @property
    def agent_version(self) -> str | None:
        """The version of the agent, where it is recorded."""
        return self.agent.version if isinstance(self.agent, Agent) else None
