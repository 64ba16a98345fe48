"""A scenario's outcome in words: which layer, which check, which behavior, and where."""

from __future__ import annotations

from collections.abc import Iterator

from passmuster.checks import CheckReport
from passmuster.reports._text import headline, one_line, place, place_lines
from passmuster.scoring import ScenarioReport

_INDENT = "   "
_VIOLATIONS = 10
"""Violations shown per check; the JSON and SARIF reports have them all."""


def scenario_lines(scenario: ScenarioReport) -> list[str]:
    """What did not go as asked, as `Label: text` lines, and where the scenario is written."""
    lines = ["Trace: none was recorded for this scenario"] if scenario.status == "missing" else []
    for name, layer in scenario.layers.items():
        for check in layer.checks:
            if check.status != "pass":
                message = f", {one_line(check.message)}" if check.message else ""
                lines.append(f"{name.capitalize()}: {one_line(check.name)} {check.status}{message}")
                lines += _places(check)
    behaviors = scenario.behaviors
    by_name = {check.name: check for check in behaviors.checks}
    for label, names in (
        ("Missing", behaviors.missing),
        ("Must not", behaviors.violated),
        ("Undecided", behaviors.undecided),
    ):
        for name in names:
            lines.append(f"{label}: {one_line(name)}")
            lines += _places(by_name[name]) if name in by_name else []
    lines += [f"Said: {one_line(reason)}" for reason in behaviors.reasons]
    if scenario.runs > 1 and scenario.pass_rate is not None:
        passed = sum(attempt.status in ("pass", "warn") for attempt in scenario.attempts)
        shown = f"{passed} of" if len(scenario.attempts) == scenario.runs else f"{scenario.pass_rate * 100:.3g}% of"
        lines.append(f"Runs: {shown} {scenario.runs} passed")
    for flip in scenario.flips or ():
        pair = f"{one_line(flip.passed)} passed, {one_line(flip.failed)} did not"
        lines.append(f"Flipped: {pair}; the {flip.blame}: {one_line(flip.message)}")
    for attempt in scenario.attempts:
        if attempt.status != "pass" and attempt.message:
            lines.append(f"Trace {one_line(attempt.trace_id)}: {attempt.status}, {one_line(attempt.message)}")
    where = place(scenario.file, scenario.line)
    return [*lines, f"Suite line: {where}"] if where else lines


def _places(check: CheckReport) -> Iterator[str]:
    """The places of the check's violations; where there are several, with a line about each."""
    several = len(check.violations) > 1
    for violation in check.violations[:_VIOLATIONS]:
        if several:
            yield f"{_INDENT}{headline(violation)}"
        yield from (f"{_INDENT}{line}" for line in place_lines(violation))
    if len(check.violations) > _VIOLATIONS:
        yield f"{_INDENT}… and {len(check.violations) - _VIOLATIONS} more (all of them are in the JSON report)"
