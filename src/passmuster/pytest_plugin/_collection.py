"""A suite as pytest items: one per test and scenario, then the lines of its gate, and its verdict last."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from os import PathLike
from typing import Any

import pytest

from passmuster import api, reports
from passmuster._problems import InputError, OutsideError

_GRAVITY: tuple[str, ...] = ("error", "fail", "tolerated", "warning", "never", "skip", "pass")


class SuiteFile(pytest.File):
    """A suite file. It is run once, when the first of its items is, with the options of `passmuster run`."""

    _run: api.Run | InputError | OutsideError | None = None

    def collect(self) -> Iterator[pytest.Item]:
        """The items of the suite; none where neither the suite nor an option names traces."""
        try:
            suite = api.load_suite(self.path)
        except InputError as error:
            raise self.CollectError(str(error)) from error
        if not suite.traces and not self.config.getoption("passmuster_traces"):
            return
        names: set[str] = set()
        for stated in api.stated_cases(suite):
            name = reports.one_line(f"{stated.group}/{stated.id}")
            if name not in names:
                names.add(name)
                yield CaseItem.from_parent(self, name=name, group=stated.group, id_=stated.id, line=stated.line)
        yield VerdictItem.from_parent(self, name="gate")

    def report(self) -> api.Report:
        """The report of the suite. Raises `InputError` and `OutsideError` as `passmuster run` tells them."""
        if self._run is None:
            self._run = self._evaluated()
        if isinstance(self._run, InputError | OutsideError):
            raise self._run
        return self._run.report

    @cached_property
    def cases(self) -> dict[tuple[str, str], reports.Case]:
        """How everything that was asked ended, by group and id; of several lines with the same, the gravest."""
        found: dict[tuple[str, str], reports.Case] = {}
        for case in sorted(reports.cases(self.report()), key=lambda one: _GRAVITY.index(one.ending)):
            found.setdefault((case.group, case.id), case)
        return found

    def _evaluated(self) -> api.Run | InputError | OutsideError:
        option = self.config.getoption
        options = api.RunOptions(  # a report that goes to standard output is not written anywhere
            traces=tuple(option("passmuster_traces")),
            reports=(api.Destination("console", "-"),),
            strict=option("passmuster_strict"),
            judge=option("passmuster_judge"),
        )
        try:
            with api.StandardInput() as stdin:
                return api.run(str(self.path), options, stdin)
        except (InputError, OutsideError) as error:
            return error


class _SuiteItem(pytest.Item):
    """An item whose failure is told in the words of a report."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        if self.config.pluginmanager.hasplugin("xdist"):  # with --dist loadgroup one worker runs the whole suite
            self.add_marker(pytest.mark.xdist_group(self.path.as_posix()))

    @property
    def suite(self) -> SuiteFile:
        """The file it is of."""
        assert isinstance(self.parent, SuiteFile)
        return self.parent

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Without a traceback, for the reason is not in the code."""
        if isinstance(excinfo.value, _NotPassed | InputError | OutsideError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)


class _NotPassed(Exception):
    """What a report says of something that did not pass."""


class CaseItem(_SuiteItem):
    """A test, a scenario, or a line of the gate."""

    def __init__(self, *, group: str, id_: str, line: int, **given: Any) -> None:
        super().__init__(**given)
        self._case, self._line = (group, id_), line

    def runtest(self) -> None:
        """Fail, skip or pass as the report has it; what warns or is tolerated is skipped, as in JUnit reports."""
        case = self.suite.cases.get(self._case)
        if case is None:
            raise _NotPassed(f"the report says nothing about {self.name}")
        if case.ending in ("fail", "error"):
            raise _NotPassed(reports.case_text(case))
        if case.ending != "pass":
            pytest.skip(reports.skip_reason(case))

    def reportinfo(self) -> tuple[PathLike[str] | str, int | None, str]:
        """Where the suite states it."""
        return self.path, self._line - 1 if self._line else None, self.name


class VerdictItem(_SuiteItem):
    """The verdict as a whole: fails where `passmuster run` exits with another code than 0."""

    def runtest(self) -> None:
        """Fail with the whole report."""
        report = self.suite.report()
        if report.exit_code:
            raise _NotPassed(reports.render("console", report).decode())

    def reportinfo(self) -> tuple[PathLike[str] | str, int | None, str]:
        """The suite itself."""
        return self.path, None, self.name
