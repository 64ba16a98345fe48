"""What the fixture `passmuster` gives a test: runs at hand, evaluated by a suite."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from passmuster import api, reports
from passmuster._problems import InputError, OutsideError


class Checker:
    """Evaluates runs that a test has at hand by a suite, which is the nearest `passmuster.yaml` unless one is given."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def check(
        self,
        runs: Any,
        *,
        suite: str | Path | Mapping[str, Any] | api.Suite | None = None,
        scenario: str | None = None,
        strict: bool = False,
        judge: api.JudgeMode = "live",
    ) -> api.Report:
        """Fail the test unless the runs pass; the report otherwise.

        `runs` are messages, spans, a record, a `Trace`, a list of these, or a path: whatever `passmuster.read_traces`
        takes. They belong to `scenario`, or to the scenarios they name or whose query they answer. Evaluated are the
        suite's tests and these scenarios, not what the suite asks of all scenarios together.
        """
        __tracebackhide__ = True
        report = self.evaluate(runs, suite=suite, scenario=scenario, strict=strict, judge=judge)
        if report.exit_code:
            raise AssertionError(reports.render("console", report).decode().rstrip())
        return report

    def evaluate(
        self,
        runs: Any,
        *,
        suite: str | Path | Mapping[str, Any] | api.Suite | None = None,
        scenario: str | None = None,
        strict: bool = False,
        judge: api.JudgeMode = "live",
    ) -> api.Report:
        """The report on the runs, whatever it says. Raises `InputError` for mistakes in the suite or the runs."""
        __tracebackhide__ = True
        try:
            return api.evaluate_runs(self._suite(suite), runs, scenario=scenario, strict=strict, judge=judge)
        except (InputError, OutsideError, TypeError) as error:
            raise error.with_traceback(None) from None  # the mistake is where the test called, not in here

    def _suite(self, given: str | Path | Mapping[str, Any] | api.Suite | None) -> api.Suite:
        if isinstance(given, api.Suite):
            return given
        if isinstance(given, Mapping):
            return api.suite_from_dict(given)
        return api.load_suite(None if given is None else self._folder / given, start=self._folder)
