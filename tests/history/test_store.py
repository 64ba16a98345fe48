"""Keeping runs: real database files, real processes, real obstacles."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path
from typing import Any

import pytest
from tests.reports import report_factory as made

import passmuster
from passmuster._atomic_write import PRIVATE_FOLDER
from passmuster.history import _schema as schema
from passmuster.history import _store as store
from passmuster.history._reading import read_history, report_of
from passmuster.history._store import HistoryError, history_file, keep
from passmuster.reports.formats.json import write
from passmuster.scoring._report import Metric, Report
from passmuster.scoring._report_documents import Figure

SOURCE = Path(passmuster.__file__).parent.parent
REPOSITORY = Path(__file__).parent.parent.parent

WRITER = """
import sys
from pathlib import Path
from passmuster.history._store import keep
from passmuster.reports.formats.json import write
from tests.reports import report_factory as made

root, number, suite_file = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
report = made.report(made.test_report(*[made.too_much(value=n) for n in range(200)]), suite_file=suite_file)
print("ready", flush=True)
sys.stdin.readline()
for _ in range(number):
    print(keep(report, write(report), root), flush=True)
"""


def kept(report: Report, root: Path, **fields: Any) -> int:
    run = keep(report, write(report), root, **fields)
    assert run is not None
    return run


def query(root: Path, text: str) -> list[tuple[Any, ...]]:
    with contextlib.closing(sqlite3.connect(history_file(root))) as connection:
        return connection.execute(text).fetchall()


def writer(root: Path, number: int, suite_file: str) -> subprocess.Popen[str]:
    """A process that is about to keep so many runs and prints the number of each one it has kept."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(root), str(number), suite_file],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCE), str(REPOSITORY)])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    return process


# ── What is kept ────────────────────────────────────────────────────────────────────────────────────────────


def test_a_run_is_kept_with_its_metrics_and_its_whole_report(tmp_path: Path) -> None:
    report = made.report(
        made.test_report(made.too_much()),
        made.test_report(id="other"),
        scenarios=[made.scenario(), made.scenario(id="b", status="missing"), made.scenario(id="c", status="skip")],
        metrics={"pass_rate": Metric(0.9, 10, (0.6, 0.98)), "f1": Metric(None, 0)},
        agent_version="2.1.0",
    )
    assert kept(report, tmp_path) == 1
    (run,) = read_history(tmp_path, "passmuster.yaml", 10).runs
    assert (run.id, run.suite, run.suite_file) == (1, "customer-service", "passmuster.yaml")
    assert run.suite_sha256 == "ab" * 32
    assert (run.verdict, run.exit_code, run.agent_version, run.duration_ms) == ("fail", 1, "2.1.0", 1234.568)
    assert (run.passed, run.failed) == (2, 2)
    assert run.metrics == {"pass_rate": Figure(0.9, 10, (0.6, 0.98)), "f1": Figure(None, 0, None)}
    assert abs(time.time() - time.mktime(time.strptime(run.time, "%Y-%m-%dT%H:%M:%SZ")) + time.timezone) < 60
    assert query(tmp_path, "SELECT run, name, value, n, low, high FROM metrics ORDER BY name") == [
        (1, "f1", None, 0, None, None),
        (1, "pass_rate", 0.9, 10, 0.6, 0.98),
    ]
    ((stored,),) = query(tmp_path, "SELECT report FROM reports")
    assert zlib.decompress(stored) == write(report)
    assert report_of(tmp_path, 1)["tests"][0]["violations"][0]["tool"] == "apply_discount"


def test_a_number_beyond_what_sqlite_counts_is_kept(tmp_path: Path) -> None:
    kept(made.report(made.test_report(), metrics={"total_tokens": Metric(2**64, 1), "f1": Metric(0, 1)}), tmp_path)
    (run,) = read_history(tmp_path, "passmuster.yaml", 10).runs
    assert run.metrics == {"total_tokens": Figure(2.0**64, 1, None), "f1": Figure(0.0, 1, None)}


def test_numbers_run_on_and_suites_are_told_apart_by_their_file(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml", "a.yaml"):
        kept(made.report(made.test_report(), suite_file=name), tmp_path)
    assert [run.id for run in read_history(tmp_path, "a.yaml", 10).runs] == [1, 3]
    assert [run.id for run in read_history(tmp_path, "a.yaml", 1).runs] == [3]
    assert read_history(tmp_path, "a.yaml", 1).total == 2
    assert read_history(tmp_path, "c.yaml", 10).runs == []


def test_a_partial_run_is_not_kept_and_makes_no_folder(tmp_path: Path) -> None:
    assert keep(made.report(made.test_report(), partial=True), b"{}", tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_git_looks_away_from_the_folder(tmp_path: Path) -> None:
    kept(made.report(made.test_report()), tmp_path)
    assert (tmp_path / ".passmuster" / ".gitignore").read_text() == "*\n"
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    told = subprocess.run(["git", "status", "--porcelain"], cwd=tmp_path, check=True, capture_output=True)
    assert told.stdout == b""


def test_what_no_encoding_has_is_kept_as_an_escape(tmp_path: Path) -> None:
    names = {"suite": "a\ud800", "suite_file": "b\udcff.yaml", "agent_version": "\udc80"}
    kept(made.report(made.test_report(), **names), tmp_path)
    (run,) = read_history(tmp_path, "b\udcff.yaml", 10).runs
    assert (run.suite, run.suite_file, run.agent_version) == (r"a\ud800", r"b\udcff.yaml", r"\udc80")


def test_older_reports_and_then_older_runs_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MOST_REPORTS", 2)
    monkeypatch.setattr(store, "MOST_RUNS", 4)
    kept(made.report(made.test_report(), suite_file="other.yaml"), tmp_path)
    for _ in range(7):
        kept(made.report(made.test_report()), tmp_path)
    assert [run.id for run in read_history(tmp_path, "passmuster.yaml", 99).runs] == [5, 6, 7, 8]
    assert query(tmp_path, "SELECT run FROM reports ORDER BY run") == [(1,), (7,), (8,)]
    assert query(tmp_path, "SELECT run FROM metrics ORDER BY run") == [(1,), (5,), (6,), (7,), (8,)]
    with pytest.raises(HistoryError, match="the report of run 5 is no longer stored"):
        report_of(tmp_path, 5)
    with pytest.raises(HistoryError, match="there is no run 4; the stored runs are 1 to 8"):
        report_of(tmp_path, 4)


# ── Many at once, and killed in the middle ──────────────────────────────────────────────────────────────────


def test_runs_that_write_at_once_all_are_kept_and_a_killed_one_harms_none(tmp_path: Path) -> None:
    steady = [writer(tmp_path, 25, f"{name}.yaml") for name in range(4)]
    doomed = writer(tmp_path, 10_000, "doomed.yaml")
    for process in (*steady, doomed):  # all of them meet at a file that does not exist yet
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    assert doomed.stdout
    told = [int(doomed.stdout.readline()) for _ in range(5)]
    doomed.send_signal(signal.SIGKILL)
    numbers = [[int(line) for line in process.communicate(timeout=60)[0].split()] for process in steady]
    told += [int(line) for line in doomed.communicate(timeout=60)[0].split()]
    assert [process.returncode for process in steady] == [0] * 4
    assert doomed.returncode == -signal.SIGKILL
    assert query(tmp_path, "PRAGMA integrity_check") == [("ok",)]
    for name, written in enumerate(numbers):
        assert [run.id for run in read_history(tmp_path, f"{name}.yaml", 99).runs] == written
        assert len(written) == 25
    # What was killed between its commit and its word is kept and was not told.
    assert {run.id for run in read_history(tmp_path, "doomed.yaml", 9999).runs} >= set(told)
    assert len({number for written in numbers for number in written}) == 100
    assert query(tmp_path, "SELECT count(*) FROM runs") == query(tmp_path, "SELECT count(*) FROM reports")
    for run in (written[-1] for written in numbers):
        assert len(report_of(tmp_path, run)["tests"][0]["violations"]) == 200


def test_killed_again_and_again_it_stays_whole(tmp_path: Path) -> None:
    told: set[int] = set()
    for pause in (0.0, 0.01, 0.03, 0.05):
        process = writer(tmp_path, 10_000, "passmuster.yaml")
        assert process.stdin
        assert process.stdout
        process.stdin.write("go\n")
        process.stdin.flush()
        told.add(int(process.stdout.readline()))
        time.sleep(pause)
        process.kill()
        told |= {int(line) for line in process.communicate(timeout=60)[0].split()}
        assert query(tmp_path, "PRAGMA integrity_check") == [("ok",)]
    assert {run.id for run in read_history(tmp_path, "passmuster.yaml", 9999).runs} >= set(sorted(told)[-500:])
    assert kept(made.report(made.test_report()), tmp_path) > max(told)


def test_a_run_waits_for_another(tmp_path: Path) -> None:
    kept(made.report(made.test_report()), tmp_path)
    process = writer(tmp_path, 1, "passmuster.yaml")
    with contextlib.closing(sqlite3.connect(history_file(tmp_path), isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
        time.sleep(0.3)
        connection.execute("ROLLBACK")
    assert process.communicate(timeout=60)[0] == "2\n"


# ── Older and newer files ───────────────────────────────────────────────────────────────────────────────────


def old_history(root: Path) -> None:
    """A file as version 1 made it, written out here so that it stays what it was."""
    (root / ".passmuster").mkdir()
    report = made.rich_report()
    with contextlib.closing(sqlite3.connect(history_file(root))) as connection:
        connection.executescript(
            """
            CREATE TABLE runs (
                id INTEGER PRIMARY KEY, time TEXT NOT NULL, suite TEXT NOT NULL, suite_file TEXT NOT NULL,
                suite_sha256 TEXT NOT NULL, verdict TEXT NOT NULL, exit_code INTEGER NOT NULL, agent_version TEXT,
                duration_ms REAL NOT NULL);
            CREATE INDEX runs_of_a_suite ON runs (suite_file, id);
            CREATE TABLE metrics (
                run INTEGER NOT NULL, name TEXT NOT NULL, value REAL, n INTEGER NOT NULL, low REAL, high REAL,
                PRIMARY KEY (run, name)) WITHOUT ROWID;
            CREATE TABLE reports (run INTEGER PRIMARY KEY, report BLOB NOT NULL);
            INSERT INTO runs VALUES
                (7, '2025-01-31T09:30:00Z', 'shop', 'passmuster.yaml', 'ab', 'fail', 1, '1.0', 12.5),
                (8, '2025-02-01T09:30:00Z', 'shop', 'passmuster.yaml', 'ab', 'pass', 0, NULL, 12.5);
            INSERT INTO metrics VALUES (7, 'pass_rate', 0.5, 4, 0.1, 0.9);
            PRAGMA user_version = 1;
            """
        )
        connection.execute("INSERT INTO reports VALUES (7, ?)", (zlib.compress(write(report)),))
        connection.execute("INSERT INTO reports VALUES (8, ?)", (b"damaged",))
        connection.commit()


@pytest.mark.parametrize("first", ["read", "write"])
def test_an_older_history_is_brought_up_to_date_and_loses_nothing(tmp_path: Path, first: str) -> None:
    old_history(tmp_path)
    if first == "write":
        assert kept(made.report(made.test_report()), tmp_path) == 9
    runs = read_history(tmp_path, "passmuster.yaml", 10).runs
    assert [run.id for run in runs] == ([7, 8, 9] if first == "write" else [7, 8])
    assert (runs[0].time, runs[0].agent_version, runs[0].duration_ms) == ("2025-01-31T09:30:00Z", "1.0", 12.5)
    assert runs[0].metrics == {"pass_rate": Figure(0.5, 4, (0.1, 0.9))}
    assert (runs[0].passed, runs[0].failed) == (4, 5)
    assert (runs[1].passed, runs[1].failed) == (0, 0)
    assert report_of(tmp_path, 7)["suite"] == "customer-service"
    assert query(tmp_path, "PRAGMA user_version") == [(schema.VERSION,)]
    assert query(tmp_path, "PRAGMA integrity_check") == [("ok",)]


def test_an_older_history_is_brought_up_to_date_once_by_many(tmp_path: Path) -> None:
    old_history(tmp_path)
    processes = [writer(tmp_path, 2, "passmuster.yaml") for _ in range(3)]
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    numbers = sorted(int(line) for process in processes for line in process.communicate(timeout=60)[0].split())
    assert numbers == [9, 10, 11, 12, 13, 14]
    assert read_history(tmp_path, "passmuster.yaml", 10).runs[0].passed == 4


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_newer_history_is_refused_and_left_untouched(tmp_path: Path, mode: str) -> None:
    kept(made.report(made.test_report()), tmp_path)
    query(tmp_path, f"PRAGMA journal_mode = {mode}")
    query(tmp_path, f"PRAGMA user_version = {schema.VERSION + 1}")
    before = history_file(tmp_path).read_bytes()
    for ask in (
        lambda: kept(made.report(made.test_report()), tmp_path),
        lambda: read_history(tmp_path, "passmuster.yaml", 10),
        lambda: report_of(tmp_path, 1),
    ):
        with pytest.raises(HistoryError, match="a newer passmuster wrote it"):
            ask()
    assert history_file(tmp_path).read_bytes() == before


# ── What cannot be written or read ──────────────────────────────────────────────────────────────────────────


def test_a_damaged_file_is_refused_and_left_untouched(tmp_path: Path) -> None:
    (tmp_path / ".passmuster").mkdir()
    history_file(tmp_path).write_bytes(b"this is no database at all\n" * 100)
    before = history_file(tmp_path).read_bytes()
    with pytest.raises(HistoryError, match=r"history\.db: it is damaged .* move it away"):
        kept(made.report(made.test_report()), tmp_path)
    with pytest.raises(HistoryError, match="it is damaged"):
        read_history(tmp_path, "passmuster.yaml", 10)
    assert history_file(tmp_path).read_bytes() == before


def test_a_file_where_the_folder_should_be_is_told(tmp_path: Path) -> None:
    (tmp_path / ".passmuster").write_text("")
    with pytest.raises(HistoryError, match=r"\.passmuster: this folder cannot be created"):
        kept(made.report(made.test_report()), tmp_path)


def test_a_file_that_another_holds_too_long_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept(made.report(made.test_report()), tmp_path)
    monkeypatch.setattr(store, "_PATIENCE", 0.05)
    with contextlib.closing(sqlite3.connect(history_file(tmp_path), isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(HistoryError, match=r"another process has held it for 0\.05 seconds"):
            kept(made.report(made.test_report()), tmp_path)
    assert kept(made.report(made.test_report()), tmp_path) == 2


@pytest.mark.parametrize(
    ("stored", "says"),
    [
        (b"no zlib", "the report of run 1 is damaged"),
        (zlib.compress(b"{" * 1000)[:-8], "its end is missing"),
        (zlib.compress(b"[]"), "expected a report"),
    ],
)
def test_a_damaged_report_is_told(tmp_path: Path, stored: bytes, says: str) -> None:
    kept(made.report(made.test_report()), tmp_path)
    with contextlib.closing(sqlite3.connect(history_file(tmp_path))) as connection:
        connection.execute("UPDATE reports SET report = ?", (stored,))
        connection.commit()
    with pytest.raises(passmuster.InputError, match=says):
        report_of(tmp_path, 1)


def test_where_there_is_no_history_reading_makes_none(tmp_path: Path) -> None:
    assert read_history(tmp_path, "passmuster.yaml", 10).runs == []
    with pytest.raises(HistoryError, match="there is no run 1, because no run is stored yet"):
        report_of(tmp_path, 1)
    assert list(tmp_path.iterdir()) == []


READER = """
import os, sys, urllib.parse
from pathlib import Path
from passmuster.history._reading import read_history, report_of
root = Path(sys.argv[1])
os.setgid(65534)
os.setuid(65534)
print([run.id for run in read_history(root, "passmuster.yaml", 10).runs], report_of(root, 1)["suite"])
"""


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="gives up its rights, so it needs some")
def test_a_history_is_read_where_nothing_can_be_written() -> None:
    with tempfile.TemporaryDirectory() as name:  # not below the folders of pytest, which nobody else may enter
        root = Path(name)
        root.chmod(0o755)
        kept(made.report(made.test_report()), root)
        ended = subprocess.run(
            [sys.executable, "-c", READER, name],
            env={**os.environ, "PYTHONPATH": str(SOURCE)},
            capture_output=True,
            text=True,
        )
        assert (ended.stdout, ended.stderr) == ("[1] customer-service\n", "")
        assert sorted(path.name for path in (root / ".passmuster").iterdir()) == [".gitignore", "history.db"]


@pytest.mark.parametrize(
    "left_behind",
    [
        {},
        {".gitignore": b""},
        {".gitignore": b"", "history.db": b""},
        {"history.db": b""},
        {".gitignore": b"", "history.db": None},
    ],
)
def test_what_a_full_disk_left_behind_is_completed(tmp_path: Path, left_behind: dict[str, bytes | None]) -> None:
    folder = tmp_path / PRIVATE_FOLDER
    folder.mkdir()
    for name, content in left_behind.items():
        if content is None:
            keep(made.report(), write(made.report()), tmp_path)
            (folder / ".gitignore").write_bytes(b"")
        else:
            (folder / name).write_bytes(content)
    keep(made.report(), write(made.report()), tmp_path)
    assert (folder / ".gitignore").read_text() == "*\n"
    assert [path.name for path in folder.iterdir() if path.name.endswith(".tmp")] == []


@pytest.mark.parametrize("own", ["# kept in git\n", "!history.db\n"])
def test_a_gitignore_of_ones_own_stays(tmp_path: Path, own: str) -> None:
    keep(made.report(), write(made.report()), tmp_path)
    ignore = tmp_path / PRIVATE_FOLDER / ".gitignore"
    ignore.write_text(own)
    keep(made.report(), write(made.report()), tmp_path)
    assert ignore.read_text() == own
    ignore.unlink()
    keep(made.report(), write(made.report()), tmp_path)
    assert not ignore.exists()
