"""One span of a trace, whatever file it came from."""

from __future__ import annotations

from typing import Any, Protocol

from msgspec import Struct

Attributes = dict[str, Any]

_MOST_NAMES = 10_000


class _Names(dict[str, str]):
    """Names of attributes and spans, each kept once: those of most spans are the same. Names are untrusted."""

    def __missing__(self, name: str) -> str:
        if len(self) < _MOST_NAMES:
            self[name] = name
        return name


NAMES = _Names()


class Event(Struct, gc=False):
    """Something that happened during a span: an event of the span, or a log record that belongs to it."""

    name: str
    attributes: Attributes
    body: Any = None
    time: int = 0
    offset: int = 0
    """Byte offset of a log record in the file."""
    line: int = 0


class Span(Struct, gc=False):
    """A stretch of work with its attributes as plain values."""

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    start: int
    """Nanoseconds since 1970; 0 where it is not recorded."""
    end: int
    attributes: Attributes
    events: list[Event]
    failed: bool = False
    message: str = ""
    """What the status of a failed span says."""
    scope: str = ""
    offset: int = 0
    """Byte offset in the file."""
    line: int = 0
    links: list[str] | None = None
    """The ids of other traces that it goes on from."""
    order: int = 0
    """Where it stands among the spans of its file."""


class SpanSink(Protocol):
    """Takes the spans and log records of a message as they are decoded."""

    def add(self, span: Span) -> None: ...

    def log(self, trace_id: str, span_id: str, event: Event) -> None: ...
