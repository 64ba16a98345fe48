"""A real Ray cluster of three nodes on one machine: the same report as one process, whatever is killed."""

from __future__ import annotations

import contextlib
import datetime
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.engine.test_workers import text
from tests.scale.s3_server import served
from tests.scale.test_sweeps import trace

from passmuster import api
from passmuster._problems import OutsideError, TraceError, UsageError
from passmuster.engine import _run
from passmuster.engine._encoding import encoded
from passmuster.engine._load_suite import load_suite
from passmuster.engine._parts import Part
from passmuster.engine._plan import Job
from passmuster.engine.executors._messages import setup_of
from passmuster.engine.executors._ray_tasks import Task, evaluate_part
from passmuster.scoring import Settings
from passmuster.traces import Source
from passmuster.traces._parquet import parquet_pieces

pytest.importorskip("ray")
pytest.importorskip("pyarrow")
zstandard = pytest.importorskip("zstandard")

SUITE: dict[str, Any] = {
    "plugins": ["slow_checks"],
    "tests": [
        {"id": "no_refunds", "metric": "tool_blocklist", "blocklist": ["refund"]},
        {"id": "slow", "metric": "slow"},
    ],
    "scenarios": [{"id": "S-1", "path": {"forbidden_tools": ["refund"]}}],
}
PLUGIN = """
import os, signal, time
import passmuster
from slow_words import PAUSE_S


@passmuster.metric("slow")
def slow(trace, config):
    if trace.query == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(PAUSE_S)
    return passmuster.MetricResult(stats={"looked": 1})
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray.cluster_utils import Cluster

    quickly = {"health_check_period_ms": 500, "health_check_failure_threshold": 4, "health_check_initial_delay_ms": 0}
    memory = 80 << 20
    head = {"num_cpus": 1, "object_store_memory": memory, "include_dashboard": False, "_system_config": quickly}
    started: Any = Cluster(initialize_head=True, head_node_args=head)
    for _ in range(2):
        started.add_node(num_cpus=1, object_store_memory=memory)
    yield started
    started.shutdown()


@pytest.fixture
def options(tmp_path: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch) -> api.RunOptions:
    """Traces in several formats, in parts of a few dozen."""
    monkeypatch.setattr(_run, "LARGEST_PART", 4_000)
    (tmp_path / "passmuster.json").write_text(json.dumps(SUITE))
    (tmp_path / "slow_checks.py").write_text(PLUGIN)
    (tmp_path / "slow_words.py").write_text("PAUSE_S = 0.01\n")
    traces = [trace(n, "refund" if n % 3 == 0 else "look", scenario="S-1" if n % 5 else None) for n in range(200)]
    lines = [json.dumps(one).encode() + b"\n" for one in traces]
    (tmp_path / "a.jsonl").write_bytes(b"".join(lines[:150]))
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(b"".join(lines[150:170])))
    (tmp_path / "c.json").write_text(json.dumps(traces[170:180], indent=1))
    calls = [{"type": "function", "function": {"name": "refund", "arguments": "{}"}, "id": "1"}]
    messages = [{"role": "user", "content": "q"}, {"role": "assistant", "tool_calls": calls}]
    (tmp_path / "d.jsonl").write_text(json.dumps({"messages": messages}) + "\n")
    (tmp_path / "e.parquet").write_bytes(b"".join(parquet_pieces(lines[180:190])))
    (tmp_path / "f.jsonl.zst").write_bytes(zstandard.compress(b"".join(lines[190:])))
    return api.RunOptions(
        traces=(str(tmp_path / "[a-f].*"),), root=str(tmp_path), executor="ray", ray_address=cluster.address
    )


def run(options: api.RunOptions, on_progress: Any = None) -> api.Report:
    with api.StandardInput() as stdin:
        return api.run(options.root, options, stdin, on_progress=on_progress).report


def alone(options: api.RunOptions) -> bytes:
    return text(run(replace(options, executor="inline", ray_address=None)))


def test_the_report_is_that_of_one_process(options: api.RunOptions) -> None:
    asked = replace(options, group_by=("day",), sample="80%")
    seen: list[int] = []
    report = run(asked, lambda stage, done, total: seen.append(done))
    assert text(report) == alone(asked)
    assert report.traces.read == 201
    found = {Path(one.trace_file or "").suffix for one in report.tests[0].violations}
    assert found == {".jsonl", ".gz", ".json", ".parquet", ".zst"}
    assert seen == sorted(seen)
    assert len(seen) > 6


def test_a_node_that_is_killed_changes_nothing(options: api.RunOptions, cluster: Any) -> None:
    expected = alone(options)
    (Path(str(options.root)) / "slow_words.py").write_text("PAUSE_S = 0.04\n")  # on the nodes
    lost = cluster.add_node(num_cpus=1, object_store_memory=80 << 20)
    killed: list[int] = []

    def kill(stage: str, done: int, total: int) -> None:
        if not killed and done > total / 5:
            killed.append(lost.all_processes["raylet"][0].process.pid)
            os.kill(killed[0], signal.SIGKILL)

    assert text(run(options, kill)) == expected
    assert killed


def test_a_driver_that_is_killed_goes_on(options: api.RunOptions, tmp_path: Path) -> None:
    line = json.dumps(trace(1, "refund", query="x" * 1_000_000))
    (tmp_path / "a.jsonl").write_text("".join(f"{line}\n" for _ in range(80)))  # parts of 16 MB
    (tmp_path / "slow_words.py").write_text("PAUSE_S = 0.1\n")
    kept, report = tmp_path / "kept", tmp_path / "report.json"
    command = [sys.executable, "-m", "passmuster", "run", ".", "--traces", "[a-f].*", "--no-history", "--quiet"]
    command += ["--executor", "ray", "--ray-address", str(options.ray_address), "--root", "."]
    command += ["--checkpoint", str(kept), "--report", f"json={report}", "--today", "2026-01-01"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not (kept.is_dir() and any(kept.glob("*.part.json"))) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not report.exists()
    again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert again.returncode == 1
    assert "note: from the checkpoint: " in again.stderr
    assert json.loads(report.read_text())["traces"]["read"] == 80 + 50 + 1


def processes_with(variable: str) -> list[str]:
    """The processes that have this in their environment."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if variable.encode() in (place / "environ").read_bytes().split(b"\0"):
                found.append(place.name)
    return found


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc to find processes that are left")
@pytest.mark.parametrize(("number", "started_here"), [(signal.SIGINT, False), (signal.SIGTERM, True)])
def test_an_interrupt_ends_all_and_leaves_nothing(
    options: api.RunOptions, tmp_path: Path, number: int, started_here: bool
) -> None:
    begun = tmp_path / "begun"
    marking = PLUGIN.replace("    time.sleep", f"    open({str(begun)!r}, 'w').close()\n    time.sleep")
    (tmp_path / "slow_checks.py").write_text(marking)
    (tmp_path / "slow_words.py").write_text("PAUSE_S = 600\n")
    command = [sys.executable, "-m", "passmuster", "run", ".", "--traces", "[a-f].*", "--root", ".", "--quiet"]
    command += ["--executor", "ray", "--violations", "violations", "--report", "json=report.json"]
    command += [] if started_here else ["--ray-address", str(options.ray_address)]
    variable = f"PASSMUSTER_TEST_RUN={tmp_path}"
    environment = os.environ | dict([variable.split("=", 1)])
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
    )
    deadline = time.monotonic() + 120
    while not begun.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert begun.exists(), process.communicate(timeout=100)
    assert processes_with(variable)
    process.send_signal(number)
    _, errors = process.communicate(timeout=100)  # a check pauses for 600 s
    assert (process.returncode, errors) == (130, "Interrupted.\n")
    while processes_with(variable) and time.monotonic() < deadline:  # the last ones of Ray
        time.sleep(0.1)
    assert not processes_with(variable)
    assert list((tmp_path / "violations").iterdir()) == []
    assert not (tmp_path / "report.json").exists()


def test_a_part_that_fails_three_times_is_named(options: api.RunOptions, tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text(json.dumps(trace(1, query="die")) + "\n")
    with pytest.raises(OutsideError, match=r"^d\.jsonl: failed 3 times on the Ray cluster: WorkerCrashedError"):
        run(options)


def test_bad_records_are_told(options: api.RunOptions) -> None:
    file = Path(str(options.root)) / "a.jsonl"
    with file.open("a") as appended:
        appended.write("{not json\n")
    with pytest.raises(TraceError, match=r"a\.jsonl:151"):
        run(options)


def test_another_version_on_a_node_is_told(tmp_path: Path) -> None:
    (tmp_path / "passmuster.json").write_text(json.dumps({"tests": SUITE["tests"][:1]}))
    setup = setup_of(Job(load_suite(tmp_path), Settings(today=datetime.date(2026, 1, 1))))
    answer, counted = evaluate_part(encoded(Task("0.0.7", setup)), 0, encoded(Part(Source("x", "x"))))
    assert b"on a node of the cluster, 0.0.7 here" in answer
    assert not counted


def test_a_cluster_of_another_version_is_told(options: api.RunOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    import ray

    monkeypatch.setattr(ray, "__version__", "1.2.3")
    with pytest.raises(OutsideError, match=r"cannot use the Ray cluster at .*Ray: 2\.\d.*Ray: 1\.2\.3"):
        run(options)
    assert not ray.is_initialized()


def test_a_server_that_is_not_ray_is_told(options: api.RunOptions) -> None:
    with served() as bucket, pytest.raises(OutsideError, match=r"what answers at 127.* is not a Ray cluster"):
        run(replace(options, ray_address=bucket.url.removeprefix("http://")))


def test_addresses_that_cannot_be(options: api.RunOptions) -> None:
    with pytest.raises(OutsideError, match="no Ray cluster answers at 127"):
        run(replace(options, ray_address="127.0.0.1:9"))
    with pytest.raises(UsageError, match="expected HOST:PORT"):
        run(replace(options, ray_address="somewhere"))
    with pytest.raises(UsageError, match="--ray-address is for --executor ray"):
        run(replace(options, executor=None))
