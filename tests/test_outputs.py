"""Where the verdict goes: nothing that a run reads is overwritten, and an output that breaks is told, never a pass."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SUITE = "suite: s\ntests:\n  - {id: t, metric: tool_blocklist, blocklist: [bad]}\n"
GOOD, BAD = ({"steps": [{"type": "tool_call", "tool": tool}]} for tool in ("good", "bad"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "passmuster.yaml").write_text(SUITE)
    (tmp_path / "good.jsonl").write_text(json.dumps(GOOD))
    (tmp_path / "bad.jsonl").write_text(json.dumps(BAD))
    return tmp_path


def shell(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """A command line as a person types it, with its redirections."""
    line = command.replace("passmuster ", f"{sys.executable} -m passmuster ", 1)
    return subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "command",
    [
        "passmuster run --traces good.jsonl --report json=passmuster.yaml",
        "passmuster run --traces good.jsonl --report sarif=./good.jsonl",
        "passmuster baseline save --traces good.jsonl -o passmuster.yaml",
        "passmuster baseline save --traces good.jsonl -o good.jsonl",
        "passmuster check --report sarif=passmuster.yaml",
    ],
)
def test_what_is_read_is_not_overwritten(folder: Path, command: str) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    done = shell(folder, command)
    assert (done.returncode, "would overwrite what the run reads" in done.stderr) == (2, True)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")
@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("passmuster run --traces good.jsonl > /dev/full", 3),
        ("passmuster run --traces bad.jsonl > /dev/full", 1),
        ("passmuster run --traces good.jsonl --report json=- > /dev/full", 3),
        ("passmuster run --traces good.jsonl --quiet > /dev/full", 0),
        ("passmuster run --traces good.jsonl --quiet --report json=/dev/full", 3),
        ("passmuster history > /dev/full", 3),
        ("passmuster --version > /dev/full", 3),
        ("passmuster --help > /dev/full", 3),
        ("passmuster baseline save --help > /dev/full", 3),
        ("passmuster help run > /dev/full", 3),
        ("passmuster completion bash > /dev/full", 3),
    ],
)
def test_an_output_that_is_full_is_told_and_is_no_failure_of_the_gate(folder: Path, command: str, code: int) -> None:
    done = shell(folder, command)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False)
    if code:
        assert "no space left on device" in done.stderr.lower()
    assert "unexpected failure" not in done.stderr


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("passmuster run --traces good.jsonl >&-", 0),
        ("passmuster run --traces bad.jsonl >&-", 1),
        ("passmuster history >&-", 3),
        ("passmuster run --traces good.jsonl --report json=report.json 2>&- >/dev/null", 0),
        ("passmuster run --traces good.jsonl --report json=- >&-", 3),
    ],
)
def test_an_output_that_is_closed_changes_no_verdict(folder: Path, command: str, code: int) -> None:
    done = shell(folder, command)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False)
    assert (folder / "report.json").exists() == ("report.json" in command)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")
@pytest.mark.parametrize("end", ["2> /dev/full", "2>&-", "2>&1 | true"])
@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("passmuster run --traces none.jsonl", 2),
        ("passmuster history nowhere", 2),
        ("passmuster compare 1 nowhere.json", 2),
        ("passmuster baseline show none.json", 2),
    ],
)
def test_a_mistake_that_cannot_be_told_is_one_still(folder: Path, command: str, code: int, end: str) -> None:
    assert shell(folder, f"{command} {end}; exit ${{PIPESTATUS[0]}}").returncode == code


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")
def test_a_report_that_nobody_hears_of_is_no_failure_of_the_gate(folder: Path) -> None:
    assert shell(folder, "passmuster run --traces good.jsonl > /dev/full 2> /dev/full").returncode == 3


@pytest.mark.parametrize(("traces", "code"), [("good", 3), ("bad", 1)])
def test_a_report_that_cannot_be_written_does_not_take_the_verdict_with_it(
    folder: Path, traces: str, code: int
) -> None:
    command = f"ulimit -f 1; trap '' XFSZ; passmuster run --no-history --traces {traces}.jsonl --report json=r.json"
    done = shell(folder, command)
    assert done.returncode == code
    assert "1 trace" in done.stdout
    assert "r.json: cannot write this report: " in done.stderr
    assert "Nothing was evaluated" not in done.stderr
    assert "not every report could be written" in done.stderr
    assert not (folder / "r.json").exists()
