"""What reading is compared with: a loop that only decodes lines into structs, with the reader's own buffer size.

The structs are a fixed copy of a native trace without figures of model calls, so that a change of the program's own
structs cannot move the bar.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw, Struct, field

__all__ = ["BUFFER", "decode_file"]

BUFFER = 1 << 18
"""Bytes that the program's own reader takes at once."""

Amount = Annotated[float, Meta(ge=0)]
Count = Annotated[int, Meta(ge=0)]
Key = str | int


class ModelCall(Struct, frozen=True, gc=False, tag_field="type", tag="llm_call"):
    """A model call; what it used is left undecoded, for the suites of the bench do not ask."""


class ToolCall(Struct, frozen=True, gc=False, tag_field="type", tag="tool_call"):
    """A tool call."""

    tool: str
    id: Key | None = None
    arguments: Any = None
    result_json: Raw = field(default=Raw(), name="result")
    error: Any = None
    duration_ms: Amount | None = None
    group: Key | None = None
    parent: Key | None = None


class ToolResult(Struct, frozen=True, gc=False, tag_field="type", tag="tool_result"):
    """A result recorded apart from its call."""

    id: Key | None = None
    tool: str | None = None
    result_json: Raw = field(default=Raw(), name="result")
    error: Any = None
    duration_ms: Amount | None = None


class Handoff(Struct, frozen=True, gc=False, tag_field="type", tag="handoff"):
    """One agent passing the task to another."""

    to: str
    from_: str | None = field(default=None, name="from")


class Message(Struct, frozen=True, gc=False, tag_field="type", tag="message"):
    """A message."""

    role: str
    content: Any = None


class Agent(Struct, frozen=True):
    """The agent."""

    name: str | None = None
    version: str | None = None


class Trace(Struct, frozen=True, dict=True, kw_only=True):
    """A native trace."""

    steps: tuple[ModelCall | ToolCall | ToolResult | Handoff | Message, ...] = ()
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
    error: dict[str, Any] | None = None


_decode = msgspec.json.Decoder(Trace).decode


def decode_file(path: Path) -> None:
    """Decode every line of a file, and drop it."""
    with path.open("rb", BUFFER) as file:
        for line in file:
            _decode(line)
