"""All violations, as JSON lines or Parquet, one file for each part of the input, with a manifest written last.

A violation names its place by the byte at which its record begins (`trace_offset`): the number of a line would take
all parts of the file before it. Secrets are hidden as in reports; numbers of hidden values hold for one file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Protocol

import msgspec

from passmuster._atomic_write import replace_file
from passmuster._problems import OutsideError, Problem, UsageError, plural
from passmuster.checks import Violation, redact_violation
from passmuster.engine._execution import PartFiles, ViolationFormat
from passmuster.engine._parts import Part
from passmuster.redaction import Redactor
from passmuster.scoring import Evaluation, ViolationFile, bounded_violation
from passmuster.suite import Suite
from passmuster.traces import record_place

MANIFEST = "manifest.json"
MANIFEST_SCHEMA = "passmuster.violations/1"
_PREFIX = "violations-"
_BATCH = 5_000
_COLUMNS = (
    *("test", "check", "scenario", "level", "tool", "argument", "value", "constraint", "rule", "pattern", "expected"),
    *("actual", "message", "suggestion", "waived", "call_index", "calls_found", "policy_file", "policy_line"),
    *("trace_id", "trace_file", "trace_offset", "kind", "description"),
)
"""In Parquet, every value is text but for numbers of calls, lines and bytes."""
_NUMBERS = frozenset({"call_index", "calls_found", "policy_line", "trace_offset"})


class Rows(Protocol):
    """Writes rows to an open file."""

    def write(self, row: dict[str, Any]) -> None: ...

    def close(self) -> None: ...


class JsonRows:
    """One JSON object per line."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, row: dict[str, Any]) -> None:
        self._file.write(msgspec.json.encode(row) + b"\n")

    def close(self) -> None:
        """Nothing is held back."""


class ParquetRows:
    """Columns of text and of whole numbers."""

    def __init__(self, file: BinaryIO) -> None:
        import pyarrow
        import pyarrow.parquet

        self._arrow = pyarrow
        kinds = [(name, pyarrow.int64() if name in _NUMBERS else pyarrow.string()) for name in _COLUMNS]
        self._schema = pyarrow.schema(kinds)
        self._writer = pyarrow.parquet.ParquetWriter(file, self._schema, compression="zstd")
        self._rows: list[dict[str, Any]] = []

    def write(self, row: dict[str, Any]) -> None:
        self._rows.append({name: _column(name, row.get(name)) for name in _COLUMNS})
        if len(self._rows) >= _BATCH:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        self._writer.write_table(self._arrow.Table.from_pylist(self._rows, schema=self._schema))
        self._rows = []


def _column(name: str, value: Any) -> Any:
    if value is None or name in _NUMBERS:
        return value
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


_ROWS: dict[ViolationFormat, type[JsonRows] | type[ParquetRows]] = {"jsonl": JsonRows, "parquet": ParquetRows}


class PartViolations:
    """The violations of one part, in a file that is put in its place when the part is finished."""

    def __init__(self, files: PartFiles, part: Part, name: str, suite: Suite) -> None:
        assert files.violations is not None
        folder = Path(files.violations)
        self._part, self._count = part, 0
        self._target = folder / f"{_PREFIX}{name}.{files.violations_format}"
        self._temporary = folder / f".{_PREFIX}{name}.{os.urandom(4).hex()}.tmp"
        self._tests = [test.id for test in suite.tests]
        self._redactor = Redactor(suite.redact.patterns, suite.redact.arguments)
        try:
            self._file = open(self._temporary, "wb")  # noqa: SIM115, for it is closed by `finish` or `discard`
        except OSError as error:
            raise _failed(error, folder) from error
        self._rows: Rows = _ROWS[files.violations_format](self._file)

    def add(self, evaluation: Evaluation) -> None:
        """Write the violations of one trace."""
        for named, violation in _violations(evaluation, self._tests):
            row = {**named, **_fields(redact_violation(bounded_violation(violation), self._redactor))}
            row["trace_offset"] = record_place(evaluation.trace)
            self._count += 1
            try:
                self._rows.write(row)
            except OSError as error:
                raise _failed(error, self._target.parent) from error

    @property
    def written(self) -> ViolationFile:
        """The entry of the manifest."""
        part = self._part
        return ViolationFile(part.source.name, part.start, part.end, self._target.name, self._count)

    def __enter__(self) -> None:
        """The file is open already."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Put the file in its place; after an error, leave nothing of it."""
        try:
            if kind is None:
                self._rows.close()
            self._file.close()
            if kind is None:
                os.replace(self._temporary, self._target)
        except OSError as problem:
            raise _failed(problem, self._target.parent) from problem
        finally:
            self._temporary.unlink(missing_ok=True)


def _violations(evaluation: Evaluation, tests: list[str]) -> Iterator[tuple[dict[str, str], Violation]]:
    for result in evaluation.results:
        for violation in result.outcome.violations:
            yield {"test": tests[result.test]}, violation
    seen = evaluation.seen
    if seen is None or evaluation.explain is None or evaluation.scenario is None or seen.status in ("pass", "skip"):
        return
    shown = evaluation.explain()
    checks = [check for layer in shown.layers.values() for check in layer.checks]
    for check in (*checks, *shown.behaviors.checks):
        for violation in check.violations:
            yield {"check": check.name, "scenario": evaluation.scenario}, violation


def _fields(violation: Violation) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(violation)
    fields["level"] = violation.level
    if fields.pop("has_value", False):
        fields.setdefault("value", None)
    return fields


def prepare_violations(files: PartFiles) -> None:
    """Make the folder, without the manifest of an earlier run. Raises `UsageError` where that cannot be."""
    if files.violations is None:
        return
    if files.violations_format == "parquet":
        try:
            import pyarrow.parquet  # noqa: F401
        except ImportError as error:
            message = "--violations-format parquet needs another package: pip install 'passmuster[parquet]'"
            raise UsageError(Problem(message)) from error
    folder = Path(files.violations)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MANIFEST).unlink(missing_ok=True)
    except OSError as error:
        message = f"--violations: cannot make this folder: {error.strerror or error}"
        raise UsageError(Problem(message, str(folder))) from error


def clear_violations(files: PartFiles) -> None:
    """Remove what a run has written that came to no end; with a checkpoint, finished files are a part of it."""
    if files.violations is not None:
        for path in _written(Path(files.violations)):
            if files.checkpoint is None or path.name.startswith("."):
                path.unlink(missing_ok=True)


def finish_violations(files: PartFiles, found: list[ViolationFile]) -> str:
    """Remove the files of earlier runs, write the manifest, and say what there is."""
    assert files.violations is not None
    folder = Path(files.violations)
    names = {one.file for one in found}
    total = sum(one.violations for one in found)
    try:
        for path in _written(folder):
            if path.name not in names:
                path.unlink(missing_ok=True)
        manifest = {"schema": MANIFEST_SCHEMA, "violations": total, "files": found}
        replace_file(folder / MANIFEST, msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")
    except OSError as error:
        raise _failed(error, folder) from error
    return f"{plural(total, 'violation')} in {plural(len(found), 'file')} in {folder}"


def _written(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name.startswith((_PREFIX, f".{_PREFIX}"))]


def _failed(error: OSError, folder: Path) -> OutsideError:
    return OutsideError(Problem(f"cannot write violations: {error.strerror or error}", str(folder)))
