"""An error that nobody foresaw: exit code 3, a short message, and the traceback in a file without secrets."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import passmuster

SOURCE = Path(passmuster.__file__).parent.parent
SUITE = "tests: [{id: t, metric: tool_blocklist, blocklist: [bad]}]\n"
GOOD = '{"steps": [{"type": "tool_call", "tool": "good"}]}\n'
SECRET = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"

# Breaks one function of the program itself, in the command's own process or in its workers, then runs the command.
BREAK = """
import sys
sys.path[:0] = {path!r}
import {module} as module
def broken(*args, **kwargs):
    raise {error}
module.{name} = broken
from passmuster.__main__ import main
sys.argv = ["passmuster", *{arguments!r}]
main()
"""


def run_broken(
    folder: Path, module: str, name: str, error: str, *arguments: str, script: str = BREAK, **env: str
) -> subprocess.CompletedProcess[str]:
    path = [str(SOURCE), *filter(None, sys.path)]
    script = script.format(path=path, module=module, name=name, error=error, arguments=arguments)
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    environment = {**os.environ, "TMPDIR": str(temporary), **env}
    return subprocess.run(
        [sys.executable, "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "passmuster.yaml").write_text(SUITE)
    (tmp_path / "t.jsonl").write_text(GOOD)
    return tmp_path


RUN = ("run", "--traces", "t.jsonl", "--no-history")


@pytest.mark.parametrize(
    ("module", "name", "error", "arguments"),
    [
        ("passmuster.engine._run", "conclude_run", "ZeroDivisionError('float division by zero')", RUN),
        ("passmuster.engine._run", "conclude_run", "RecursionError('maximum recursion depth exceeded')", RUN),
        ("passmuster.engine._run", "conclude_run", "MemoryError()", RUN),
        ("passmuster.api._run", "redact_report", "KeyError('x')", RUN),
        (
            "passmuster.api._run",
            "render",
            "UnicodeEncodeError('utf-8', 'x', 0, 1, 'why')",
            (*RUN, "--report", "json=r"),
        ),
        ("passmuster.api._run", "load_suite", "BrokenPipeError(32, 'Broken pipe')", RUN),
        ("passmuster.api._history", "root_of", "RuntimeError('boom')", ("history",)),
        ("passmuster.api._save_baseline", "load_suite", "RuntimeError('boom')", ("baseline", "save", "-o", "b.json")),
    ],
)
def test_it_is_told_in_a_line_or_two(
    folder: Path, module: str, name: str, error: str, arguments: tuple[str, ...]
) -> None:
    found = run_broken(folder, module, name, error, *arguments)
    assert found.returncode == 3, found.stderr
    assert "Traceback" not in found.stderr + found.stdout
    assert f"error: unexpected failure of passmuster itself: {error.partition('(')[0]}" in found.stderr
    details = re.search(r"Details: (\S+?)\. ", found.stderr)
    assert details is not None
    text = Path(details[1]).read_text()
    assert "Traceback (most recent call last):" in text
    assert error.partition("(")[0] in text
    assert [path.name for path in (folder / "tmp").iterdir()] == [Path(details[1]).name]


def test_the_file_holds_no_secret(folder: Path) -> None:
    found = run_broken(folder, "passmuster.engine._run", "conclude_run", f"ValueError('token={SECRET}')", *RUN)
    (details,) = (folder / "tmp").iterdir()
    assert SECRET not in found.stderr + found.stdout + details.read_text()
    assert "[hidden #1]" in details.read_text()


def test_a_failing_suite_still_wins_over_one_that_could_not_be_decided(folder: Path) -> None:
    (folder / "t.jsonl").write_text(GOOD.replace("good", "bad"))
    other = folder / "other"
    other.mkdir()
    (other / "passmuster.yaml").write_text(SUITE)
    only_other = "    if args[0].path.parent.name != 'other':\n        return real(*args, **kwargs)\n    raise"
    script = BREAK.replace("def broken", "real = module.conclude_run\ndef broken").replace("    raise", only_other)
    arguments = ("run", ".", "other", "--traces", "t.jsonl", "--no-history")
    error = "RuntimeError('boom')"
    found = run_broken(folder, "passmuster.engine._run", "conclude_run", error, *arguments, script=script)
    assert (found.returncode, "unexpected failure" in found.stderr) == (1, True), found.stderr


def test_without_room_for_the_file_the_error_itself_is_told(folder: Path) -> None:
    found = run_broken(
        folder, "passmuster.engine._run", "conclude_run", "ValueError('boom')", *RUN, TMPDIR="/dev/null/nowhere"
    )
    assert found.returncode == 3
    assert "ValueError: boom" in found.stderr
    assert "Traceback" not in found.stderr


def test_a_worker_that_breaks_hands_over_its_traceback(folder: Path) -> None:
    (folder / "u.jsonl").write_text(GOOD)
    (folder / "mine.py").write_text(
        "from passmuster import MetricResult, metric\n"
        "from passmuster.engine import _evaluation\n"
        "def broken(*args, **named): raise RuntimeError('broken in a worker')\n"
        "_evaluation.read_source = broken\n"
        "@metric('mine')\ndef mine(trace, config): return MetricResult()\n"
    )
    (folder / "passmuster.yaml").write_text("plugins: [mine]\ntests: [{id: t, metric: mine}]\n")
    (folder / "tmp").mkdir()
    command = [sys.executable, "-m", "passmuster", *RUN, "--traces", "u.jsonl", "--workers", "2"]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "TMPDIR": str(folder / "tmp")}
    found = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert found.returncode == 3, found.stderr
    assert "a worker process failed: RuntimeError: broken in a worker" in found.stderr
    assert "Traceback" not in found.stderr
    (details,) = (folder / "tmp").iterdir()
    assert "_worker.py" in details.read_text()
