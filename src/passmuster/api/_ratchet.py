"""Tightening a suite's thresholds to what a baseline reached; nothing else in the file changes."""

from __future__ import annotations

from msgspec import Struct

from passmuster._problems import InputError, Problem, SuiteError, UsageError
from passmuster.engine import load_suite
from passmuster.scoring import Baseline, Kept, Tightened, tightened
from passmuster.suite import Documents, Edit, Suite, differences, edit_bounds


class Tightening(Struct, frozen=True):
    """A suite file's bytes before and after, which thresholds were tightened, and which were left as they are."""

    suite_file: str
    before: bytes
    after: bytes
    raised: list[Tightened]
    kept: list[Kept]
    note: str | None = None
    """Where the baseline has other scenarios than the suite."""


def tightening(suite: Suite, baseline: Baseline, slack: float, *, plugins: bool = True) -> Tightening:
    """The suite's file with its bounds at what was reached, less the slack. Raises `UsageError` if it would break."""
    found = list(tightened(suite, baseline, slack))
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
        load_suite(path, root=suite.root, plugins=plugins, documents=documents)
        old, _ = Documents(suite.documents).read(path, suite.file)
        new, _ = Documents(documents).read(path, suite.file)
    except InputError as error:
        message = "with the raised numbers the suite could not be read any more, so nothing was written"
        raise SuiteError([Problem(message, suite.file), *error.problems]) from error
    meant = {(one.bound.line, one.bound.column) for one in raised}
    for pair in differences(old, new):
        if pair is None or (pair[0].line, pair[0].column) not in meant:
            place = (pair[0].line, pair[0].column) if pair else (None, None)
            message = "raising the numbers would have changed something else here, so nothing was written"
            raise UsageError(Problem(message, suite.file, *place))
