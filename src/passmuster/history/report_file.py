"""A JSON report read again as a plain document, by whichever version it was written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from passmuster.problems import Problem, UsageError
from passmuster.scoring.report import SCHEMA

__all__ = ["MOST_BYTES", "read_report", "report_document"]

MOST_BYTES = 256 * 1024 * 1024
"""More than any report has: at most 5,000 violations a test are listed."""

_AT_BYTE = re.compile(r" \(byte (\d+)\)$")


def read_report(path: str) -> dict[str, Any]:
    """The report in a file. Raises `UsageError` if it is none."""
    try:
        with open(Path(path), "rb") as file:
            written = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise UsageError(Problem("there is no such report file", path)) from None
    except IsADirectoryError:
        raise UsageError(Problem("this is a folder; expected a JSON report", path)) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(Problem(f"this report cannot be read: {reason}", path)) from None
    return report_document(written, path)


def report_document(written: bytes, name: str) -> dict[str, Any]:
    """The document in the bytes of a report. Raises `UsageError` if it is none."""
    if len(written) > MOST_BYTES:
        raise UsageError(Problem(f"this is larger than any report ({MOST_BYTES // 2**20} MiB)", name))
    try:
        document = msgspec.json.decode(written.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise UsageError(_malformed(written, str(error), name)) from None
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != SCHEMA:
        found = "found another document" if schema is None else f"found the schema {str(schema)[:100]!r}"
        raise UsageError(Problem(f"expected a JSON report ({SCHEMA}), {found}", name))
    return dict(document)


def _malformed(written: bytes, reason: str, name: str) -> Problem:
    if (at := _AT_BYTE.search(reason)) is None:
        return Problem(f"this is not JSON: {reason}", name)
    before = written[: int(at[1])]
    line, column = before.count(b"\n") + 1, len(before) - before.rfind(b"\n")
    return Problem(f"this is not JSON: {_AT_BYTE.sub('', reason)}", name, line, column)
