"""A case in words, for reports and front ends that show one after the other."""

from __future__ import annotations

from passmuster.reports._cases import Case
from passmuster.reports._text import gate_lines, headline, one_line, scenario_lines, violation_lines
from passmuster.scoring import TestReport


def skip_reason(case: Case) -> str:
    """Why a case that neither passed nor failed counts as skipped, where there is nothing else that it could be."""
    if case.ending == "never":
        return "never exercised"
    if case.ending == "tolerated" and case.line is not None:
        how = "could not be decided" if case.line.status in ("error", "undecided") else "failed"
        return f"{how}, tolerated by {one_line(case.line.tolerated_by or '')}"
    if case.ending == "skip":
        return f"skipped: {summary(case)}"
    return f"warning: {summary(case)}"


def summary(case: Case) -> str:
    """How a case ended, in a line."""
    if case.message:
        return one_line(case.message)
    if case.test and case.test.violations:
        return headline(case.test.violations[0])
    return f"{one_line(case.id)}: {case.source.status if case.source else ''}"


def case_text(case: Case) -> str:
    """Everything about a case: its gate line, its violations, and where they are."""
    lines: list[str] = []
    if case.line:
        lines = [*([one_line(case.line.message)] if case.line.message else []), *gate_lines(case.line)]
    if case.test:
        lines += _test_text(case.test)
    if case.scenario:
        lines += ["", *scenario_lines(case.scenario)]
    return "\n".join(lines).strip("\n")


def _test_text(test: TestReport) -> list[str]:
    lines: list[str] = []
    for violation in test.violations:
        lines += ["", *violation_lines(violation)]
    if test.violation_count > len(test.violations):
        lines += ["", f"… and {test.violation_count - len(test.violations)} more"]
    if test.error is not None:
        lines += ["", *(one_line(part) for part in test.error.splitlines())]
    return lines
