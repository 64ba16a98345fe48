"""What one span says: a model call, a tool call, an agent at work, a handoff, or nothing of these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from passmuster.traces.spans._messages import conversation
from passmuster.traces.spans._said import Said
from passmuster.traces.spans._span import Span
from passmuster.traces.spans._values import arguments_of

Kind = Literal["", "model", "tool", "agent", "handoff", "step"]
"""`step` is work that is none of the others, and known not to be a call."""


class Facts(Struct):
    """The facts of one span. A dialect fills in what it finds and leaves what another one has found."""

    kind: Kind = ""
    agent: str | None = None
    """The agent that the span is about, or that made the call."""
    read_query: Callable[[], str | None] | None = None
    """What an agent was asked, and below what it answered: read when asked for."""
    read_answer: Callable[[], str | None] | None = None
    tells_late: bool = False
    """Whether the query is better taken from the first model call, as here it takes reading the whole run."""
    # a model call
    model: str | None = None
    response_id: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None
    cost: float | None = None
    given: Any = None
    """What the model was given, as a conversation in any shape."""
    read_inputs: Callable[[], list[Said]] | None = None
    """The same where it takes more than reading a conversation. Both are read when they are asked for."""
    outputs: list[Said] | None = None
    """What it answered; None where that is not recorded."""
    # a tool call
    tool: str | None = None
    call_id: str | None = None
    written_arguments: Any = UNSET
    """Arguments as an attribute has them. A model's request mostly has them too, so they are read when asked for."""
    result: Any = UNSET
    error: str | None = None
    """Why the tool failed."""
    read_as_tool: Callable[[], None] | None = None
    """For an agent or a step that is a tool if a model asked for one of its name: fills in what a tool call has."""
    is_part: bool = False
    """Whether the span is only a part of the call around it."""
    inner_agent: str | None = None
    """The agent that works inside a tool, where only the tool's arguments name it."""
    to: str | None = None
    """The agent that is handed over to."""
    _inputs: list[Said] | None = None
    _arguments: Any = UNSET

    @property
    def inputs(self) -> list[Said]:
        """What the model was given; empty where that is not recorded."""
        if self._inputs is None:
            self._inputs = self.read_inputs() if self.read_inputs else conversation(self.given)
        return self._inputs

    @inputs.setter
    def inputs(self, said: list[Said]) -> None:
        self._inputs = said

    @property
    def arguments(self) -> Any:
        """What a tool was called with."""
        if self._arguments is UNSET and self.written_arguments is not UNSET:
            self._arguments = arguments_of(self.written_arguments)
        return self._arguments

    @arguments.setter
    def arguments(self, arguments: Any) -> None:
        self._arguments = arguments

    @property
    def inputs_read(self) -> Sequence[Said]:
        """What the model was given, if anybody asked for it before."""
        return self._inputs or ()

    @property
    def query(self) -> str | None:
        """What an agent was asked."""
        return self.read_query() if self.read_query else None

    @property
    def answer(self) -> str | None:
        """What an agent answered."""
        return self.read_answer() if self.read_answer else None

    def known(self, value: Any) -> bool:
        return not isinstance(value, UnsetType)


def fill(facts: Facts, **found: Any) -> None:
    """Set the facts that are found and not yet known."""
    for name, value in found.items():
        if value is not None and getattr(facts, name) is None:
            setattr(facts, name, value)


def failure(span: Span) -> str | None:
    """Why a span failed, as far as it says; None if it did not."""
    if not span.failed:
        return None
    for event in span.events:
        if event.name == "exception" and event.attributes.get("exception.message"):
            return str(event.attributes["exception.message"])
    return span.message or "failed"
