"""The page over stored reports: of one file, or of the history with runs to choose and compare."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from passmuster._problems import Problem, UsageError
from passmuster.api._earlier_runs import earlier_runs, run_label
from passmuster.api._load_suite import root_of
from passmuster.history import History, read_history, read_report, report_of
from passmuster.reports import render
from passmuster.scoring import ChosenRun, Evidence, Viewer, stored_report
from passmuster.suite import display

_RUNS = 200


class ReportViewer:
    """What `passmuster view` shows. `page` is called for every request, so that new runs appear."""

    def __init__(self, file: str | None, root: Path, suite_file: str) -> None:
        self._file, self._root, self._suite_file = file, root, suite_file
        self.page(None, None)  # what cannot be shown is said before a server is started

    def page(self, run: int | None, against: int | None) -> bytes:
        """A stored run compared with another; without numbers, the last run and the one before it."""
        if self._file is not None:
            return _page_of_file(self._file)
        found = read_history(self._root, self._suite_file, _RUNS)
        if not found.runs:
            raise UsageError(Problem("no run of this suite is stored yet; run it first", self._suite_file))
        number = found.runs[-1].id if run is None else run
        report = stored_report(report_of(self._root, number), f"run {number}")
        past = earlier_runs(replace(report, root=str(self._root)), before=number, against=against)
        evidence = Evidence(
            when=next((one.time for one in found.runs if one.id == number), None),
            history=past.runs,
            trails=past.trails,
            changes=past.changes,
            viewer=Viewer(number, past.against, _choices(found)),
        )
        return render("html", replace(report, evidence=evidence))


def report_viewer(path: str | None = None, *, root: str | None = None) -> ReportViewer:
    """The viewer of a report file (JSON or HTML), or of the history of a suite; without a path, of the nearest suite.

    Raises `InputError` where there is nothing to show.
    """
    if path is not None and Path(path).suffix in (".json", ".html") and Path(path).is_file() and _is_report(path):
        return ReportViewer(path, Path(), "")
    file, folder = root_of(path, root)
    return ReportViewer(None, folder, display(file, folder))


def _is_report(path: str) -> bool:
    """A suite may be a JSON file too."""
    return path.endswith(".html") or b'"passmuster.report/' in Path(path).read_bytes()[:200]


def _page_of_file(file: str) -> bytes:
    if file.endswith(".html"):
        data = Path(file).read_bytes()
        if b'<script type="application/json" id="head">' not in data:
            raise UsageError(Problem("is not a page that passmuster wrote", file))
        return data
    return render("html", stored_report(read_report(file), file))


def _choices(found: History) -> list[ChosenRun]:
    """The newest first."""
    return [ChosenRun(run.id, run_label(run), run.verdict) for run in reversed(found.runs)]
