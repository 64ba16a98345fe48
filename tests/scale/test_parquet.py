"""Traces in Parquet: whole records, native columns, observations of Langfuse, spans of Phoenix."""

from __future__ import annotations

import builtins
import datetime
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from msgspec.structs import replace
from tests.cli_runner import CliRunner
from tests.engine.test_workers import TRACES, text
from tests.scale.test_sweeps import run, trace, write

import passmuster
from passmuster import api
from passmuster._problems import TraceError
from passmuster.cli._main import command
from passmuster.engine import _parts, _run
from passmuster.traces import _parquet, native_line

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def table(path: Path, rows: list[dict[str, Any]], group: int | None = None, schema: Any = None) -> Path:
    parquet.write_table(pyarrow.Table.from_pylist(rows, schema=schema), path, row_group_size=group)
    return path


def imported(source: Path, target: Path) -> None:
    done = CliRunner().invoke(command, ["import", str(source), "-o", str(target)])
    assert done.exit_code == 0, done.output


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TRACES)
def test_what_import_writes_reads_back(tmp_path: Path, traces: list[Any]) -> None:
    lines = tmp_path / "traces.jsonl"
    lines.write_text("".join(json.dumps(one) + "\n" for one in traces))
    imported(lines, tmp_path / "traces.parquet")
    read = [native_line(one) for one in passmuster.read_traces(tmp_path / "traces.parquet")]
    assert read == [native_line(one) for one in passmuster.read_traces(lines)]


def test_row_groups_are_parts_and_the_report_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(7)
    traces = [trace(n, "refund" if n % 7 == 0 else "look", query=chance.randbytes(200).hex()) for n in range(400)]
    options = write(tmp_path, traces)
    expected = run(tmp_path, options)
    monkeypatch.setattr(_parquet, "_ROWS", 25)
    imported(tmp_path / "traces.jsonl", tmp_path / "traces.parquet")
    assert parquet.ParquetFile(tmp_path / "traces.parquet").num_row_groups == 16
    monkeypatch.setattr(_parts, "_SMALLEST", 10_000)
    monkeypatch.setattr(_run, "LARGEST_PART", 10_000)
    as_rows = replace(options, traces=(str(tmp_path / "traces.parquet"),))
    assert len(_parts.cut(api_sources(tmp_path / "traces.parquet"), 2)) > 3
    for asked in (as_rows, replace(as_rows, workers=2), replace(as_rows, checkpoint=str(tmp_path / "kept"))):
        assert without_inputs(run(tmp_path, asked)) == without_inputs(expected)


def without_inputs(report: api.Report) -> Any:
    """The report but for durations, the name of the file, and the digest of its bytes."""
    found = json.loads(text(report).replace(b"traces.parquet", b"traces.jsonl"))
    for name in ("inputs", "inputs_sha256"):
        found["provenance"].pop(name, None)
    return found


def api_sources(path: Path) -> Any:
    from passmuster.traces import find_sources

    return find_sources([str(path)], path.parent, path.parent)


def test_native_columns(tmp_path: Path) -> None:
    call = {"type": "tool_call", "tool": "look", "arguments": '{"id": 5}'}
    rows: list[dict[str, Any]] = [
        {"trace_id": "a", "started_at": datetime.datetime(2026, 3, 1), "steps": [call], "weights": [0.5, 0.25], "n": 1},
        {"trace_id": "b", "started_at": None, "steps": [{"type": "message", "role": "user", "content": "hi"}], "n": 2},
    ]
    first, second = passmuster.read_traces(table(tmp_path / "t.parquet", rows))
    assert [(one.tool, one.arguments) for one in first.tool_calls] == [("look", {"id": 5})]
    assert str(first.started_at).startswith("2026-03-01T00:00:00")
    assert (second.trace_id, second.steps[0].text) == ("b", "hi")  # type: ignore[union-attr]
    as_text = [{"trace_id": "c", "steps": json.dumps([{**call, "arguments": {"id": None}}])}]
    (third,) = passmuster.read_traces(table(tmp_path / "u.parquet", as_text))
    assert third.tool_calls[0].arguments == {"id": None}


def test_observations_of_langfuse(tmp_path: Path) -> None:
    start = datetime.datetime(2026, 3, 1, tzinfo=datetime.UTC)
    kinds = pyarrow.schema(
        [
            *((name, pyarrow.string()) for name in ("id", "trace_id", "parent_observation_id", "type", "name")),
            *((name, pyarrow.string()) for name in ("input", "output", "level")),
            ("start_time", pyarrow.timestamp("ns", "UTC")),
            ("end_time", pyarrow.timestamp("ns", "UTC")),
            ("usage_details", pyarrow.map_(pyarrow.string(), pyarrow.int64())),
        ]
    )
    times = {"start_time": start, "end_time": start + datetime.timedelta(seconds=1), "level": "DEFAULT"}
    rows = [
        {"id": "1", "trace_id": "t", "type": "AGENT", "name": "run", "input": "hi", "output": "done", **times},
        {
            "id": "2",
            "trace_id": "t",
            "parent_observation_id": "1",
            "type": "GENERATION",
            "name": "llm",
            "usage_details": [("input", 5), ("output", 7)],
            **times,
        },
        {
            "id": "3",
            "trace_id": "t",
            "parent_observation_id": "1",
            "type": "TOOL",
            "name": "refund",
            "input": '{"amount": 5}',
            "output": '"ok"',
            **times,
        },
    ]
    (found,) = passmuster.read_traces(table(tmp_path / "observations_v2.parquet", rows, 1, kinds))
    assert [(call.tool, call.arguments) for call in found.tool_calls] == [("refund", {"amount": 5})]
    assert (found.model_calls[0].tokens_in, found.model_calls[0].tokens_out) == (5, 7)


def test_spans_of_phoenix(tmp_path: Path) -> None:
    start = datetime.datetime(2026, 3, 1, tzinfo=datetime.UTC)
    common = {"context.trace_id": "t", "start_time": start, "end_time": start, "status_code": "OK", "events": []}
    calls = [{"tool_call": {"function": {"name": "refund", "arguments": '{"amount": 5}'}, "id": "c1"}}]
    message = [{"message": {"role": "assistant", "tool_calls": calls}}]
    rows = [
        {**common, "context.span_id": "1", "name": "agent", "span_kind": "AGENT", "attributes.input.value": "hi"},
        {
            **common,
            "context.span_id": "2",
            "parent_id": "1",
            "name": "llm",
            "span_kind": "LLM",
            "attributes.llm.model_name": "m",
            "attributes.llm.output_messages": message,
            "attributes.llm.token_count.prompt": 11.0,
            "attributes.embedding": [0.1, 0.2],
        },
        {
            **common,
            "context.span_id": "3",
            "parent_id": "1",
            "name": "refund",
            "span_kind": "TOOL",
            "attributes.tool.name": "refund",
            "attributes.input.value": '{"amount": 5}',
        },
    ]
    columns = sorted({name for row in rows for name in row})
    whole = [{name: row.get(name) for name in columns} for row in rows]
    (found,) = passmuster.read_traces(table(tmp_path / "spans.parquet", whole))
    assert [(call.tool, call.arguments) for call in found.tool_calls] == [("refund", {"amount": 5})]
    assert found.model_calls[0].model == "m"


def test_only_needed_columns_are_read(tmp_path: Path) -> None:
    rows = [{"trace": '{"steps": []}', "day": "2026-03-01", "score": 0.5}]
    assert _parquet._columns(api_sources(table(tmp_path / "a.parquet", rows))[0], schema_of(rows)) == ["trace"]
    rows = [{"trace_id": "a", "steps": "[]", "score": 0.5, "vector": [0.1], "total_tokens": 5, "note": "x"}]
    needed = _parquet._columns(api_sources(tmp_path / "a.parquet")[0], schema_of(rows))
    assert needed == ["trace_id", "steps", "total_tokens", "note"]


def schema_of(rows: list[dict[str, Any]]) -> Any:
    return pyarrow.Table.from_pylist(rows).schema


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([{"a": 1, "b": "x"}], "no trace can be read from its columns (a, b)"),
        ([{"a": 1}], "expected a column 'trace' with JSON"),
        ([{"trace": "{}", "steps": [{"type": "message"}]}], "which of them hold the trace is not clear"),
        ([{"trace": '{"steps": []}'}, {"trace": "{broken"}], "a.parquet:2: is not JSON"),
        ([{"name": "x", "size": 5}], "is not a trace"),
    ],
)
def test_files_that_hold_no_traces_are_refused(tmp_path: Path, rows: list[dict[str, Any]], told: str) -> None:
    table(tmp_path / "a.parquet", rows)
    with pytest.raises(TraceError) as raised:
        list(passmuster.read_traces(tmp_path / "a.parquet"))
    assert told in str(raised.value)


@pytest.mark.parametrize("data", [b"", b"PAR1", b"no parquet at all, only text\n" * 20, None])
def test_damaged_files_are_refused(tmp_path: Path, data: bytes | None) -> None:
    path = table(tmp_path / "a.parquet", [{"trace": json.dumps(trace(n))} for n in range(500)])
    whole = path.read_bytes()
    path.write_bytes(whole[:40] + bytes(400) + whole[440:] if data is None else data)
    with pytest.raises(TraceError, match="Parquet file is damaged or cut off"):
        list(passmuster.read_traces(path))


def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = table(tmp_path / "a.parquet", [{"trace": '{"steps": []}'}])
    (tmp_path / "a.jsonl").write_text('{"steps": []}\n')
    found = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return found(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(TraceError, match=r"pip install 'passmuster\[parquet\]'"):
        list(passmuster.read_traces(path))
    done = CliRunner().invoke(command, ["import", str(tmp_path / "a.jsonl"), "-o", str(tmp_path / "b.parquet")])
    assert (done.exit_code, (tmp_path / "b.parquet").exists()) == (2, False)
    assert "pip install 'passmuster[parquet]'" in done.output
