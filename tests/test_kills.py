"""A run that is ended, that has no room, or that is not alone leaves whole files or none."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fuzzing.kills import COMMANDS, RUN, SAVE, SIGNALS, broken_files, kill_once, lay, start

MOMENTS = (0.05, 0.5, 1.0)


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("arguments", COMMANDS, ids=("run", "save", "workers"))
def test_a_run_that_is_ended_leaves_whole_files_or_none(
    tmp_path: Path, arguments: tuple[str, ...], number: signal.Signals
) -> None:
    lay(tmp_path)
    for moment in MOMENTS:
        code, errors, broken = kill_once(tmp_path, arguments, number, moment)
        assert broken == []
        # Before Python has set up its handlers, a signal ends it as it ends any process.
        assert code in (0, 1, 2, 3, 130, -number), errors
        if moment > 0.5:
            assert "Traceback" not in errors


@pytest.mark.parametrize("most", [0, 1, 100, 2_000, 20_000, 200_000])
@pytest.mark.parametrize("arguments", [RUN, SAVE], ids=("run", "save"))
def test_a_disk_without_room_is_told_and_leaves_whole_files_or_none(
    tmp_path: Path, arguments: tuple[str, ...], most: int
) -> None:
    lay(tmp_path)

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "passmuster", *arguments]
    found = subprocess.run(command, cwd=tmp_path, env=environment, preexec_fn=limit, capture_output=True, text=True)
    assert found.returncode in (0, 1, 3)
    assert "Traceback" not in found.stderr
    assert "unexpected failure" not in found.stderr
    assert broken_files(tmp_path) == []
    assert [path.name for path in tmp_path.rglob("*.tmp")] == []
    if most <= 100:
        assert found.returncode == 1 if arguments == RUN and found.returncode != 3 else found.returncode == 3, found


def test_runs_at_once_leave_whole_files_and_a_whole_history(tmp_path: Path) -> None:
    lay(tmp_path)
    processes = [start(tmp_path, arguments) for arguments in (RUN, SAVE, RUN, SAVE)]
    codes = []
    for process in processes:
        with process:
            process.wait(timeout=120)
        codes.append(process.returncode)
    assert broken_files(tmp_path) == []
    assert set(codes) <= {0, 1}
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    listed = subprocess.run(
        [sys.executable, "-m", "passmuster", "history", "--json"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        check=True,
    )
    assert json.loads(listed.stdout)["total"] == 2


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-", "> /dev/full", "2> /dev/full"])
def test_closed_and_full_streams_change_no_verdict(tmp_path: Path, closed: str) -> None:
    lay(tmp_path)
    line = f"{sys.executable} -m passmuster run --traces t.jsonl --no-history --report json=r.json {closed}"
    expected = subprocess.run(["bash", "-c", line.replace(closed, "")], cwd=tmp_path, capture_output=True).returncode
    found = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True)
    allowed = {expected, 3} if "full" in closed else {expected}
    assert found.returncode in allowed
    assert "Traceback" not in found.stdout + found.stderr
    assert broken_files(tmp_path) == []
