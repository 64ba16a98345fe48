"""Parquet files: a row is a record of any format, its columns the record's fields; row groups are parts.

A column `trace` holds whole records as JSON. Otherwise a row is an object: columns with a dot in their name are nested,
as in the dataframes of Phoenix (`context.trace_id`, `attributes.llm.model_name`). Columns that can hold neither a field
of a trace nor a call are not read.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import Any

import msgspec
from msgspec import Raw, Struct

from passmuster._problems import Problem, TraceError
from passmuster.traces._sources import ROW, Source

MISSING = "is a Parquet file, which needs another package: pip install 'passmuster[parquet]'"
_WHOLE = ("trace", "trace_json")
"""Columns that hold a whole record as JSON."""
_BATCH = 256
_ROWS, _BYTES = 10_000, 16 << 20
"""The size of a row group that is written."""
_NESTED = ("context", "attributes")
_PHOENIX = ("context.trace_id", "context.span_id")
_TIMES_AND_NUMBERS = frozenset(
    {
        *("run", "total_tokens", "total_llm_calls", "total_duration_ms", "total_cost_usd", "started_at"),
        *("start_time", "end_time", "startTime", "endTime", "timestamp", "status_code", "latency", "duration"),
        *("usage_details", "cost_details", "provided_usage_details", "provided_cost_details", "total_cost"),
    }
)
"""Columns of numbers and times that some format reads. Text and nested values are read whatever they are called."""


def read_rows(
    source: Source, span: tuple[int, int] | None, on_end: Callable[[int], None]
) -> Iterator[tuple[int, bytes, int]]:
    """The rows of a file, or of those row groups that begin within `span`: offset, record, number in the part from 1.

    An offset is the row, from 0, times `ROW`, so that places inside a record belong to its row. `on_end` is told how
    many rows there are.
    """
    part, end = span or (0, -1)
    with _Opened(source) as file:
        columns = _columns(source, file.schema_arrow)
        whole = columns[0] if columns[0] in _WHOLE else None
        row = number = 0
        for place in range(file.num_row_groups):
            group = file.metadata.row_group(place)
            first, row = row, row + group.num_rows
            if span is not None and not part <= _start(group) < end:
                continue
            for batch in file.iter_batches(_BATCH, row_groups=[place], columns=columns):
                for data in _whole(source, batch, first) if whole else _objects(batch):
                    number += 1
                    if data is not None:
                        yield first * ROW, data, number
                    first += 1
        on_end(number)


class _Opened:
    """A Parquet file; whatever is wrong with it is a `TraceError`."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def __enter__(self) -> Any:
        try:
            import pyarrow.parquet
        except ImportError as error:
            raise TraceError(Problem(MISSING, self._source.name)) from error
        self._errors = pyarrow.ArrowException
        self._stored = self._source.open(end=0)  # columns are read by their places
        file = self._stored.__enter__()
        try:
            return pyarrow.parquet.ParquetFile(file)
        except (self._errors, OSError) as error:
            self._stored.__exit__(None, None, None)
            raise self._damaged(error) from error

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: Any) -> None:
        if isinstance(error, (self._errors, OSError)):
            self._stored.__exit__(None, None, None)
            raise self._damaged(error) from error
        self._stored.__exit__(kind, error, at)

    def _damaged(self, error: BaseException) -> TraceError:
        reason = str(error).partition("\n")[0][:200]
        return TraceError(Problem(f"the Parquet file is damaged or cut off ({reason})", self._source.name))


def _start(group: Any) -> int:
    """The byte at which a row group begins."""
    places = []
    for number in range(group.num_columns):
        column = group.column(number)
        places += [place for place in (column.dictionary_page_offset, column.data_page_offset) if place]
    return int(min(places, default=0))


def _columns(source: Source, schema: Any) -> list[str]:
    """The columns to read: one of whole records, else all that can hold something of a trace."""
    import pyarrow.types as types

    def is_text(kind: Any) -> bool:
        return any(
            test(kind) for test in (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
        )

    def is_vector(kind: Any) -> bool:
        """Whether it can only hold numbers, as an embedding does."""
        is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
        return bool(is_list and types.is_floating(kind.value_type))

    whole = [field.name for field in schema if field.name in _WHOLE and is_text(field.type)]
    nested = [field.name for field in schema if types.is_nested(field.type) and not is_vector(field.type)]
    if whole and nested:
        found = f"a column '{whole[0]}' of whole records and the nested columns {', '.join(nested[:5])}"
        raise TraceError(Problem(f"has {found}: which of them hold the trace is not clear", source.name))
    if whole:
        return whole[:1]

    def is_needed(field: Any) -> bool:
        kind, name = field.type, field.name
        if is_vector(kind):
            return False
        return is_text(kind) or types.is_nested(kind) or name in _TIMES_AND_NUMBERS or name.startswith("attributes.")

    needed = [field.name for field in schema if is_needed(field)]
    fields = {name.partition(".")[0] for name in needed}
    if not needed or fields.isdisjoint(_EXPECTED) or len(schema.names) != len(set(schema.names)):
        shown = ", ".join(schema.names[:8]) + (", …" if len(schema.names) > 8 else "")
        message = (
            f"no trace can be read from its columns ({shown}); expected a column 'trace' with JSON, the fields of the "
            "native form (steps, answer, …), Langfuse's observations_v2 (trace_id, type, start_time) or Phoenix's "
            "spans (context.trace_id, attributes.…)"
        )
        raise TraceError(Problem(message, source.name))
    return needed


_EXPECTED = frozenset({"steps", "answer", "messages", "observations", "spans", "context", "type", "name", "attributes"})


def _whole(source: Source, batch: Any, first: int) -> Iterator[bytes | None]:
    import pyarrow

    for place, data in enumerate(batch.column(0).cast(pyarrow.large_binary()).to_pylist()):
        if data is not None and len(data) >= ROW:
            message = f"row {first + place + 1} has more than {ROW >> 20} MiB"
            raise TraceError(Problem(message, source.name))
        yield data


def _objects(batch: Any) -> Iterator[bytes]:
    names = batch.schema.names
    columns = [column.cast(_convertible(column.type), safe=False).to_pylist() for column in batch.columns]
    is_phoenix = all(name in names for name in _PHOENIX)
    for values in zip(*columns, strict=True):
        row: dict[str, Any] = {}
        for name, value in zip(names, values, strict=True):
            if value is None:
                continue
            outer, dot, inner = name.partition(".")
            if dot and outer in _NESTED:
                row.setdefault(outer, {})[inner] = _plain(value)
            else:
                row[name] = _field(name, _plain(value))
        if is_phoenix:
            row.setdefault("attributes", {}).setdefault("openinference.span.kind", row.pop("span_kind", None))
        yield msgspec.json.encode(row)


def _field(name: str, value: Any) -> Any:
    """A field of the native form may be written as JSON text where it is not a text itself."""
    if isinstance(value, str) and name in ("steps", "metadata", "agent", "behaviors", "tags", "error", "messages"):
        text = value.strip()
        if text[:1] in ("{", "["):
            try:
                return msgspec.json.decode(text, type=Raw)
            except msgspec.MsgspecError:
                return value
    return value


def _plain(value: Any) -> Any:
    """The value as JSON can say it, without what is null: a struct has every key in every row."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        if value and all(isinstance(one, tuple) and len(one) == 2 for one in value):  # how a map comes
            return {str(key): _plain(inner) for key, inner in value if inner is not None}
        return [_plain(inner) for inner in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, datetime.datetime):
        return (value if value.tzinfo else value.replace(tzinfo=datetime.UTC)).isoformat()
    if isinstance(value, Decimal):
        return float(value)
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _convertible(kind: Any) -> Any:
    """The type with times that Python can hold: nanoseconds become microseconds."""
    import pyarrow
    import pyarrow.types as types

    if types.is_timestamp(kind) and kind.unit == "ns":
        return pyarrow.timestamp("us", kind.tz)
    if types.is_list(kind):
        return pyarrow.list_(_convertible(kind.value_type))
    if types.is_large_list(kind):
        return pyarrow.large_list(_convertible(kind.value_type))
    if types.is_struct(kind):
        return pyarrow.struct([pyarrow.field(one.name, _convertible(one.type)) for one in kind])
    return kind


class _Head(Struct):
    """What has a column of its own besides the record, to select rows by."""

    trace_id: str | None = None
    scenario: str | None = None
    started_at: str | float | None = None
    agent: Any = None


class _Pieces:
    """A file to write to, whose bytes are taken out as they come."""

    closed = False

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self._place = 0

    def write(self, data: Any) -> int:
        self._held.append(bytes(data))
        self._place += len(self._held[-1])
        return len(self._held[-1])

    def tell(self) -> int:
        return self._place

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """It may still be taken from."""

    def writable(self) -> bool:
        return True

    def taken(self) -> bytes:
        """What was written since."""
        held, self._held = self._held, []
        return b"".join(held)


def parquet_pieces(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The bytes of a Parquet file with a row for each native line: the record, and columns to select by.

    Raises `ImportError` where Parquet cannot be written.
    """
    import pyarrow
    import pyarrow.parquet

    text = pyarrow.string()
    names = ("trace_id", "scenario", "started_at", "agent_name", "agent_version", "trace")
    schema = pyarrow.schema([(name, text) for name in names])
    pieces = _Pieces()
    writer = pyarrow.parquet.ParquetWriter(pieces, schema, compression="zstd")
    rows: list[dict[str, str | None]] = []
    size = 0
    for line in lines:
        rows.append(_row(line))
        size += len(line)
        if len(rows) == _ROWS or size >= _BYTES:
            writer.write_table(pyarrow.Table.from_pylist(rows, schema=schema))
            rows, size = [], 0
            yield pieces.taken()
    if rows:
        writer.write_table(pyarrow.Table.from_pylist(rows, schema=schema))
    writer.close()
    yield pieces.taken()


def _row(line: bytes) -> dict[str, str | None]:
    head = msgspec.json.decode(line, type=_Head)
    agent = head.agent if isinstance(head.agent, dict) else {"name": head.agent}
    return {
        "trace_id": head.trace_id,
        "scenario": head.scenario,
        "started_at": None if head.started_at is None else str(head.started_at),
        "agent_name": agent.get("name"),
        "agent_version": agent.get("version"),
        "trace": line.decode(),
    }
