"""Thresholds from a baseline: a target to paste, or the suite's own tightened to what was reached."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from passmuster import engine
from passmuster._problems import InputError, Problem, SuiteError, UsageError
from passmuster.api._baseline_files import baseline_for, baseline_path
from passmuster.api._load_suite import load_suite
from passmuster.api._output_files import write_file
from passmuster.scoring import Baseline, Kept, Target, Tightened, targets, tightened
from passmuster.suite import Documents, Edit, Suite, differences, edit_bounds


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
    to: Literal["prediction", "value"] = "prediction",
    dry_run: bool = False,
    root: str | None = None,
    plugins: bool = True,
) -> Tightening:
    """Raise the bounds in a suite file to what a fresh run will reach, less `slack`; with `dry_run` nothing is written.

    That is the worse end of a 95 % prediction interval, or, with `to="value"`, what the baseline reached itself.

    Raises `UsageError` or `SuiteError` if anything else in the file would change; then nothing is written.
    """
    suite = load_suite(path, root=root, plugins=plugins)
    recorded, _, note = _recorded(suite, baseline)
    change = tightening(suite, recorded, slack, to, plugins=plugins)
    if change.after != change.before and not dry_run:
        write_file(suite.path, change.after, what="suite")
    return replace(change, note=note)


def _recorded(suite: Suite, given: str | None) -> tuple[Baseline, str, str | None]:
    if given is None and (suite.baseline is None or suite.baseline.file is None):
        message = "no baseline: give --baseline FILE, or state 'baseline.file' in the suite"
        raise UsageError(Problem(message, suite.file))
    path = given or str(baseline_path(suite))
    baseline, name = baseline_for(suite, path, path), path if given else Path(path).name
    here, there = {scenario.id for scenario in suite.scenarios}, set(baseline.scenarios)
    if here == there:
        return baseline, name, None
    counts = f"{len(here - there)} are new and {len(there - here)} are gone"
    return baseline, name, f"{name} was saved with other scenarios ({counts}); save it again to use these"


class Tightening(Struct, frozen=True):
    """A suite file's bytes before and after, which thresholds were tightened, and which were left as they are."""

    suite_file: str
    before: bytes
    after: bytes
    raised: list[Tightened]
    kept: list[Kept]
    note: str | None = None
    """Where the baseline has other scenarios than the suite."""


def tightening(
    suite: Suite,
    baseline: Baseline,
    slack: float,
    to: Literal["prediction", "value"] = "prediction",
    *,
    plugins: bool = True,
) -> Tightening:
    """The suite's file with its bounds tightened, less the slack. Raises `UsageError` if it would break."""
    found = list(tightened(suite, baseline, slack, to))
    raised = [one for one in found if isinstance(one, Tightened)]
    kept = [one for one in found if isinstance(one, Kept)]
    before = suite.documents[str(suite.path)]
    edits = [Edit(one.bound, one.metric.spellings, one.value) for one in raised]
    edited = edit_bounds(before.decode("utf-8"), suite.path.suffix.lower() == ".json", edits)
    kept += [Kept(raised[index].name, why) for index, why in edited.refused.items()]
    raised = [one for index, one in enumerate(raised) if index not in edited.refused]
    after = edited.text.encode("utf-8")
    if after != before:
        _check(suite, after, raised, plugins)
    return Tightening(suite.file, before, after, raised, kept)


def _check(suite: Suite, after: bytes, raised: list[Tightened], plugins: bool) -> None:
    """The file has to be read again as the same suite but for the numbers that were to change."""
    path = suite.path
    try:
        documents = {**suite.documents, str(path): after}
        engine.load_suite(path, root=suite.root, plugins=plugins, documents=documents)
        old, _ = Documents(suite.documents).read(path, suite.file)
        new, _ = Documents(documents).read(path, suite.file)
    except InputError as error:
        message = "with the new numbers the suite could no longer be read, so nothing was written"
        raise SuiteError([Problem(message, suite.file), *error.problems]) from error
    meant = {(one.bound.line, one.bound.column) for one in raised}
    for pair in differences(old, new):
        if pair is None or (pair[0].line, pair[0].column) not in meant:
            place = (pair[0].line, pair[0].column) if pair else (None, None)
            message = "changing the numbers would have changed something else here, so nothing was written"
            raise UsageError(Problem(message, suite.file, *place))
