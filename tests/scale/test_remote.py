"""Traces in an object store: read by ranges, retried, and refused with a reason. The client is the real s3fs."""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scale.s3_server import Bucket, served

import passmuster
from passmuster import api
from passmuster._problems import OutsideError, TraceError
from passmuster.engine import _parts, _run
from passmuster.traces import _remote, _remote_file, _sources
from passmuster.traces._remote_file import RemoteFile

s3fs = pytest.importorskip("s3fs")

SUITE = """
tests:
  - id: no_refunds
    metric: tool_blocklist
    blocklist: [refund]
"""


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    with served() as bucket:
        monkeypatch.setenv("AWS_ENDPOINT_URL", bucket.url)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "id")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-to-be-shown")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
        monkeypatch.setattr(_remote, "_FIRST_PAUSE_S", 0.001)
        monkeypatch.setattr(s3fs.S3FileSystem, "retries", 1)
        s3fs.S3FileSystem.clear_instance_cache()
        yield bucket
        s3fs.S3FileSystem.clear_instance_cache()


def lines(count: int, tool: str = "look", start: int = 0) -> bytes:
    return b"".join(
        json.dumps({"trace_id": f"t-{number}", "steps": [{"type": "tool_call", "tool": tool}]}).encode() + b"\n"
        for number in range(start, start + count)
    )


def ids(address: str) -> list[str | None]:
    return [trace.trace_id for trace in passmuster.read_traces(address)]


def test_a_glob_reads_at_any_depth_and_unpacks(bucket: Bucket) -> None:
    import zstandard

    bucket.objects = {
        "2026/01/a.jsonl.gz": gzip.compress(lines(1)),
        "2026/02/b.jsonl.gz": gzip.compress(lines(1, start=1)),
        "2026/c.jsonl.zst": zstandard.compress(lines(1, start=2)),
        "2026/notes.txt": b"x",
    }
    assert ids("s3://traces/2026/**.jsonl.gz") == ["t-0", "t-1"]
    assert sorted(map(str, ids("s3://traces/2026"))) == ["t-0", "t-1", "t-2"]
    assert ids("s3://traces/2026/c.jsonl.zst") == ["t-2"]


@pytest.fixture
def small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if files were a thousand times larger."""
    monkeypatch.setattr(_remote_file, "_BLOCK", 10_000)
    monkeypatch.setattr(_remote_file, "_SMALL", 5_000)
    monkeypatch.setattr(_sources, "_BUFFER", 5_000)


@pytest.mark.usefixtures("small_ranges")
def test_large_files_are_read_once_by_ranges(bucket: Bucket) -> None:
    bucket.objects = {"a.jsonl": lines(1_000)}
    assert len(ids("s3://traces/a.jsonl")) == 1_000
    assert len([one for one in bucket.asked if one.startswith("get ")]) == 8
    assert bucket.sent == len(bucket.objects["a.jsonl"])


@pytest.mark.usefixtures("small_ranges")
def test_parts_read_little_beyond_their_ends(bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_run, "LARGEST_PART", 100_000)
    bucket.objects = {"a.jsonl": lines(5_000)}
    (tmp_path / "passmuster.yaml").write_text(SUITE)
    with api.StandardInput() as stdin:
        options = api.RunOptions(traces=("s3://traces/a.jsonl",), checkpoint=str(tmp_path / "kept"))
        assert api.run(str(tmp_path), options, stdin).report.traces.read == 5_000
    assert len(list((tmp_path / "kept").iterdir())) == 4
    assert bucket.sent < 1.2 * len(bucket.objects["a.jsonl"])


def test_small_files_take_one_request_each_and_a_listing(bucket: Bucket) -> None:
    bucket.objects = {f"day/{n}.jsonl": lines(1, start=n) for n in range(20)}
    assert len(ids("s3://traces/day")) == 20
    assert sorted(one for one in bucket.asked if "get" in one) == sorted(
        f"get day/{n}.jsonl 0-{len(lines(1, start=n)) - 1}" for n in range(20)
    )


def test_many_files_are_listed_again_to_see_whether_they_changed(bucket: Bucket, tmp_path: Path) -> None:
    bucket.objects = {f"day/{n}.jsonl": lines(1, start=n) for n in range(20)}
    (tmp_path / "passmuster.yaml").write_text(SUITE)
    options = api.RunOptions(traces=("s3://traces/day",))
    with api.StandardInput() as stdin:
        assert api.run(str(tmp_path), options, stdin).report.traces.read == 20
    assert not [one for one in bucket.asked if one.startswith("head day/")]
    read = RemoteFile.readinto

    def change(self: RemoteFile, room: bytearray) -> int:
        bucket.objects["day/7.jsonl"] = lines(2, start=7)
        return read(self, room)

    with pytest.MonkeyPatch.context() as patch, api.StandardInput() as stdin:
        patch.setattr(RemoteFile, "readinto", change)
        with pytest.raises(TraceError, match=r"s3://traces/day/7\.jsonl: changed while it was read"):
            api.run(str(tmp_path), options, stdin)


def test_of_a_parquet_file_only_the_columns_are_fetched(bucket: Bucket) -> None:
    pytest.importorskip("pyarrow")
    import pyarrow
    import pyarrow.parquet

    chance = random.Random(1)
    vectors = pyarrow.FixedSizeListArray.from_arrays([chance.random() for _ in range(500 * 2_000)], 2_000)
    traces = [line.decode() for line in lines(500).splitlines()]
    written = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"embedding": vectors, "trace": traces}), written)
    bucket.objects = {"a.parquet": written.getvalue()}
    assert len(ids("s3://traces/a.parquet")) == 500
    assert bucket.sent < len(bucket.objects["a.parquet"]) / 4


@pytest.mark.parametrize("fault", ["503", "cut", "slow"])
@pytest.mark.usefixtures("small_ranges")
def test_what_fails_now_and_then_is_asked_again(bucket: Bucket, fault: str) -> None:
    bucket.objects = {"a.jsonl": lines(1_000)}
    bucket.faults = [fault, fault, "", "", fault, "", fault]
    assert len(ids("s3://traces/a.jsonl")) == 1_000
    assert not bucket.faults


def test_a_store_that_goes_on_failing_is_no_verdict(bucket: Bucket, tmp_path: Path) -> None:
    bucket.objects = {"a.jsonl": lines(2)}
    (tmp_path / "passmuster.yaml").write_text(SUITE)
    bucket.faults = ["503"] * 500
    with pytest.raises(OutsideError, match=r"s3://traces/a\.jsonl: cannot be read"), api.StandardInput() as stdin:
        api.run(str(tmp_path), api.RunOptions(traces=("s3://traces/a.jsonl",)), stdin)


def test_parts_of_a_remote_file_give_the_same_report(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_parts, "_SMALLEST", 50_000)
    bucket.objects = {"a.jsonl": lines(2_000) + lines(3, "refund", 2_000) + lines(2_000, start=2_003)}
    (tmp_path / "passmuster.yaml").write_text(SUITE)
    local = tmp_path / "a.jsonl"
    local.write_bytes(bucket.objects["a.jsonl"])
    reports = []
    for traces, workers in ((str(local), 1), ("s3://traces/a.jsonl", 1), ("s3://traces/a.jsonl", 2)):
        with api.StandardInput() as stdin:
            report = api.run(str(tmp_path), api.RunOptions(traces=(traces,), workers=workers), stdin).report
        (failed,) = [test for test in report.tests if test.violations]
        reports.append([(found.trace_line, found.trace_id) for found in failed.violations])
        assert report.exit_code == 1
    assert reports[0] == reports[1] == reports[2]
    assert len(reports[0]) == 3


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("s3://traces/nothing.jsonl", "there is no such trace file, folder or bucket"),
        ("s3://elsewhere/a.jsonl", "there is no such trace file, folder or bucket"),
        ("s3://traces/2025/**.jsonl", "no trace file is there"),
        ("s3://id:secret@traces/a.jsonl", "holds a credential"),
        ("gopher://traces/a.jsonl", "no package that reads this kind of address"),
    ],
)
def test_addresses_that_lead_nowhere(bucket: Bucket, address: str, says: str) -> None:
    bucket.objects = {"a.jsonl": lines(1)}
    with pytest.raises(TraceError, match=says) as caught:
        ids(address)
    assert "secret" not in str(caught.value)


def test_no_permission(bucket: Bucket) -> None:
    bucket.objects, bucket.denied = {"a.jsonl": lines(1)}, True
    with pytest.raises(TraceError, match="access is denied") as caught:
        ids("s3://traces/a.jsonl")
    assert "not-to-be-shown" not in str(caught.value)


@pytest.mark.usefixtures("small_ranges")
@pytest.mark.parametrize("after", [1_000, 1_003, 20, 0])
def test_a_file_that_changes_while_it_is_read(bucket: Bucket, after: int) -> None:
    bucket.objects = {"a.jsonl": lines(1_000)}
    traces = passmuster.read_traces("s3://traces/a.jsonl")
    next(traces)
    bucket.objects = {"a.jsonl": lines(after, "refund")}
    with pytest.raises(TraceError, match="changed while it was read"):
        list(traces)
