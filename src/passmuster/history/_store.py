"""Where runs are kept: `.passmuster/history.db` under the suite's root.

A run is written in one transaction, so a run that is killed leaves nothing of itself behind and harms no other. Any
number of runs may write at once: they wait for each other. What the system has taken is not waited for until it is on
the disk: a power cut may cost the history, which is no more than a convenience.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from passmuster._atomic_write import PRIVATE_FOLDER, make_private_folder
from passmuster._problems import InputError, Problem
from passmuster.history._schema import NewerHistory, bring_up_to_date, counts_of, sqlite

if TYPE_CHECKING:
    from sqlite3 import Connection

    from passmuster.scoring import Report

MOST_RUNS = 1_000
"""How many runs of one suite file are kept; older ones go."""
MOST_REPORTS = 200
"""How many of them with their whole report, which is what takes room."""

_PATIENCE = 5.0
_FAST = 1
"""The compression level: twice as fast as the usual one, and a report still shrinks to a tenth."""
_NTH_NEWEST = "(SELECT id FROM runs WHERE suite_file = ? ORDER BY id DESC LIMIT 1 OFFSET ?)"


class HistoryError(InputError):
    """The history cannot be read or written; nothing else depends on it."""


def history_file(root: Path) -> Path:
    """Where the runs of all suites with this root are kept. Raises `HistoryError` if a link leads out of the root."""
    file = root / PRIVATE_FOLDER / "history.db"
    if not Path(os.path.realpath(file)).is_relative_to(os.path.realpath(root)):
        message = f"a link leads out of the root ({root}); replace it by a folder, or widen --root"
        raise HistoryError(Problem(message, str(file)))
    return file


def keep(report: Report, written: bytes, root: Path, given: Path | None = None) -> int | None:
    """Keep a run with its report, as the JSON writer wrote it, and give its number; an incomplete one is not kept.

    `given` is a file that a user named; without one it is that of the root.
    Raises `HistoryError` if that cannot be done; then nothing was kept.
    """
    if report.incomplete:
        return None
    file = given or history_file(root)
    if given is None and (not _holds_anything(file) or not _holds_anything(file.parent / ".gitignore", absent=True)):
        _make_folder(file.parent)
    with opened(file) as connection:
        connection.execute("PRAGMA synchronous = OFF")  # a sync would take longer than all else that a short run does
        bring_up_to_date(connection)
        connection.execute("BEGIN IMMEDIATE")
        run = _insert(connection, report, written)
        if run > MOST_REPORTS:
            _prune(connection, storable(report.suite_file))
        connection.execute("COMMIT")
    return run


@contextmanager
def opened(file: Path, mode: str | None = None) -> Iterator[Connection]:
    """The file as a database. What goes wrong with it is said in words, and what was not committed is undone.

    `mode` is what SQLite's URIs know, such as `mode=ro`; without one the file is made if there is none.
    """
    name = file if mode is None else f"{file.absolute().as_uri()}?{mode}"
    try:
        with closing(sqlite.connect(name, timeout=_PATIENCE, isolation_level=None, uri=mode is not None)) as connection:
            yield connection
    except (sqlite.Error, NewerHistory, UnicodeDecodeError) as error:  # the last: a message quotes damaged bytes
        raise HistoryError(Problem(_reason(error), str(file))) from error


def storable(text: str) -> str:
    """The text as UTF-8 can say it: file names may hold bytes that are none."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _holds_anything(file: Path, *, absent: bool = False) -> bool:
    """Whether a file is more than an empty one that a full disk left behind; `absent` is the answer without a file."""
    try:
        return file.stat().st_size > 0
    except OSError:
        return absent


def _make_folder(folder: Path) -> None:
    try:
        make_private_folder(folder)
    except OSError as error:
        raise HistoryError(Problem(f"this folder cannot be created: {error.strerror}", str(folder))) from error


def _insert(connection: Connection, report: Report, written: bytes) -> int:
    statuses = [*(test.status for test in report.tests), *(scenario.status for scenario in report.scenarios)]
    cursor = connection.execute(
        "INSERT INTO runs (time, suite, suite_file, suite_sha256, verdict, exit_code, agent_version, duration_ms,"
        " passed, failed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            storable(report.suite),
            storable(report.suite_file),
            report.provenance.suite_sha256,
            report.verdict,
            report.exit_code,
            None if report.agent_version is None else storable(report.agent_version),
            round(report.duration_ms, 3),
            *counts_of(statuses),
        ),
    )
    run = cursor.lastrowid
    assert run is not None
    connection.execute("INSERT INTO reports VALUES (?, ?)", (run, zlib.compress(written, _FAST)))
    connection.executemany(
        "INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)",
        [
            # As a float, for SQLite knows no whole number from 2**63 on.
            (run, storable(name), metric.value and float(metric.value), metric.n, *(metric.ci95 or (None, None)))
            for name, metric in report.metrics.items()
        ],
    )
    return run


def _prune(connection: Connection, suite_file: str) -> None:
    """Each run that comes pushes at most one over either edge."""
    connection.execute(f"DELETE FROM reports WHERE run = {_NTH_NEWEST}", (suite_file, MOST_REPORTS))
    connection.execute(f"DELETE FROM metrics WHERE run = {_NTH_NEWEST}", (suite_file, MOST_RUNS))
    connection.execute(f"DELETE FROM runs WHERE id = {_NTH_NEWEST}", (suite_file, MOST_RUNS))


def _reason(error: Exception) -> str:
    name = str(getattr(error, "sqlite_errorname", ""))
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return f"another process has held it for {_PATIENCE:g} seconds"
    if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")) or isinstance(error, UnicodeDecodeError):
        return f"it is damaged ({error}); move it away and the next run creates a new one"
    if name.startswith("SQLITE_READONLY"):
        return "it is read-only"
    return str(error)
