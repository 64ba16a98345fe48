"""The spans of a file by trace. Those of a large file wait in a temporary file: memory does not grow with the file."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from functools import cache
from typing import IO

import msgspec

from passmuster.traces.spans._span import Span
from passmuster.traces.spans.dialects.genai import is_model_call

_CHUNK = 3
"""Numbers per chunk of the temporary file: where it begins, its bytes, and its spans."""


class SpanStore:
    """Spans by the id of their trace; traces are in the order of their first spans."""

    def __init__(self) -> None:
        self.held: dict[str, list[Span]] = {}
        """The spans in memory."""
        self._moved: dict[str, array[int]] = {}
        """The chunks of the temporary file by trace."""
        self._tools: set[str] = set()
        """The traces in the temporary file that have a tool's span, and below those that have a model's."""
        self._models: set[str] = set()
        self._file: IO[bytes] | None = None
        self._broken = False

    def add(self, span: Span) -> None:
        known = self.held.get(span.trace_id)
        if known is None:
            self.held[span.trace_id] = [span]
        else:
            known.append(span)
            span.trace_id = known[0].trace_id  # so that the text is kept once

    def ids(self) -> list[str]:
        """The ids of all traces."""
        return [*self._moved, *(trace_id for trace_id in self.held if trace_id not in self._moved)]

    def take(self, trace_ids: Iterable[str]) -> list[Span]:
        """The spans of these traces, which are no longer kept."""
        found: list[Span] = []
        for trace_id in trace_ids:
            found += self._read(self._moved.pop(trace_id, None))
            found += self.held.pop(trace_id, ())
        return found

    def may_be_a_tool_alone(self, trace_ids: list[str]) -> bool:
        """Whether traces that belong together could be a tool that a model call in another trace asked for."""
        moved = [self._moved[one] for one in trace_ids if one in self._moved]
        spans = [span for one in trace_ids for span in self.held.get(one, ())]
        if len(spans) + sum(sum(chunks[2::_CHUNK]) for chunks in moved) > _MOST_SPANS_OF_A_TOOL:
            return False
        is_tool = not self._tools.isdisjoint(trace_ids) or any(map(_is_tool, spans))
        return is_tool and self._models.isdisjoint(trace_ids) and not any(map(is_model_call, spans))

    def move_out(self) -> None:
        """Move the spans in memory to the temporary file. Where that fails, they stay."""
        if self._broken:
            return
        try:
            self._write()
        except OSError:  # no room, or no folder for temporary files
            self._broken = True

    def _write(self) -> None:
        if self._file is None:
            import tempfile  # late, for few runs need it

            # without a buffer, a write that fails is noticed before its spans are forgotten
            self._file = tempfile.TemporaryFile(buffering=0, prefix="passmuster-")  # noqa: SIM115 - see `close`
        place = self._file.seek(0, 2)
        encode = msgspec.msgpack.Encoder().encode
        for trace_id, spans in list(self.held.items()):
            try:
                data = encode(spans)
            except (TypeError, ValueError, OverflowError, RecursionError):  # such as a number of more than 64 bits
                continue
            if self._file.write(data) != len(data):
                raise OSError("the temporary file is full")
            self._moved.setdefault(trace_id, array("Q")).extend((place, len(data), len(spans)))
            place += len(data)
            if any(map(_is_tool, spans)):
                self._tools.add(trace_id)
            if any(map(is_model_call, spans)):
                self._models.add(trace_id)
            del self.held[trace_id]

    def move_in(self) -> None:
        """Have all spans in memory."""
        self.held = {trace_id: self.take([trace_id]) for trace_id in self.ids()}

    def close(self) -> None:
        """Delete the temporary file."""
        if self._file is not None:
            self._file.close()

    def _read(self, chunks: array[int] | None) -> Iterable[Span]:
        if chunks is None or self._file is None:
            return
        for first in range(0, len(chunks), _CHUNK):
            self._file.seek(chunks[first])
            yield from _decoder().decode(self._file.read(chunks[first + 1]))


_MOST_SPANS_OF_A_TOOL = 3


def _is_tool(span: Span) -> bool:
    return "gen_ai.tool.name" in span.attributes or span.attributes.get("openinference.span.kind") == "TOOL"


@cache
def _decoder() -> msgspec.msgpack.Decoder[list[Span]]:
    return msgspec.msgpack.Decoder(list[Span])
