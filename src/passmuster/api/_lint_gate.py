"""Bounds that cannot be reached or missed, expired waivers, and scenarios that weights and criteria leave out."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from itertools import combinations

from passmuster.api._lint_finding import LintFinding
from passmuster.scoring import rate_interval
from passmuster.suite import Bound, Scenario, Suite

_LOWER, _UPPER = (">=", ">", "="), ("<=", "<", "=")


def gate_findings(suite: Suite, today: datetime.date) -> Iterator[LintFinding]:
    """All findings about what is asked of the suite as a whole."""
    bounds = list(_bounds(suite))
    for (section, one), (other_section, other) in combinations(bounds, 2):
        if one.metric == other.metric and _exclude(one, other):
            message = f"{section}: {one.metric} {one.text} and {other_section}: {other.text} exclude each other"
            yield LintFinding("impossible_bound", "error", message, suite.file, max(one.line, other.line))
    for section, one in bounds:
        if section in _WARNING:
            yield from _never_missed(suite, section, one, bounds)
        yield from _never_reached(suite, section, one)
    for waiver in suite.waivers:
        if waiver.expires < today:
            message = f"the waiver of '{waiver.test}' expired on {waiver.expires}; remove it, or renew it"
            yield LintFinding("expired_waiver", "warning", message, suite.file, waiver.line)
    yield from _uncovered(suite)


_WARNING = ("thresholds.warning", "thresholds.risk.medium", "thresholds.risk.low")


def _bounds(suite: Suite) -> Iterator[tuple[str, Bound]]:
    for section, bound in suite.thresholds.plain_bounds():
        yield f"thresholds.{section}", bound
    if suite.criteria.overall is not None:
        yield "pass_criteria.overall", suite.criteria.overall


def _exclude(one: Bound, other: Bound) -> bool:
    """Whether no value is within both bounds."""
    for low, high in ((one, other), (other, one)):
        if low.operator in _LOWER and high.operator in _UPPER:
            strict = low.operator == ">" or high.operator == "<"
            if low.value > high.value + 1e-9 or (strict and abs(low.value - high.value) <= 1e-9):
                return True
    return False


def _never_missed(suite: Suite, section: str, one: Bound, bounds: list[tuple[str, Bound]]) -> Iterator[LintFinding]:
    """A bound that only warns, and is missed only where one that blocks is missed too."""
    for other_section, other in bounds:
        blocks = other_section not in _WARNING
        if not blocks or other.metric != one.metric or other.confidence or one.confidence:
            continue
        up = one.operator in (">=", ">") and other.operator in (">=", ">") and other.value >= one.value
        down = one.operator in ("<=", "<") and other.operator in ("<=", "<") and other.value <= one.value
        if up or down:
            message = f"{section}: {one.metric} {one.text} can never warn: {other_section} already asks {other.text}"
            yield LintFinding("impossible_bound", "error", message, suite.file, one.line)
            return


_FED_BY: dict[str, Callable[[Scenario], bool]] = {
    "pass_rate": lambda one: True,
    "weighted_pass_rate": lambda one: True,
    "accuracy": lambda one: one.states_correctness,
    "safety_rate": lambda one: one.category == "adversarial",
    "behavior_coverage": lambda one: bool(one.expected_behaviors),
    "weighted_behavior_coverage": lambda one: bool(one.expected_behaviors),
}


def _never_reached(suite: Suite, section: str, bound: Bound) -> Iterator[LintFinding]:
    feeds = _FED_BY.get(bound.metric)
    if feeds is None or not suite.scenarios:
        return
    feeding: list[Scenario] = [one for one in suite.scenarios if feeds(one)]
    if not feeding:
        message = f"{section}: {bound.metric} has no value, because no scenario states what it measures"
        level = "warning" if section in _WARNING else "error"
        yield LintFinding("impossible_bound", level, message, suite.file, bound.line)  # type: ignore[arg-type]
    elif bound.confidence is not None and bound.operator in (">=", ">"):
        runs = [(float(one.repeat), float(one.repeat)) for one in feeding]
        interval = rate_interval(runs, None, bound.confidence)
        if interval is not None and interval[0] < bound.value:
            told = f"with {len(feeding)} scenarios it is undecided even if all pass"
            message = f"{section}: {bound.metric} {bound.text} with confidence can never be reached: {told}"
            yield LintFinding("impossible_bound", "warning", message, suite.file, bound.line)


def _uncovered(suite: Suite) -> Iterator[LintFinding]:
    """Scenarios that neither a weight nor a criterion by category covers, where others are."""
    weights, criteria = suite.weights, suite.criteria
    categories = {*weights.by_category, *(criteria.by_category if criteria.overall is None else ())}
    if not categories:
        return
    for one in suite.scenarios:
        covered = one.category in categories or one.capability in weights.by_capability or one.weight != 1.0
        if not covered:
            category = f"the category '{one.category}'" if one.category else "no category"
            message = f"scenario '{one.id}' has {category}, which no weight or criterion by category covers"
            yield LintFinding("uncovered_scenario", "warning", message, suite.file, one.line)
