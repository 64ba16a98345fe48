"""Checkpoints and files of violations: what is finished is not read again, and nothing is lost or counted twice."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.engine.test_workers import text
from tests.scale.test_sweeps import trace, write

from passmuster import api
from passmuster._problems import OutsideError, TraceError, UsageError
from passmuster.engine import _evaluation, _parts, _run
from passmuster.traces import read_source

SECRET = "sk-proj-" + "a1B2" * 12
SUITE: dict[str, Any] = {
    "suite": "sweep",
    "tests": [
        {"id": "no_refunds", "metric": "tool_blocklist", "blocklist": ["refund"]},
        {"id": "args", "metric": "args_valid", "tool": "look", "constraints": {"key": {"maxLength": 3}}},
    ],
    "scenarios": [{"id": "S-1", "path": {"forbidden_tools": ["refund"]}}],
}


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_run, "LARGEST_PART", 3_000)


def run(options: api.RunOptions, **changes: Any) -> api.Run:
    with api.StandardInput() as stdin:
        return api.run(options.root, replace(options, **changes), stdin)


def sweep(folder: Path, count: int = 120) -> api.RunOptions:
    traces = [trace(n, "refund" if n % 3 == 0 else "look", scenario="S-1" if n % 5 else None) for n in range(count)]
    return write(folder, traces, SUITE)


def rows(folder: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line) for file in sorted(folder.glob("violations-*.jsonl")) for line in file.read_text().splitlines()
    ]


def no_reading(*arguments: Any) -> Any:
    raise AssertionError("a finished part was read again")


def test_finished_parts_are_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = sweep(tmp_path)
    plain = text(run(options).report)
    kept = replace(options, checkpoint=str(tmp_path / "kept"))
    assert text(run(kept).report) == plain
    monkeypatch.setattr(_evaluation, "read_source", no_reading)
    again = run(kept)
    assert text(again.report) == plain
    assert again.notes[0].startswith("from the checkpoint: ")
    # another day, and stricter: both only matter for the verdict
    assert run(kept, strict=True).report.exit_code == 1


@pytest.mark.parametrize("change", ["suite", "sample", "only"])
def test_what_changes_the_counts_is_counted_anew(tmp_path: Path, change: str) -> None:
    options = sweep(tmp_path)
    kept = replace(options, checkpoint=str(tmp_path / "kept"))
    run(kept)
    changes: dict[str, dict[str, Any]] = {"sample": {"sample": "50%"}, "only": {"only": ("no_refunds",)}, "suite": {}}
    asked = changes[change]
    if change == "suite":
        (tmp_path / "passmuster.json").write_text(json.dumps(SUITE).replace("refund", "look"))
    assert text(run(kept, **asked).report) == text(run(options, **asked).report)


def test_a_changed_plugin_is_noticed(tmp_path: Path) -> None:
    plugin = tmp_path / "own_checks.py"
    code = "import passmuster\n@passmuster.metric('own')\ndef own(trace, _):\n    return passmuster.MetricResult({})\n"
    plugin.write_text(code.format("'pass'"))
    suite = {"plugins": ["own_checks"], "tests": [{"id": "own", "metric": "own"}]}
    options = write(tmp_path, [trace(n) for n in range(30)], suite)
    kept = replace(options, checkpoint=str(tmp_path / "kept"))
    assert run(kept).report.exit_code == 0
    plugin.write_text(code.format("'fail'"))
    for name in ("own_checks", "__pycache__"):
        sys.modules.pop(name, None)
    shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)
    assert run(kept).report.exit_code == 1


def test_a_changed_file_is_noticed_and_read_again(tmp_path: Path) -> None:
    options = sweep(tmp_path)
    (tmp_path / "more.jsonl").write_text(json.dumps(trace(500)) + "\n")
    options = replace(options, traces=(str(tmp_path / "*.jsonl"),), checkpoint=str(tmp_path / "kept"))
    run(options)
    with (tmp_path / "more.jsonl").open("a") as file:
        file.write(json.dumps(trace(501, "refund")) + "\n")
    again = run(options)
    assert again.notes[1:] == ("changed since the checkpoint, and read again: more.jsonl",)
    assert text(again.report) == text(run(options, checkpoint=None).report)


def test_a_damaged_checkpoint_is_read_anew(tmp_path: Path) -> None:
    options = sweep(tmp_path)
    kept = replace(options, checkpoint=str(tmp_path / "kept"))
    run(kept)
    for number, file in enumerate(sorted((tmp_path / "kept").iterdir())):
        file.write_bytes([b"", b"{}", b"not json", file.read_bytes()[:-9], file.read_bytes()][number % 5])
    assert text(run(kept).report) == text(run(options).report)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 60), st.integers(200, 4_000), st.integers(0, 8), st.sampled_from([1, 2]), st.randoms())
def test_any_split_order_retry_and_resume_gives_the_same_report(
    tmp_path: Path, count: int, part_bytes: int, failing: int, attempts: int, chance: Any
) -> None:
    """Reading breaks at some part, once or twice; meanwhile finished parts may be lost from the folder."""
    options = replace(sweep(tmp_path, count), group_by=("day",))
    kept = tmp_path / "kept"
    shutil.rmtree(kept, ignore_errors=True)
    plain = text(run(options).report)
    read, order = read_source, _parts.cut

    def shuffled(*arguments: Any) -> Any:
        return chance.sample(parts := order(*arguments), len(parts))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_run, "LARGEST_PART", part_bytes)
        patch.setattr(_run, "cut", shuffled)
        for _ in range(attempts):
            left = failing

            def broken(*arguments: Any) -> Any:
                nonlocal left
                left -= 1
                if left < 0:
                    raise KeyboardInterrupt
                return read(*arguments)

            patch.setattr(_evaluation, "read_source", broken)
            try:
                run(options, checkpoint=str(kept))
            except KeyboardInterrupt:
                for file in chance.sample(files := list(kept.iterdir()), len(files) // 3):
                    file.unlink()
        patch.setattr(_evaluation, "read_source", read)
        assert text(run(options, checkpoint=str(kept)).report) == plain


def test_all_violations_are_written_and_redacted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    traces = [trace(n, "refund") for n in range(40)]
    traces.append({"trace_id": "k", "steps": [{"type": "tool_call", "tool": "look", "arguments": {"key": SECRET}}]})
    options = write(tmp_path, traces, SUITE)
    found = run(options, violations=str(tmp_path / "out"))
    written = rows(tmp_path / "out")
    assert len(written) == 41 == sum(test.violation_count for test in found.report.tests)
    assert {row["trace_id"] for row in written} == {one["trace_id"] for one in traces}
    assert SECRET not in str(written)
    line = next(row for row in written if row["test"] == "args")
    lines = (tmp_path / "traces.jsonl").read_bytes()
    assert json.loads(lines[line["trace_offset"] :].splitlines()[0])["trace_id"] == "k"
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert manifest["violations"] == 41
    assert {one["file"] for one in manifest["files"]} == {file.name for file in (tmp_path / "out").glob("viol*")}
    assert found.notes[0].startswith("41 violations in ")


def test_violations_of_scenarios_are_written_too(tmp_path: Path) -> None:
    options = write(tmp_path, [trace(1, "refund", scenario="S-1"), trace(2, scenario="S-1")], SUITE)
    run(options, violations=str(tmp_path / "out"))
    found = [(row.get("test"), row.get("check"), row.get("scenario")) for row in rows(tmp_path / "out")]
    assert found == [("no_refunds", None, "S-1"), (None, "forbidden_tools", "S-1")]


def test_violations_as_parquet(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    options = sweep(tmp_path)
    run(options, violations=str(tmp_path / "lines"))
    run(options, violations=str(tmp_path / "columns"), violations_format="parquet")
    found = [row for file in (tmp_path / "columns").glob("*.parquet") for row in parquet.read_table(file).to_pylist()]
    expected = rows(tmp_path / "lines")

    def places(listed: list[dict[str, Any]]) -> list[Any]:
        return sorted((row["trace_offset"], row.get("test") or "", row["message"]) for row in listed)

    assert places(found) == places(expected)


def test_a_run_that_fails_leaves_no_violations(tmp_path: Path) -> None:
    options = sweep(tmp_path)
    with (tmp_path / "traces.jsonl").open("a") as file:
        file.write("{not json\n")
    with pytest.raises(TraceError):
        run(options, violations=str(tmp_path / "out"))
    assert list((tmp_path / "out").iterdir()) == []


def test_violations_of_an_earlier_run_are_replaced_and_other_files_stay(tmp_path: Path) -> None:
    options = sweep(tmp_path)
    out = tmp_path / "out"
    run(options, violations=str(out))
    (out / "notes.txt").write_text("mine")
    run(options, violations=str(out), sample="40%")
    assert {row["trace_id"] for row in rows(out)} < {f"t-{n}" for n in range(0, 120, 3)}
    assert (out / "notes.txt").read_text() == "mine"


def test_a_resumed_run_has_all_violations(tmp_path: Path) -> None:
    options = replace(sweep(tmp_path), checkpoint=str(tmp_path / "kept"), violations=str(tmp_path / "out"))
    run(options)
    whole = sorted(map(str, rows(tmp_path / "out")))
    sorted((tmp_path / "out").glob("violations-*"))[0].unlink()
    sorted((tmp_path / "kept").iterdir())[0].unlink()
    run(options)
    assert sorted(map(str, rows(tmp_path / "out"))) == whole


@pytest.mark.parametrize("option", ["violations", "checkpoint"])
def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path, option: str) -> None:
    options = sweep(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=f"--{option}: cannot make this folder"):
        run(options, **{option: str(tmp_path / "file" / "inside")})


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_full_disk_is_told(tmp_path: Path) -> None:
    options = sweep(tmp_path)
    (tmp_path / "kept").mkdir(mode=0o500)
    with pytest.raises(OutsideError, match="cannot write to the checkpoint"):
        run(options, checkpoint=str(tmp_path / "kept"))


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_killed_sweep_goes_on(tmp_path: Path, workers: str) -> None:
    sweep(tmp_path, 1)
    line = json.dumps(trace(1, "refund", note="x" * 1_000)).replace('"note"', '"query"')
    (tmp_path / "traces.jsonl").write_text("".join(f"{line}\n" for _ in range(40_000)))  # three parts
    kept, report = tmp_path / "kept", tmp_path / "report.json"
    command = [sys.executable, "-m", "passmuster", "run", ".", "--traces", "traces.jsonl", "--no-history", "--quiet"]
    command += ["--workers", workers, "--checkpoint", str(kept), "--report", f"json={report}", "--today", "2026-01-01"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not (kept.is_dir() and any(kept.glob("*.part.json"))) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not report.exists()
    finished = len(list(kept.glob("*.part.json")))
    assert finished >= 1
    again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert again.returncode == 1
    assert "from the checkpoint: " in again.stderr
    found = json.loads(report.read_text())
    assert found["traces"]["read"] == found["tests"][0]["violation_count"] == 40_000
    assert found["tests"][0]["violations"][-1]["trace_line"] == 5_000
