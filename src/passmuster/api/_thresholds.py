"""Thresholds from a baseline: a target to paste, or the suite's own tightened to what was reached."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from passmuster._problems import Problem, UsageError
from passmuster.api._baseline_files import baseline_for, baseline_path
from passmuster.api._load_suite import load_suite
from passmuster.api._output_files import write_file
from passmuster.api._ratchet import Tightening, tightening
from passmuster.scoring import Baseline, Target, targets
from passmuster.suite import Suite


class Suggestion(Struct, frozen=True):
    """Thresholds a little better than what a baseline reached."""

    targets: list[Target]
    baseline: str
    """The baseline's name."""
    note: str | None
    """Where the baseline has other scenarios than the suite."""


def suggest_thresholds(
    path: str | None, *, baseline: str | None, margin: float, root: str | None = None, plugins: bool = True
) -> Suggestion:
    """Thresholds better by `margin` than what the baseline reached; `baseline` is a file, else that of the suite."""
    suite = load_suite(path, root=root, plugins=plugins)
    recorded, name, note = _recorded(suite, baseline)
    return Suggestion(list(targets(suite, recorded, margin)), name, note)


def tighten_thresholds(
    path: str | None,
    *,
    baseline: str | None,
    slack: float,
    dry_run: bool = False,
    root: str | None = None,
    plugins: bool = True,
) -> Tightening:
    """Raise the bounds in a suite file to what the baseline reached, less `slack`; with `dry_run` nothing is written.

    Raises `UsageError` or `SuiteError` if anything else in the file would change; then nothing is written.
    """
    suite = load_suite(path, root=root, plugins=plugins)
    recorded, _, note = _recorded(suite, baseline)
    change = tightening(suite, recorded, slack, plugins=plugins)
    if change.after != change.before and not dry_run:
        write_file(suite.path, change.after, what="suite")
    return replace(change, note=note)


def _recorded(suite: Suite, given: str | None) -> tuple[Baseline, str, str | None]:
    if given is None and (suite.baseline is None or suite.baseline.file is None):
        message = "no baseline: give --baseline FILE, or name a 'baseline.file' in the suite"
        raise UsageError(Problem(message, suite.file))
    path = given or str(baseline_path(suite))
    baseline, name = baseline_for(suite, path, path), path if given else Path(path).name
    here, there = {scenario.id for scenario in suite.scenarios}, set(baseline.scenarios)
    if here == there:
        return baseline, name, None
    counts = f"{len(here - there)} are new and {len(there - here)} are gone"
    return baseline, name, f"{name} was saved with other scenarios ({counts}); save it again to use these"
