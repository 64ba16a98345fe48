"""What was kept, read again: the runs of a suite, and a run's report."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from passmuster._documents import DocumentKind, decode_document, read_document
from passmuster._problems import Problem
from passmuster.history._schema import bring_up_to_date, sqlite
from passmuster.history._store import MOST_REPORTS, HistoryError, history_file, opened, storable
from passmuster.scoring import REPORT_SCHEMA, Figure

if TYPE_CHECKING:
    from sqlite3 import Connection

REPORT = DocumentKind("report", REPORT_SCHEMA, 256 * 1024 * 1024)
"""Larger than any report gets: at most 5,000 violations a test are listed."""
_COLUMNS = (
    *("id", "time", "suite", "suite_file", "suite_sha256", "verdict", "exit_code"),
    *("agent_version", "duration_ms", "passed", "failed"),
)


class Run(Struct, frozen=True, kw_only=True):
    """One run as the history lists it."""

    id: int
    time: str
    """In UTC: `2026-01-31T09:30:00Z`."""
    suite: str
    suite_file: str
    suite_sha256: str
    verdict: str
    exit_code: int
    agent_version: str | None
    duration_ms: float
    passed: int
    """Tests and scenarios that passed, perhaps with a warning."""
    failed: int
    metrics: dict[str, Figure]


class History(Struct, frozen=True):
    """The newest runs of one suite, oldest first."""

    suite_file: str
    total: int
    """How many there are, listed or not."""
    runs: list[Run]


def read_history(root: Path, suite_file: str, last: int) -> History:
    """The last runs of a suite; none if there is no history. Raises `HistoryError` if it cannot be read."""
    name = storable(suite_file)
    with _read(root) as connection:
        if connection is None:
            return History(name, 0, [])
        connection.execute("BEGIN")  # so that no run comes between the questions
        total = connection.execute("SELECT count(*) FROM runs WHERE suite_file = ?", (name,)).fetchone()[0]
        newest = "FROM runs WHERE suite_file = ? ORDER BY id DESC LIMIT ?"
        rows = connection.execute(f"SELECT {', '.join(_COLUMNS)} {newest}", (name, last)).fetchall()
        metrics: dict[int, dict[str, Figure]] = {row[0]: {} for row in rows}
        figures = connection.execute(
            f"SELECT run, name, value, n, low, high FROM metrics WHERE run IN (SELECT id {newest}) ORDER BY run, name",
            (name, last),
        ).fetchall()
    try:
        for run, metric, value, n, low, high in figures:
            metrics[run][metric] = Figure(value, n, None if low is None or high is None else (low, high))
        runs = [dict(zip(_COLUMNS, row, strict=True), metrics=metrics[row[0]]) for row in reversed(rows)]
        return msgspec.convert({"suite_file": name, "total": total, "runs": runs}, History, from_attributes=True)
    except (KeyError, TypeError, msgspec.ValidationError) as error:  # SQLite keeps any value in any column
        message = f"it is damaged ({error}); move it away and the next run creates a new one"
        raise HistoryError(Problem(message, str(history_file(root)))) from error


def report_of(root: Path, run: int) -> dict[str, Any]:
    """The report of a run as a plain document. Raises `HistoryError` if it is not there."""
    file = str(history_file(root))
    with _read(root) as connection:
        if connection is None:
            raise HistoryError(Problem(f"there is no run {run}, because no run is stored yet", file))
        row = connection.execute(
            "SELECT reports.report FROM runs LEFT JOIN reports ON run = id WHERE id = ?", (run,)
        ).fetchone()
        span = connection.execute("SELECT min(id), max(id) FROM runs").fetchone()
    if row is None:
        kept = "none is stored yet" if span[0] is None else f"the stored runs are {span[0]} to {span[1]}"
        raise HistoryError(Problem(f"there is no run {run}; {kept}", file))
    if row[0] is None:
        message = f"the report of run {run} is no longer stored: only a suite's last {MOST_REPORTS} are"
        raise HistoryError(Problem(message, file))
    return decode_document(_unpacked(row[0], run, file), REPORT, dict[str, Any], f"{file}, run {run}")


class _Case(Struct):
    id: str = ""
    status: str = "-"


class _Cases(Struct):
    tests: list[_Case] = []
    scenarios: list[_Case] = []


def unblocked_reports(root: Path, suite_file: str, last: int, given: Path | None = None) -> list[dict[str, Any]]:
    """The reports of the last runs of a suite that passed, oldest first; fewer if there are no more.

    `given` is a file that a user named. Raises `HistoryError` if it cannot be read.
    """
    file = given or history_file(root)
    with _read(root, given) as connection:
        rows = (
            []
            if connection is None
            else connection.execute(
                "SELECT id, report FROM runs JOIN reports ON run = id WHERE suite_file = ? AND exit_code = 0"
                " ORDER BY id DESC LIMIT ?",
                (storable(suite_file), last),
            ).fetchall()
        )
    return [
        decode_document(_unpacked(report, run, str(file)), REPORT, dict[str, Any], f"{file}, run {run}")
        for run, report in reversed(rows)
    ]


def cases_of(root: Path, run: int) -> dict[str, str] | None:
    """How each test (`t:ID`) and scenario (`s:ID`) of a run ended; None if its report is not stored or is damaged.

    Only these fields are decoded, which is several times faster than the whole report.
    """
    import msgspec

    file = str(history_file(root))
    with _read(root) as connection:
        row = connection and connection.execute("SELECT report FROM reports WHERE run = ?", (run,)).fetchone()
    if not row:
        return None
    try:
        found = msgspec.json.decode(_unpacked(row[0], run, file), type=_Cases)
    except (msgspec.MsgspecError, HistoryError):
        return None
    return {f"t:{one.id}": one.status for one in found.tests} | {f"s:{one.id}": one.status for one in found.scenarios}


def read_report(path: str) -> dict[str, Any]:
    """The report in a file. Raises `UsageError` if it is none."""
    return read_document(path, REPORT, dict[str, Any])


def _unpacked(report: bytes, run: int, file: str) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        written = unpacker.decompress(report, REPORT.most_bytes + 1)
    except zlib.error as error:
        raise HistoryError(Problem(f"the report of run {run} is damaged: {error}", file)) from error
    if not unpacker.eof and len(written) <= REPORT.most_bytes:
        raise HistoryError(Problem(f"the report of run {run} is damaged: its end is missing", file))
    return written


@contextmanager
def _read(root: Path, given: Path | None = None) -> Iterator[Connection | None]:
    """The history to read from, or None where there is none."""
    file = given or history_file(root)
    if not os.path.exists(file):
        yield None
        return
    # Reading too needs a file beside it; where none can be made, nobody writes either, and it can be read as it lies.
    with opened(file, "mode=rw") as connection:
        try:
            bring_up_to_date(connection)
            connection.execute("SELECT 1 FROM runs LIMIT 1")
        except sqlite.OperationalError as error:
            if not str(getattr(error, "sqlite_errorname", "")).startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")):
                raise
        else:
            yield connection
            return
    with opened(file, "mode=ro&immutable=1") as connection:
        yield connection
