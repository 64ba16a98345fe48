"""A JSON report read again as a plain document, by whichever version it was written."""

from __future__ import annotations

from typing import Any

from passmuster._documents import DocumentKind, decode_document, read_document
from passmuster.scoring import REPORT_SCHEMA

REPORT = DocumentKind("report", REPORT_SCHEMA, 256 * 1024 * 1024)
"""Larger than any report gets: at most 5,000 violations a test are listed."""


def read_report(path: str) -> dict[str, Any]:
    """The report in a file. Raises `UsageError` if it is none."""
    return read_document(path, REPORT, dict[str, Any])


def report_document(written: bytes, name: str) -> dict[str, Any]:
    """The document in the bytes of a report. Raises `UsageError` if it is none."""
    return decode_document(written, REPORT, dict[str, Any], name)
