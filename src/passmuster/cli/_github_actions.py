"""What a job of GitHub Actions gets by itself: a job summary, and annotations on standard error."""

from __future__ import annotations

import os

from passmuster import api, reports
from passmuster._problems import InputError
from passmuster.cli._printing import say

_REFUSED = "## ❌ Nothing was evaluated\n\nThe suite, a trace or the command line is wrong; annotations say where.\n\n"


class JobReport:
    """Tells a job of GitHub Actions about the runs of one command."""

    def __init__(self) -> None:
        self._annotations_left = reports.MOST_ANNOTATIONS

    def add(self, report: api.Report) -> None:
        """Append the Markdown report to the job's summary, and annotate the worst reasons. Changes no verdict."""
        _add_to_summary(reports.render("markdown", report) + b"\n")
        workspace = os.environ.get("GITHUB_WORKSPACE") or report.root or "."
        self._annotate(reports.annotation_lines(report, workspace, self._annotations_left))

    def refuse(self, error: InputError) -> None:
        """Say in the job's summary that nothing was evaluated, and annotate the mistakes in the input."""
        _add_to_summary(_REFUSED.encode())
        workspace = os.environ.get("GITHUB_WORKSPACE") or "."
        self._annotate(reports.problem_annotations(error.problems, workspace, self._annotations_left))

    def _annotate(self, lines: list[str]) -> None:
        for line in lines:
            say(line)
        self._annotations_left -= len(lines)


def _add_to_summary(text: bytes) -> None:
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if not summary:
        return
    try:
        with open(summary, "ab") as file:
            file.write(text)
    except OSError as problem:
        say(f"note: the job summary was not written: {problem.strerror or problem}")
