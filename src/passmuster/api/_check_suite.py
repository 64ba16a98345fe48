"""A suite looked through without traces: rules that can never fire or break, and what nobody uses."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from passmuster import engine
from passmuster._problems import InputError, Problem, SuiteError
from passmuster.api._lint_finding import LintFinding
from passmuster.api._lint_gate import gate_findings
from passmuster.api._lint_schemas import schema_findings
from passmuster.api._lint_tools import tool_findings
from passmuster.api._lint_unused import unused_findings
from passmuster.api._output_files import check_writable
from passmuster.reports import FORMATS
from passmuster.suite import display, find_root, find_suite


class SuiteCheck(Struct, frozen=True):
    """What was found in a suite, in the order of its lines."""

    suite: str
    file: str
    root: str
    findings: tuple[LintFinding, ...]

    @property
    def errors(self) -> int:
        """How many findings are errors."""
        return sum(one.level == "error" for one in self.findings)


def check_suite(
    path: str | None,
    *,
    root: str | None = None,
    plugins: bool = True,
    today: datetime.date | None = None,
    report: str | None = None,
) -> SuiteCheck:
    """What is wrong with a suite, as far as it can be told without traces. What keeps it from being read is a finding.

    `report` is the file that the findings go to. Raises `SuiteError` only where there is no suite to read, and
    `UsageError` where the report cannot be written or would overwrite what was read.
    """
    found = find_suite(path, Path.cwd())
    top = find_root(root, found)
    file = display(found, top)
    if not found.is_file():
        raise SuiteError(Problem("this is no file that a suite could be read from", file))
    day = today or datetime.datetime.now(datetime.UTC).date()
    try:
        suite = engine.load_suite(found, root=root, plugins=plugins, report_formats=FORMATS)
    except InputError as error:
        invalid = (LintFinding("invalid", "error", one.message, one.file or file, one.line) for one in error.problems)
        return _writable(SuiteCheck(found.parent.name, file, str(top), tuple(invalid)), report, [found])
    findings = [LintFinding("notice", "warning", one.message, one.file or file, one.line) for one in suite.notices]
    findings += [*tool_findings(suite), *schema_findings(suite), *gate_findings(suite, day), *unused_findings(suite)]
    unique = sorted(set(findings), key=lambda one: (one.file != file, one.file, one.line or 0, one.message))
    return _writable(SuiteCheck(suite.name, file, str(top), tuple(unique)), report, suite.documents)


def _writable(found: SuiteCheck, report: str | None, documents: Iterable[str | Path]) -> SuiteCheck:
    """What was found, unless the report would overwrite a file that was looked through."""
    if report is not None:
        check_writable([report], inputs=[*documents, *(Path(found.root, one.file) for one in found.findings)])
    return found
