"""The tables of a history, and the steps by which an older file becomes a newer one.

A file says in `user_version` how many of the steps it has seen. Steps are only ever added: each one is what some
history on somebody's disk needs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

try:
    # What `sqlite3` is made of. Every run pays for this import, and without the wrapping it is 2 ms cheaper.
    import _sqlite3 as _sqlite
except ImportError:
    import sqlite3 as _sqlite  # type: ignore[no-redef]

sqlite = _sqlite

if TYPE_CHECKING:
    from sqlite3 import Connection


class NewerHistory(Exception):
    """The file was made by a later version of this program."""


def bring_up_to_date(connection: Connection) -> None:
    """Make the tables, or add what an older version did not have. A newer file is refused and left as it is."""
    version = _version(connection)
    if version == VERSION:
        return
    if version == 0:
        # The file remembers this. It cannot be had on every disk, nor while another run makes the same file.
        with contextlib.suppress(sqlite.OperationalError):
            connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    for step in _STEPS[_version(connection) :]:  # asked again, for another run may have been faster
        step(connection)
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


def counts_of(statuses: Sequence[str]) -> tuple[int, int]:
    """How many passed and how many did not; what was skipped is neither."""
    return (
        sum(status in ("pass", "warn") for status in statuses),
        sum(status in ("fail", "error", "missing") for status in statuses),
    )


def _version(connection: Connection) -> int:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > VERSION:
        raise NewerHistory(
            f"a newer passmuster wrote it (version {version}; this one supports {VERSION}); "
            "use that one, or move it away"
        )
    return version


def _make_tables(connection: Connection) -> None:
    connection.execute(
        """CREATE TABLE runs (
            id INTEGER PRIMARY KEY, time TEXT NOT NULL, suite TEXT NOT NULL, suite_file TEXT NOT NULL,
            suite_sha256 TEXT NOT NULL, verdict TEXT NOT NULL, exit_code INTEGER NOT NULL, agent_version TEXT,
            duration_ms REAL NOT NULL)"""
    )
    connection.execute("CREATE INDEX runs_of_a_suite ON runs (suite_file, id)")
    connection.execute(
        """CREATE TABLE metrics (
            run INTEGER NOT NULL, name TEXT NOT NULL, value REAL, n INTEGER NOT NULL, low REAL, high REAL,
            PRIMARY KEY (run, name)) WITHOUT ROWID"""
    )
    # On its own, so that listing runs does not leaf through their reports.
    connection.execute("CREATE TABLE reports (run INTEGER PRIMARY KEY, report BLOB NOT NULL)")


def _add_counts(connection: Connection) -> None:
    """Version 1 did not say how many tests and scenarios passed; their reports do."""
    import zlib

    import msgspec

    connection.execute("ALTER TABLE runs ADD COLUMN passed INTEGER NOT NULL DEFAULT 0")
    connection.execute("ALTER TABLE runs ADD COLUMN failed INTEGER NOT NULL DEFAULT 0")
    for run, report in connection.execute("SELECT run, report FROM reports").fetchall():
        # One damaged report is no reason to lose the other runs.
        with contextlib.suppress(zlib.error, msgspec.MsgspecError, KeyError, TypeError):
            document = msgspec.json.decode(zlib.decompress(report))
            statuses = [case["status"] for part in ("tests", "scenarios") for case in document.get(part, ())]
            connection.execute("UPDATE runs SET passed = ?, failed = ? WHERE id = ?", (*counts_of(statuses), run))


_STEPS: tuple[Callable[[Connection], None], ...] = (_make_tables, _add_counts)
VERSION = len(_STEPS)
