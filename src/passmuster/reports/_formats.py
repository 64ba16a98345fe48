"""The report formats, found by listing `formats`."""

from __future__ import annotations

from typing import cast

from passmuster._problems import Problem, UsageError, did_you_mean
from passmuster._registry import Registry
from passmuster.scoring import Report

FORMATS = Registry(f"{__package__}.formats")
"""The report formats by name; each module declares `FILE_NAME`, `DESCRIPTION` and `write(report) -> bytes`. One that
shows traces and earlier runs declares `SHOWS_EVIDENCE = True`."""


def file_name(format_name: str) -> str:
    """What the report is called in a suite's report folder."""
    return cast(str, FORMATS[format_name].FILE_NAME)


def shows_evidence(format_name: str) -> bool:
    """Whether the format shows what is in `report.evidence`, which takes time to gather."""
    return bool(getattr(FORMATS[format_name], "SHOWS_EVIDENCE", False))


def check_format(name: str) -> None:
    """Refuse a format that does not exist, before anything is evaluated."""
    if name not in FORMATS:
        known = ", ".join(FORMATS)
        raise UsageError(Problem(f"there is no report format '{name}'; there are {known}{did_you_mean(name, FORMATS)}"))


def render(format_name: str, report: Report) -> bytes:
    """The report written in a format."""
    check_format(format_name)
    return cast(bytes, FORMATS[format_name].write(report))
