"""Other tools' files as passmuster suites."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from passmuster import engine
from passmuster._problems import InputError, Problem, SuiteError, UsageError
from passmuster.api._output_files import create_files
from passmuster.migration import Migrated, Note, migrated, moved, suite_text
from passmuster.reports import FORMATS
from passmuster.suite import Documents

_CHECKED = "passmuster.migrated.yaml"
"""The name under which a suite is loaded before it is written."""


class MigratedFile(Struct, frozen=True):
    """One file as a suite."""

    source: str
    origin: str
    """The kind of file it was."""
    text: str
    """The suite as YAML."""
    notes: tuple[Note, ...]
    asks_less: bool
    target: Path | None = None
    """Where it is written; None where it is only printed."""


def migrate(files: Sequence[str], folder: str | None = None, origin: str | None = None) -> list[MigratedFile]:
    """The files as suites that load, and where each of them goes.

    Raises `InputError` with all that cannot be read or migrated; nothing is written yet.
    """
    if folder is None and len(files) > 1:
        raise UsageError(Problem("several files need a folder to be written to: -o DIR"))
    found: list[MigratedFile] = []
    problems: list[Problem] = []
    for file in files:
        try:
            found.append(_migrated(file, folder, origin, alone=len(files) == 1))
        except InputError as error:
            problems += error.problems
    targets = [one.target for one in found if one.target is not None]
    twice = {str(target) for target in targets if targets.count(target) > 1}
    problems += [Problem("two of the files would be written here; migrate them one by one", one) for one in twice]
    if problems:
        raise UsageError(problems)
    return found


def write_migrated(files: Sequence[MigratedFile]) -> None:
    """Write the suites. Raises `UsageError` where a file is in the way, and `OutsideError` if writing fails."""
    create_files(Path(), {str(one.target): one.text.encode() for one in files if one.target is not None})


def _migrated(file: str, folder: str | None, origin: str | None, *, alone: bool) -> MigratedFile:
    path = Path(file)
    document, _ = Documents().read(path, file)
    found = migrated(document, path, file, origin, spell_defaults=True)
    target = _target(path, folder, alone) if folder is not None else None
    if target is not None and target.exists():
        raise UsageError(Problem("is there already; name another folder with -o, or remove it", str(target)))
    if target is not None:
        found = moved(found, path, target)
    text = suite_text(found, path.name)
    _check(text, path, target or path, found)
    return MigratedFile(file, found.origin, text, found.notes, found.asks_less, target)


def _target(path: Path, folder: str, alone: bool) -> Path:
    beside = f"{path.resolve().parent.name}-{path.stem}.passmuster.yaml"
    return Path(folder) / ("passmuster.yaml" if alone else beside)


def _check(text: str, path: Path, target: Path, found: Migrated) -> None:
    """What is written has to load: a mistake of the file itself is told where it is in the new suite."""
    beside = target.resolve().parent / _CHECKED
    root = Path(os.path.commonpath((beside.parent, path.resolve().parent)))
    try:
        engine.load_suite(
            beside, root=root, plugins=False, documents={str(beside): text.encode()}, report_formats=FORMATS
        )
    except SuiteError as error:
        lines = text.splitlines()
        raise SuiteError([_placed(problem, path, lines, found) for problem in error.problems]) from error


def _placed(problem: Problem, path: Path, lines: list[str], found: Migrated) -> Problem:
    """A mistake in the new suite with the line that it is about; where nothing is left of the file, the reasons."""
    if problem.file is None or Path(problem.file).name != _CHECKED or not problem.line:
        return problem
    lost = [f"line {note.line}, {note.kind}: {note.text}" for note in found.notes if note.kind in ("lost", "ignored")]
    if problem.message.startswith("the suite checks nothing"):
        return Problem("; ".join(["nothing of this file can be checked in traces", *lost]), str(path))
    return Problem(f"{problem.message}; migrated to: {lines[problem.line - 1].strip()}", str(path))
