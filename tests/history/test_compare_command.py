"""`passmuster compare`, from runs of the history and from report files."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace
from tests.cli_runner import CliRunner

import passmuster
from passmuster.cli._main import command as group
from passmuster.history import _reading as report_file

SOURCE = Path(passmuster.__file__).parent.parent
SUITE = "suite: shop\ntests: [{id: none, metric: tool_blocklist, blocklist: [bad_*]}]\n"


class Ended(NamedTuple):
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


def invoke(*arguments: str, cwd: Path) -> Ended:
    with contextlib.chdir(cwd):
        result = CliRunner().invoke(group, list(arguments))
    return Ended(result.exit_code, result.stdout, result.stderr)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A suite with a run that passed (1, good.json) and one that failed (2, bad.json)."""
    (tmp_path / "passmuster.yaml").write_text(SUITE)
    for name, tool in (("good", "fine"), ("bad", "bad_one")):
        call = {"type": "tool_call", "tool": tool, "arguments": {}}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(call) + "\n")
        invoke("run", "--quiet", "--traces", f"{name}.jsonl", "--report", f"json={name}.json", cwd=tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("before", "after"), [("1", "2"), ("good.json", "bad.json"), ("1", "bad.json"), ("good.json", "2"), ("01", "2")]
)
def test_runs_and_report_files_are_compared_alike(folder: Path, before: str, after: str) -> None:
    ended = invoke("compare", before, after, cwd=folder)
    assert (ended.returncode, ended.stderr) == (0, "")
    names = [f"run {int(name)}" if name.isdecimal() else name for name in (before, after)]
    assert ended.stdout.startswith(
        f"{names[0]} → {names[1]}: shop (passmuster.yaml)\n\nVerdict: pass → fail (exit code 0 → 1)\n"
    )
    assert "Gate: 1 newly failing\n   ❌ test none: fail" in ended.stdout
    assert "Tests\n   none  pass → fail\n" in ended.stdout
    assert "Violations: 1 new\n   + none: bad_one, bad_*" in ended.stdout


def test_the_way_back_is_fixed(folder: Path) -> None:
    shown = invoke("compare", "2", "1", cwd=folder).stdout
    assert "Gate: 1 fixed\n   ✓ test none: fixed" in shown
    assert "Violations: 1 fixed\n   − none: bad_one, bad_*" in shown


def test_the_same_run_did_not_change(folder: Path) -> None:
    shown = invoke("compare", "1", "1", cwd=folder).stdout
    assert shown == "run 1 → run 1: shop (passmuster.yaml)\n\nNothing changed.\n"
    assert "Nothing changed." in invoke("compare", "1", "good.json", cwd=folder).stdout


def test_a_comparison_is_a_document_for_programs(folder: Path) -> None:
    document = json.loads(invoke("compare", "1", "2", "--json", cwd=folder).stdout)
    assert (document["schema"], document["changed"]) == ("passmuster.comparison/1", True)
    assert (document["before"]["verdict"], document["after"]["verdict"]) == ("pass", "fail")
    assert document["gate"][0]["turn"] == "failing"
    assert document["tests"] == [
        {"id": "none", "before": "pass", "after": "fail", "score_before": None, "score_after": None}
    ]
    assert document["violations"][0]["pattern"] == "bad_*"
    assert json.loads(invoke("compare", "2", "2", "--json", cwd=folder).stdout)["changed"] is False


def test_the_suite_may_lie_elsewhere_and_is_needed_for_runs_only(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / ".git").mkdir()
    assert invoke("compare", "1", "2", "--suite", str(folder), cwd=elsewhere).returncode == 0
    files = [str(folder / name) for name in ("good.json", "bad.json")]
    assert invoke("compare", *files, cwd=elsewhere).returncode == 0
    ended = invoke("compare", "1", "2", cwd=elsewhere)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "no suite found here or above" in ended.stderr


def test_runs_of_two_suites_are_compared_with_a_note(folder: Path) -> None:
    (folder / "passmuster.yaml").write_text(SUITE.replace("shop", "store"))
    invoke("run", "--quiet", "--traces", "good.jsonl", cwd=folder)
    ended = invoke("compare", "1", "3", cwd=folder)
    assert ended.returncode == 0
    assert "Note: these are two different suites; the first is shop (passmuster.yaml)" in ended.stdout


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("none.json", None, "none.json: there is no such report file"),
        ("a.json", b'{"schema":\n  @}', "a.json:2:3: expected a report (passmuster.report/1), and this is not JSON: "),
        ("a.json", b"", "a.json: expected a report (passmuster.report/1), and this is not JSON: "),
        ("a.json", b'{"schema": "\xff"}', "a.json: expected a report (passmuster.report/1), and this is not JSON: "),
        ("a.json", b'{"a":' * 200_000, "a.json: expected a report (passmuster.report/1), and this is not JSON: "),
        ("a.json", b"[]", "a.json: expected a report (passmuster.report/1), found another document"),
        ("a.json", b'{"schema": "passmuster.report/9"}', "found the schema 'passmuster.report/9'"),
        ("a.json", b'{"schema": "\\u001b[31m"}', "found the schema"),
        (".", None, ".: this is a folder; expected a report file"),
        ("3", None, "history.db: there is no run 3; the stored runs are 1 to 2"),
        ("99999999999999999999", None, "99999999999999999999: there is no such report file"),
    ],
)
def test_what_is_no_report_is_told_with_its_place(folder: Path, name: str, content: bytes | None, says: str) -> None:
    if content is not None:
        (folder / name).write_bytes(content)
    for arguments in (["1", name], [name, "1"]):
        ended = invoke("compare", *arguments, cwd=folder)
        assert (ended.returncode, ended.stdout) == (2, "")
        assert says in ended.stderr
        assert "\x1b" not in ended.stderr


def test_a_file_larger_than_any_report_is_not_read_whole(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_file, "REPORT", replace(report_file.REPORT, most_bytes=2**20))
    (folder / "large.json").write_bytes(b" " * (2**20 + 1))
    ended = invoke("compare", "good.json", "large.json", cwd=folder)
    assert (ended.returncode, ended.stderr) == (2, "error: large.json: this is larger than any report (1 MiB)\n")


def test_an_old_report_that_lacks_keys_is_compared(folder: Path) -> None:
    (folder / "old.json").write_text('{"schema": "passmuster.report/1", "verdict": "pass", "exit_code": 0}')
    ended = invoke("compare", "old.json", "2", cwd=folder)
    assert ended.returncode == 0
    assert "Verdict: pass → fail" in ended.stdout
    assert "none  new, fail" in ended.stdout


def test_a_stream_without_marks_gets_words(folder: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "passmuster", "compare", "1", "2"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=True,
    )
    assert ended.stdout.startswith(b"run 1 -> run 2: shop")
    assert b"   test none: fail" in ended.stdout
    assert ended.stderr == b""
