"""Annotations for GitHub Actions: workflow commands that mark lines of a suite or policy in a pull request."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from passmuster._problems import Problem
from passmuster.reports._cases import Case, cases
from passmuster.reports._details import reason_line
from passmuster.reports._reasons import first_blocking, reasons
from passmuster.reports._text import cut, headline, one_line
from passmuster.scoring import Report

MOST_ANNOTATIONS = 10
"""GitHub shows so many of a step."""
_MESSAGE = 1_000
_TITLE = 100


def annotation_lines(report: Report, workspace: str, most: int = MOST_ANNOTATIONS) -> list[str]:
    """The worst reasons as commands, and the last for those that are left out; files are named from the workspace."""
    blocking = reasons(report, cases(report))
    shown = blocking if len(blocking) <= most else blocking[: max(most - 1, 0)]
    lines = [_command(case, report.root, workspace) for case in shown]
    if len(shown) < len(blocking) and most > 0:
        more = f"{len(blocking) - len(shown)} more reasons are in the job summary and in the reports"
        lines.append(f"::error title={_property('passmuster')}::{_data(more)}")
    return lines


def problem_annotations(problems: Sequence[Problem], workspace: str, most: int = MOST_ANNOTATIONS) -> list[str]:
    """Mistakes in the input as commands, and the last for those that are left out."""
    shown = problems if len(problems) <= most else problems[: max(most - 1, 0)]
    lines = [_problem_command(problem, workspace) for problem in shown]
    if len(shown) < len(problems) and most > 0:
        more = f"{len(problems) - len(shown)} more problems are in the log of the job"
        lines.append(f"::error title={_property('passmuster')}::{_data(more)}")
    return lines


def _problem_command(problem: Problem, workspace: str) -> str:
    properties = [f"title={_property('passmuster: nothing was evaluated')}"]
    near = _from_workspace(problem.file, workspace, workspace) if problem.file else ""
    if near and os.path.isfile(os.path.join(workspace, near)):
        properties = [f"file={_property(near)}", *([f"line={problem.line}"] if problem.line else []), *properties]
    return f"::error {','.join(properties)}::{_data(cut(one_line(str(problem)), _MESSAGE))}"


def _command(case: Case, root: str, workspace: str) -> str:
    file, line = _place(case)
    properties = [f"title={_property(cut(f'passmuster: {one_line(case.id)}', _TITLE))}"]
    if file and (near := _from_workspace(file, root, workspace)):
        properties = [f"file={_property(near)}", *([f"line={line}"] if line else []), *properties]
    return f"::error {','.join(properties)}::{_data(cut(_message(case), _MESSAGE))}"


def _message(case: Case) -> str:
    violation = first_blocking(case.test) if case.test else None
    if violation is not None and violation.suggestion:
        return f"{reason_line(case).partition(': ')[2]}. {one_line(violation.suggestion)}"
    return reason_line(case).partition(": ")[2] if violation is None else headline(violation)


def _place(case: Case) -> tuple[str | None, int | None]:
    """Where the policy or suite has what was broken."""
    for violation in _violations(case):
        if violation[0]:
            return violation
    if case.line is not None and case.line.file:
        return case.line.file, case.line.line
    return (case.source.file, case.source.line) if case.source else (None, None)


def _violations(case: Case) -> Iterator[tuple[str | None, int | None]]:
    if case.test and (first := first_blocking(case.test)):
        yield first.policy_file, first.policy_line
    if case.scenario:
        yield from ((one.policy_file, one.policy_line) for one in case.scenario.violations() if one.level == "block")


def _from_workspace(file: str, root: str, workspace: str) -> str:
    """The file as the repository has it; empty where it is not in it."""
    near = os.path.relpath(os.path.join(root or workspace, file), workspace)
    return "" if near.startswith(os.pardir) else near.replace(os.sep, "/")


def _data(text: str) -> str:
    """The text as the value of a command: whatever could end it is escaped."""
    return one_line(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
