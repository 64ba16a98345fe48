"""`passmuster run` that keeps its runs, and `passmuster history` that lists them."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.cli_runner import CliRunner
from tests.reports import report_factory as made

import passmuster
from passmuster.cli._main import command as group
from passmuster.history._reading import History, Run, read_history, report_of
from passmuster.history._store import history_file, keep
from passmuster.reports._history_text import course, history_lines
from passmuster.reports.formats.json import write
from passmuster.scoring._report import Metric
from passmuster.scoring._report_documents import Figure

SOURCE = Path(passmuster.__file__).parent.parent
SUITE = """
suite: shop
agent: {name: clerk, version: '2.1.0'}
tests: [{id: none, metric: tool_blocklist, blocklist: [bad_*]}]
"""


class Ended(NamedTuple):
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


def invoke(*arguments: str, cwd: Path) -> Ended:
    with contextlib.chdir(cwd):
        result = CliRunner().invoke(group, list(arguments))
    return Ended(result.exit_code, result.stdout, result.stderr)


def process(*arguments: str, cwd: Path, before: str = "", **env: str) -> Ended:
    """The command in a process of its own; `before` is what it executes first."""
    code = f"{before}\nimport sys\nfrom passmuster.__main__ import main\nsys.argv[0] = 'passmuster'\nmain()"
    ended = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(SOURCE), **env},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A suite with a trace that holds it and one that does not."""
    (tmp_path / "passmuster.yaml").write_text(SUITE)
    for name, tool in (("good", "fine"), ("bad", "bad_one")):
        call = {"type": "tool_call", "tool": tool, "arguments": {"key": "sk-ant-api03-" + "a1B2" * 20}}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(call) + "\n")
    return tmp_path


def runs(folder: Path) -> list[Run]:
    return read_history(folder, "passmuster.yaml", 999).runs


def a_run(number: int, **fields: Any) -> Run:
    whole: dict[str, Any] = {
        "id": number,
        "time": "2026-01-31T09:30:00Z",
        "suite": "shop",
        "suite_file": "passmuster.yaml",
        "suite_sha256": "ab",
        "verdict": "pass",
        "exit_code": 0,
        "agent_version": None,
        "duration_ms": 1.0,
        "passed": 3,
        "failed": 0,
        "metrics": {},
    }
    return Run(**{**whole, **fields})


# ── What a run keeps ────────────────────────────────────────────────────────────────────────────────────────


def test_every_full_run_is_kept(folder: Path) -> None:
    assert invoke("run", "--traces", "good.jsonl", cwd=folder).returncode == 0
    assert invoke("run", "--traces", "bad.jsonl", "--quiet", "--report", "json=r.json", cwd=folder).returncode == 1
    first, second = runs(folder)
    assert (first.id, first.verdict, first.exit_code, first.passed, first.failed) == (1, "pass", 0, 1, 0)
    assert (second.id, second.verdict, second.exit_code, second.passed, second.failed) == (2, "fail", 1, 0, 1)
    assert (first.suite, first.agent_version) == ("shop", "2.1.0")
    report = json.loads((folder / "r.json").read_bytes())
    assert second.suite_sha256 == report["provenance"]["suite_sha256"]


@pytest.mark.parametrize("arguments", [["--no-history"], ["--only", "none"]])
def test_what_is_not_to_be_kept_leaves_no_trace(folder: Path, arguments: list[str]) -> None:
    assert invoke("run", "--traces", "good.jsonl", *arguments, cwd=folder).returncode == 0
    assert not (folder / ".passmuster").exists()


def test_what_is_kept_has_its_secrets_hidden(folder: Path) -> None:
    suite = "tests: [{id: a, metric: args_valid, policy: p.yaml}]\n"
    (folder / "passmuster.yaml").write_text(suite)
    (folder / "p.yaml").write_text("tools:\n  bad_one:\n    arguments:\n      key: {type: string, maxLength: 3}\n")
    ended = invoke("run", "--traces", "bad.jsonl", "--report", "json=r.json", cwd=folder)
    assert ended.returncode == 1, ended.stderr
    shown = invoke("compare", "1", "1", "--json", cwd=folder)
    assert shown.returncode == 0
    stored = json.dumps(report_of(folder, 1))
    assert "hidden" in stored
    assert "a1B2a1B2" not in stored
    assert report_of(folder, 1) == json.loads((folder / "r.json").read_bytes())


FULL = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))"


@pytest.mark.parametrize(
    "trouble", ["a file in the way", "damaged", "newer", "no room", "no room for one more", "held"]
)
def test_a_history_that_cannot_be_written_is_one_note_and_changes_nothing(folder: Path, trouble: str) -> None:
    before = ""
    (folder / ".git").mkdir()
    if trouble in ("newer", "no room for one more", "held"):
        assert process("run", "--traces", "bad.jsonl", cwd=folder).returncode == 1
    plain = process("run", "--traces", "bad.jsonl", "--no-history", cwd=folder)
    held = contextlib.ExitStack()
    match trouble:
        case "a file in the way":
            (folder / ".passmuster").write_text("")
        case "damaged":
            (folder / ".passmuster").mkdir()
            history_file(folder).write_bytes(os.urandom(5000))
        case "newer":
            with contextlib.closing(sqlite3.connect(history_file(folder))) as connection:
                connection.execute("PRAGMA user_version = 99")
        case "held":
            before = "import passmuster.history._store as s; s._PATIENCE = 0.1"
            connection = held.enter_context(
                contextlib.closing(sqlite3.connect(history_file(folder), isolation_level=None))
            )
            connection.execute("BEGIN IMMEDIATE")
        case _:
            pytest.importorskip("resource")
            before = FULL
    with held:
        ended = process("run", "--traces", "bad.jsonl", cwd=folder, before=before)
    assert (ended.returncode, ended.stdout) == (plain.returncode, plain.stdout) == (1, plain.stdout)
    assert re.fullmatch(r"note: this run was not added to the history: .+\n", ended.stderr)
    assert plain.stderr == ""
    if trouble == "no room for one more":
        assert len(runs(folder)) == 1


def test_runs_of_the_command_at_once_are_all_kept(folder: Path) -> None:
    arguments = [sys.executable, "-m", "passmuster", "run", "--quiet", "--traces"]
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    started = [
        subprocess.Popen([*arguments, f"{name}.jsonl"], cwd=folder, env=env, stderr=subprocess.PIPE)
        for name in ("good", "bad") * 4
    ]
    assert [one.communicate(timeout=60)[1] for one in started] == [b""] * 8
    assert [one.returncode for one in started] == [0, 1] * 4
    assert sorted(run.id for run in runs(folder)) == list(range(1, 9))
    assert sorted(run.verdict for run in runs(folder)) == ["fail"] * 4 + ["pass"] * 4


# ── Listing ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_runs_are_listed_oldest_first(folder: Path) -> None:
    for name in ("good", "bad", "good"):
        invoke("run", "--traces", f"{name}.jsonl", cwd=folder)
    ended = invoke("history", cwd=folder)
    assert (ended.returncode, ended.stderr) == (0, "")
    lines = ended.stdout.splitlines()
    assert lines[:3] == ["shop (passmuster.yaml): 3 runs", "", lines[2]]
    assert lines[2].split() == ["run", "time", "(UTC)", "verdict", "passed", "failed", "agent"]
    rows = [line.split() for line in lines[3:6]]
    assert [(row[0], row[3], row[4], row[5], row[6]) for row in rows] == [
        ("1", "pass", "1", "0", "2.1.0"),
        ("2", "fail", "0", "1", "2.1.0"),
        ("3", "pass", "1", "0", "2.1.0"),
    ]
    assert "the last 2 of 3 runs" in invoke("history", "--last", "2", cwd=folder).stdout
    assert invoke("history", "passmuster.yaml", cwd=folder).stdout == ended.stdout
    (folder / "deeper").mkdir()
    assert invoke("history", cwd=folder / "deeper").stdout == ended.stdout


def test_a_root_of_its_own_has_a_history_of_its_own(folder: Path) -> None:
    (folder / "inner").mkdir()
    (folder / "inner" / "passmuster.yaml").write_text(SUITE)
    invoke("run", "inner", "--traces", "good.jsonl", "--root", ".", cwd=folder)
    assert "inner/passmuster.yaml): 1 run" in invoke("history", "inner", "--root", ".", cwd=folder).stdout
    assert "No run of passmuster.yaml" in invoke("history", "inner", cwd=folder).stdout


def test_the_history_is_a_document_for_programs(folder: Path) -> None:
    report = made.report(made.test_report(), metrics={"f1": Metric(0.5, 4, (0.25, 0.75)), "pass_rate": Metric(None, 0)})
    keep(report, write(report), folder)
    document = json.loads(invoke("history", "--json", cwd=folder).stdout)
    assert (document["schema"], document["suite_file"], document["total"]) == (
        "passmuster.history/1",
        "passmuster.yaml",
        1,
    )
    (run,) = document["runs"]
    assert run["metrics"]["f1"] == {"value": 0.5, "n": 4, "ci95": [0.25, 0.75]}
    assert (run["id"], run["agent_version"], run["passed"]) == (1, None, 1)
    narrowed = json.loads(invoke("history", "--json", "--metric", "f1", cwd=folder).stdout)
    assert list(narrowed["runs"][0]["metrics"]) == ["f1"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere"], "error: nowhere: there is no such suite file or folder\n"),
        (["--metric", "pass_rat"], "--metric pass_rat: none of these runs has this metric; did you mean 'pass_rate'?"),
        (["--root", "nowhere"], "error: nowhere: the root is not a folder\n"),
        (["--last", "0"], "--last"),
    ],
)
def test_what_is_asked_wrongly_is_told(folder: Path, arguments: list[str], says: str) -> None:
    report = made.report(made.test_report())
    keep(report, write(report), folder)
    ended = invoke("history", *arguments, cwd=folder)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert says in ended.stderr


def test_no_history_yet_is_a_plain_sentence(folder: Path) -> None:
    ended = invoke("history", cwd=folder)
    expected = "No run of passmuster.yaml is stored yet; every full `passmuster run` is stored.\n"
    assert ended == (0, expected, "")
    assert not (folder / ".passmuster").exists()
    (folder / ".passmuster").mkdir()
    history_file(folder).write_bytes(b"x" * 200)
    ended = invoke("history", cwd=folder)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "history.db: it is damaged" in ended.stderr


# ── Drawing ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("values", "drawn"),
    [
        ([0, 1, 2, 3, 4, 5, 6, 7], "▁▂▃▄▅▆▇█"),
        ([0.5, 1.0, None, 0.5], "▁█ ▁"),
        ([0.9, 0.9], "▄▄"),
        ([None, None], "  "),
        ([], ""),
        ([-1e308, 1e308], "▁█"),
    ],
)
def test_a_course_is_drawn_in_blocks(values: list[float | None], drawn: str) -> None:
    assert course(values) == drawn


def history_of(number: int, **metrics: float | None) -> History:
    entries = {name: Figure(value, 10, None) for name, value in metrics.items()}
    return History("passmuster.yaml", number, [a_run(n, metrics=entries) for n in range(1, number + 1)])


def test_each_metric_has_a_course_and_the_main_ones_a_column() -> None:
    rates = (0.5, None, 0.75, 1.0)
    entries = [
        a_run(
            n,
            metrics={
                "pass_rate": Figure(rate, 4, None),
                "total_cost_usd": Figure(0.0125 * n, 4, None),
                "own": Figure(n / 4, 1, None),
            },
        )
        for n, rate in enumerate(rates, 1)
    ]
    lines = history_lines(History("passmuster.yaml", 4, entries))
    assert lines[2] == "run  time (UTC)        verdict  passed  failed  pass_rate  total_cost_usd"
    assert lines[3] == "  1  2026-01-31 09:30  pass          3       0        50%      0.0125 USD"
    assert lines[4].split()[-3:] == ["–", "0.025", "USD"]
    assert lines[-3:] == [
        "pass_rate       ▁ ▅█  min 50%  max 100%  last 100%",
        "total_cost_usd  ▁▃▆█  min 0.0125  max 0.05  last 0.05 USD",
        "own             ▁▃▆█  min 25%  max 100%  last 100%",
    ]
    only = history_lines(History("passmuster.yaml", 4, entries), ["own"])
    assert only[2].split()[-2:] == ["failed", "own"]
    assert len(only) == len(lines) - 2


def test_a_run_stands_in_one_column_of_all_courses() -> None:
    lines = history_lines(history_of(30, pass_rate=0.5, total_cost_usd=1234.5, f1=None))
    assert lines[-3:] == [
        f"pass_rate       {'▄' * 23}  min 50%  max 50%  last 50%",
        f"total_cost_usd  {'▄' * 23}  min 1234.5  max 1234.5  last 1234.5 USD",
        f"f1              {' ' * 23}  no value",
    ]


def test_everything_fits_into_80_columns() -> None:
    names = ["pass_rate", "accuracy", "safety_rate", "total_cost_usd", "latency_p95", "total_tokens", "x" * 200]
    entries = [
        a_run(
            10**9 + n,
            agent_version="2.1.0-nightly.20260131" * 3,
            verdict="error",
            metrics={name: Figure(123456.789 * n, 10, None) for name in names},
        )
        for n in range(200)
    ]
    lines = history_lines(History("passmuster.yaml", 1000, entries))
    assert max(map(len, lines)) <= 80
    assert "2.1.0-night…" in lines[3]


def test_nothing_from_the_data_reaches_the_terminal_raw(folder: Path) -> None:
    evil = "a\x1b[31m\u202e\n##[error]b"
    report = made.report(made.test_report(), suite=evil, agent_version=evil, metrics={evil: Metric(0.5, 4)})
    keep(report, write(report), folder)
    for arguments in (["history"], ["history", "--metric", evil], ["history", "--metric", f"{evil}x"]):
        ended = invoke(*arguments, cwd=folder)
        told = ended.stdout + ended.stderr
        assert r"\x1b[31m" in told
        assert not set(told) & {"\x1b", "\u202e", "\r"}
        assert "##[" not in told


@pytest.mark.parametrize(
    "env", [{"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "latin-1"}, {"PYTHONIOENCODING": "cp437"}]
)
def test_a_stream_without_blocks_gets_plain_characters(folder: Path, env: dict[str, str]) -> None:
    for value in (0.5, 1.0):
        report = made.report(made.test_report(), suite="Prüfung", metrics={"pass_rate": Metric(value, 4)})
        keep(report, write(report), folder)
    ended = subprocess.run(
        [sys.executable, "-m", "passmuster", "history"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(SOURCE), **env},
        capture_output=True,
        check=True,
    )
    assert b"pass_rate  _#  min 50%  max 100%  last 100%" in ended.stdout
    assert ended.stderr == b""


def test_a_reader_that_leaves_early_is_no_failure(folder: Path) -> None:
    invoke("run", "--traces", "good.jsonl", cwd=folder)
    arguments = [sys.executable, "-m", "passmuster", "history"]
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    with subprocess.Popen(arguments, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as started:
        assert started.stdout
        assert started.stderr
        started.stdout.close()
        assert started.stderr.read() == b""
    assert started.returncode == 0
