"""Reports: the verdict for people and machines, one module per format, each `Report -> bytes`.

A writer is imported when it is first asked for. What it is given has passed `entrance.redact_report`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from passmuster.problems import Problem, UsageError, did_you_mean

if TYPE_CHECKING:
    from passmuster.scoring.report import Report

__all__ = ["FILE_NAMES", "FORMATS", "check_format", "render"]

FORMATS = ("console", "json", "junit", "sarif")
_NOT_YET = ("markdown", "html")
_MODULES = {"console": "console", "json": "json_report", "junit": "junit", "sarif": "sarif"}

FILE_NAMES = {
    "console": "report.txt",
    "json": "report.json",
    "junit": "junit.xml",
    "sarif": "report.sarif",
    "markdown": "report.md",
    "html": "report.html",
}
"""What each report is called in a suite's report folder."""


def check_format(name: str) -> None:
    """Refuse a format that cannot be written, before anything is judged."""
    if name in FORMATS:
        return
    known = ", ".join(FORMATS)
    if name in _NOT_YET:
        raise UsageError(Problem(f"the report format '{name}' is not available yet; there are {known}"))
    raise UsageError(Problem(f"there is no report format '{name}'; there are {known}{did_you_mean(name, FORMATS)}"))


def render(format_name: str, report: Report) -> bytes:
    """The report written in a format."""
    check_format(format_name)
    writer = import_module(f"{__name__}.{_MODULES[format_name]}")
    return cast(bytes, writer.write(report))
