"""Traces from whatever a program has: paths, open files, records, messages, spans of OpenTelemetry.

What is no path becomes JSON and is read like a file, so that formats are detected in the same way.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import msgspec
from msgspec.structs import replace

from passmuster._problems import Problem, TraceError
from passmuster.traces._model import AnyStep, ToolResult, Trace
from passmuster.traces._native_writing import native_line
from passmuster.traces._pairing import pair_results
from passmuster.traces._reading import BadLines, check_format, detected_format, read_source
from passmuster.traces._reading import read_traces as read_files
from passmuster.traces._records import BadRecord
from passmuster.traces._sources import Source
from passmuster.traces._tool_names import check_calls

Given = str | Path | IO[bytes] | IO[str] | Mapping[str, Any] | Iterable[Any]
"""What traces can be read from."""

_EXPECTED = "a path, an open file, a record (a dict), a list of messages, of records or of spans, or a Trace"


class MemorySource(Source, frozen=True):
    """What a program has at hand, as the bytes of a file that there is not."""

    data: bytes = b""

    def _stored(self, end: int | None) -> Any:
        return io.BytesIO(self.data)


def read_traces(
    given: Given, *, skip_bad_lines: bool = False, accept_loss: bool = False, format: str | None = None
) -> Iterator[Trace]:
    """The traces in files that a path, a folder or a glob names, in an open file, or in records and messages at hand.

    Options are as for `passmuster run`. Raises `TypeError` for what cannot hold a trace.
    """
    check_format(format)
    if isinstance(given, str | Path):
        return read_files(given, skip_bad_lines=skip_bad_lines, accept_loss=accept_loss, format=format)
    return _read_all(_sources(given, format), skip_bad_lines, accept_loss)


def traces_of(given: Iterable[Any]) -> Iterator[Trace]:
    """Traces, of which each may be given as a `Trace`, a record or a list of messages."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise TypeError(f"expected traces, or records and lists of messages, found {type(given).__name__}")
    for one in given:
        if isinstance(one, Trace):
            yield _checked(one)
        elif isinstance(one, Mapping | list | tuple):
            yield from read_traces(one)
        else:
            raise TypeError(f"expected {_EXPECTED}, found {type(one).__name__}")


def plain_data(value: Any) -> Any:
    """A trace, or what traces can be read from, as plain JSON data. Raises `TypeError` for anything else."""
    if isinstance(value, Trace):
        return msgspec.json.decode(native_line(_checked(value)), strict=False)
    return msgspec.json.decode(_encoded(value))


def format_of(value: Mapping[str, Any] | list[Any]) -> str | None:
    """The name of the format of a record or a list, well made or not; None where none recognizes it."""
    if not value or (isinstance(value, list) and not all(isinstance(one, Mapping) for one in value)):
        return None
    return detected_format(_memory(value, None))


def _checked(trace: Trace) -> Trace:
    """A trace made in Python, as a reader would have made it. Raises `TypeError` for steps that are none."""
    for step in trace.steps:
        if not isinstance(step, AnyStep):
            kinds = "ToolCall, LlmCall, Message or Handoff"
            raise TypeError(f"steps: expected {kinds}, found {type(step).__name__}; read_traces reads plain data")
    if any(isinstance(step, ToolResult) for step in trace.steps):
        trace = replace(trace, steps=tuple(step for _, step in pair_results(trace.steps)))
    try:
        return check_calls(trace)
    except BadRecord as bad:
        raise TraceError(Problem(bad.message, trace.origin.file or None)) from None


def _read_all(sources: list[Source | Trace], skip_bad_lines: bool, accept_loss: bool) -> Iterator[Trace]:
    for source in sources:
        if isinstance(source, Trace):
            yield source
        else:
            yield from read_source(source, BadLines(source, skip_bad_lines, accept_loss))


def _sources(given: Any, format: str | None) -> list[Source | Trace]:
    """What is given as the bytes of files, one for each conversation or list of records."""
    if isinstance(given, Trace):
        return [given]
    if hasattr(given, "read"):
        return [_opened(given, format)]
    if isinstance(given, Mapping):
        return [_memory(given, format)]
    if isinstance(given, bytes | bytearray) or not isinstance(given, Iterable):
        raise TypeError(f"expected {_EXPECTED}, found {type(given).__name__}")
    elements = list(given)
    if elements and all(isinstance(one, list | tuple) for one in elements):
        return [source for one in elements for source in _sources(one, format)]
    if any(isinstance(one, Trace) for one in elements):
        return [one if isinstance(one, Trace) else _memory(one, format) for one in elements]
    odd = next((one for one in elements if isinstance(one, str | bytes | int | float | None)), elements and elements[0])
    if odd is None or isinstance(odd, str | bytes | int | float):
        hint = "; call read_traces once for each path" if isinstance(odd, str) else ""
        raise TypeError(f"expected {_EXPECTED}, found a list with {type(odd).__name__}{hint}")
    return [_memory(elements, format)]


def _memory(value: Any, format: str | None) -> MemorySource:
    return MemorySource("", "<memory>", format, data=_encoded(value))


def _encoded(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value, enc_hook=_plain)
    except (TypeError, ValueError, msgspec.MsgspecError, RecursionError) as error:
        raise TypeError(f"expected {_EXPECTED}, found what cannot be written as JSON ({error})") from None


def _plain(value: Any) -> Any:
    """Objects of SDKs as plain data: pydantic's models, spans of OpenTelemetry, and what has a `to_dict`."""
    for name in ("model_dump", "to_dict", "dict"):
        dump = getattr(value, name, None)
        if callable(dump):
            return dump(mode="json") if name == "model_dump" else dump()
    if callable(dump := getattr(value, "to_json", None)):
        return msgspec.Raw(str(dump()).encode())
    raise TypeError(f"a {type(value).__name__}")


def _opened(file: Any, format: str | None) -> MemorySource:
    name = getattr(file, "name", None)
    shown = name if isinstance(name, str) else "<file>"
    read = file.read()
    data = read.encode() if isinstance(read, str) else bytes(read)
    if data[:2] == b"\x1f\x8b":
        import gzip  # late, for few runs need it

        try:
            data = gzip.decompress(data)
        except (EOFError, zlib.error, OSError) as error:
            raise TraceError(Problem(f"the gzip file is damaged or cut off ({error})", shown)) from error
    return MemorySource("", shown, format, data=data)
