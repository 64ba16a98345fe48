"""Files that change while they are read, unpack to more than memory holds, or look like traces and are not read."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import pytest
from tests.cli_runner import CliRunner
from tests.traces.building import call, lines, source_of, trace, write

from passmuster import read_traces
from passmuster._problems import TraceError
from passmuster.cli import command
from passmuster.traces import _records, find_sources, unchanged

SUITE = b"tests: [{id: b, metric: tool_blocklist, blocklist: [admin]}]\n"


@pytest.mark.parametrize("change", ["grow", "shrink", "replace", "remove"])
def test_a_file_that_changes_is_refused(tmp_path: Path, change: str) -> None:
    path = write(tmp_path / "t.jsonl", lines(trace(call()), trace(call())))
    with pytest.raises(TraceError, match=r"t\.jsonl: changed while it was read"), unchanged([source_of(path)]):
        _change(path, change)


def _change(path: Path, how: str) -> None:
    if how == "grow":
        path.write_bytes(path.read_bytes() * 2)
    elif how == "shrink":
        path.write_bytes(b"")
    elif how == "replace":
        write(path.with_name("other"), path.read_bytes()).replace(path)
    else:
        path.unlink()


def test_reading_in_the_library_notices_it_too(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", lines(trace(call()), trace(call())))
    traces = read_traces(path)
    next(traces)
    with path.open("ab") as file:
        file.write(lines(trace(call("admin"))))
    with pytest.raises(TraceError, match="changed while it was read"):
        list(traces)


@pytest.mark.parametrize("name", ["b.jsonl.1", "b.ndjson.12", "b.jsonlines", "b.JSONL", "b.jsonl.gz"])
def test_these_files_of_a_folder_are_read(tmp_path: Path, name: str) -> None:
    write(tmp_path / name, lines(trace(call("admin"))))
    assert [one.tool_calls[0].tool for one in read_traces(tmp_path)] == ["admin"]


@pytest.mark.parametrize("name", ["b.jsonl.br", "b.jsonl.bz2", "b.json.xz", "b.jsonl.zip", "b.ndjson.bak", "b.json~"])
def test_these_are_not_passed_over_in_silence(tmp_path: Path, name: str) -> None:
    write(tmp_path / "a.jsonl", lines(trace(call())))
    write(tmp_path / name, b"x")
    with pytest.raises(TraceError, match=r"looks like a trace file, .* or name the files to read by a glob"):
        find_sources([str(tmp_path)], tmp_path, tmp_path)
    assert len(find_sources([str(tmp_path / "*.jsonl")], tmp_path, tmp_path)) == 1


@pytest.mark.parametrize("name", ["notes.md", "README", "run.log", "image.png", ".b.jsonl.bz2"])
def test_other_files_are(tmp_path: Path, name: str) -> None:
    write(tmp_path / "a.jsonl", lines(trace(call())))
    write(tmp_path / name, b"x")
    assert len(find_sources([str(tmp_path)], tmp_path, tmp_path)) == 1


@pytest.mark.parametrize("name", ["z.jsonl.gz", "z.json.gz"])
@pytest.mark.parametrize("byte", [b"\0", b"[", b'"'])
def test_a_record_that_unpacks_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, byte: bytes
) -> None:
    monkeypatch.setattr(_records, "_MOST_UNPACKED", 1 << 20)
    (tmp_path / name).write_bytes(gzip.compress(byte * (3 << 20)))
    with pytest.raises(TraceError, match="more than 1 MiB when unpacked"):
        list(read_traces(tmp_path / name))


@pytest.mark.parametrize("workers", ["1", "2"])
def test_files_that_cannot_be_read_are_passed_over_if_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "passmuster.yaml", SUITE)
    write(tmp_path / "t" / "a.jsonl", lines(trace(call())))
    write(tmp_path / "t" / "b.jsonl", b"\n")
    packed = zlib.compressobj(9, zlib.DEFLATED, 31)
    (tmp_path / "t" / "c.jsonl.gz").write_bytes(packed.compress(lines(trace(call())) * 9))
    arguments = ["run", "--traces", "t", "--no-history", "--workers", workers]
    assert CliRunner().invoke(command, arguments).exit_code == 2
    result = CliRunner().invoke(command, [*arguments, "--skip-bad-lines"])
    assert result.exit_code == 0
    assert "WARN: input t/b.jsonl: not read: is empty" in result.output
    assert "WARN: input t/c.jsonl.gz: not read: the gzip file is damaged or cut off" in result.output
    assert CliRunner().invoke(command, [*arguments, "--skip-bad-lines", "--strict"]).exit_code == 1
    alone = ["run", "--traces", "t/b.jsonl", "--no-history", "--skip-bad-lines"]
    assert CliRunner().invoke(command, alone).exit_code == 2
