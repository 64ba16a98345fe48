"""What changed between two runs."""

from __future__ import annotations

from passmuster.api._load_suite import root_of
from passmuster.history import read_report, report_of
from passmuster.scoring import Comparison, compare


def compare_runs(
    before: int | str, after: int | str, *, suite: str | None = None, root: str | None = None
) -> Comparison:
    """What changed. Each run is its number in the history of the suite's root, or the path of a JSON report."""
    folder = root_of(suite, root)[1] if int in (type(before), type(after)) else None

    def report(run: int | str) -> dict[str, object]:
        return report_of(folder, run) if folder is not None and isinstance(run, int) else read_report(str(run))

    return compare(report(before), report(after))
