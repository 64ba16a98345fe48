"""Reports: the verdict for people and machines, one module per format, each `Report -> bytes`.

A writer is imported when it is first asked for. Secrets are hidden before a report gets here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from passmuster._lazy import lazy_exports
from passmuster._problems import Problem, UsageError, did_you_mean
from passmuster._registry import Registry

if TYPE_CHECKING:
    from passmuster.reports._audit_text import audit_lines
    from passmuster.reports._baseline_file import encoded_baseline
    from passmuster.reports._baseline_text import baseline_text, suggestion_text, tightening_text
    from passmuster.reports._comparison_text import comparison_lines
    from passmuster.reports._encodable import encodable
    from passmuster.reports._history_text import history_lines
    from passmuster.reports._report_schema import report_schema
    from passmuster.reports._text import one_line
    from passmuster.reports.formats.console import show_console
    from passmuster.reports.formats.json import encoded
    from passmuster.scoring import Report
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "_audit_text": ("audit_lines",),
            "_baseline_file": ("encoded_baseline",),
            "_baseline_text": ("baseline_text", "suggestion_text", "tightening_text"),
            "_comparison_text": ("comparison_lines",),
            "_encodable": ("encodable",),
            "_history_text": ("history_lines",),
            "_report_schema": ("report_schema",),
            "_text": ("one_line",),
            "formats.console": ("show_console",),
            "formats.json": ("encoded",),
        },
    )


FORMATS = Registry(f"{__name__}.formats")
"""The report formats by name; each module declares `FILE_NAME`, `DESCRIPTION` and `write(report) -> bytes`."""


def report_formats() -> list[str]:
    """The names of the report formats."""
    return list(FORMATS)


def file_name(format_name: str) -> str:
    """What the report is called in a suite's report folder."""
    return cast(str, FORMATS[format_name].FILE_NAME)


def check_format(name: str) -> None:
    """Refuse a format that does not exist, before anything is evaluated."""
    if name not in FORMATS:
        known = ", ".join(FORMATS)
        raise UsageError(Problem(f"there is no report format '{name}'; there are {known}{did_you_mean(name, FORMATS)}"))


def render(format_name: str, report: Report) -> bytes:
    """The report written in a format."""
    check_format(format_name)
    return cast(bytes, FORMATS[format_name].write(report))
