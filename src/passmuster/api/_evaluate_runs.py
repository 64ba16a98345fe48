"""The verdict on some runs: by the tests of a suite, and the scenarios that the runs belong to."""

from __future__ import annotations

from glob import escape
from typing import Any

from msgspec.structs import replace

from passmuster._problems import Problem, UsageError, did_you_mean
from passmuster.api._inputs import compared_with
from passmuster.api._options import RunOptions
from passmuster.api._redact_report import redact_report
from passmuster.engine import evaluate_traces, redactor_of, scenarios_of
from passmuster.scoring import JudgeMode, Report
from passmuster.suite import Suite
from passmuster.traces import read_traces


def evaluate_runs(
    suite: Suite, runs: Any, *, scenario: str | None = None, strict: bool = False, judge: JudgeMode = "live"
) -> Report:
    """The verdict on what `read_traces` takes, as of a partial run: without scenarios that none of the runs belongs to,
    and without what the suite asks of all scenarios together.

    With `scenario` all runs belong to it. Raises `UsageError` where nothing in the suite is about the runs.
    """
    ids = [one.id for one in suite.scenarios]
    if scenario is not None and scenario not in ids:
        message = f"the suite has no scenario '{scenario}'{did_you_mean(scenario, ids)}"
        raise UsageError(Problem(message, suite.file))
    traces = [one if scenario is None else replace(one, scenario=scenario) for one in read_traces(runs)]
    settings = RunOptions(strict=strict, judge=judge).settings
    about = scenarios_of(suite, traces, settings)
    if not about and not suite.tests:
        message = "no scenario of the suite has the id or the query of these runs; say which one it is: scenario=ID"
        raise UsageError(Problem(message, suite.file))
    compared, name = compared_with(suite, None)
    only = tuple(escape(id_) for id_ in (*(test.id for test in suite.tests), *about))
    report = evaluate_traces(suite, traces, replace(settings, only=only, baseline=name), compared)
    return redact_report(report, redactor_of(suite))
