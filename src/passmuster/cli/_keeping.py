"""A run put into the history, or one note that it could not be."""

from __future__ import annotations

from collections.abc import Sequence

from passmuster.cli._printing import say
from passmuster.reports import one_line, render
from passmuster.scoring import Report
from passmuster.suite import Suite

__all__ = ["keep_run"]


def keep_run(report: Report, suite: Suite, written: Sequence[bytes]) -> None:
    """Keep a run whose secrets are hidden; `written` are its JSON reports, where some were asked for.

    Whatever goes wrong here is told and forgotten: the verdict stands, and so does the exit code.
    """
    if report.partial:
        return
    try:
        from passmuster.history import keep

        keep(report, written[0] if written else render("json", report), suite.root)
    except Exception as error:
        say(f"note: this run was not kept in the history: {one_line(str(error))}")
