"""Judged checks and behaviors of the run that a report shows, with their violations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from passmuster.checks._outcome import Level, Outcome, Violation
from passmuster.checks._scenario_outcome import Behaviors, BehaviorsOutcome, CheckReport
from passmuster.checks._view import View

if TYPE_CHECKING:
    from passmuster.checks.layers._behaviors import BehaviorCheck
    from passmuster.checks.layers.answer._judged import Stage

__all__ = ["explain_behaviors", "explain_judged"]


def explain_judged(stages: Sequence[Stage], judged: Sequence[Outcome], view: View, file: str) -> Iterator[CheckReport]:
    """The checks that ask a judge, one for each rubric."""
    asked = [(stage.name, rubric.line) for stage in stages for rubric in stage.rubrics]
    for (name, line), outcome in zip(asked, judged, strict=True):
        message = outcome.message or ""
        violations: tuple[Violation, ...] = ()
        if outcome.status in ("fail", "warn"):
            level: Level = "block" if outcome.status == "fail" else "warn"
            violations = (view.violation(None, message=message, level=level, policy_file=file, policy_line=line),)
        yield CheckReport(name=name, status=outcome.status, message=message, line=line, violations=violations)


def explain_behaviors(
    checks: Sequence[BehaviorCheck], found: BehaviorsOutcome | None, view: View, file: str
) -> Behaviors:
    """The behaviors, sorted by what was observed."""
    if found is None:
        return Behaviors()
    lists: dict[str, list[str]] = {"observed": [], "missing": [], "violated": [], "undecided": []}
    reports = []
    for check, outcome in zip(checks, found.outcomes, strict=True):
        reports.append(check.explain(view, outcome, file))
        if outcome.status in ("skip", "error"):
            lists["undecided"].append(check.name)
        elif check.forbidden:
            lists["violated"] += [check.name] if outcome.status == "fail" else []
        else:
            lists["observed" if outcome.status == "pass" else "missing"].append(check.name)
    return Behaviors(**lists, checks=reports)
