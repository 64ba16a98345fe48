"""A scenario's outcome in words: which layer, which check, which behavior."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from passmuster.reports._text import one_line, place
from passmuster.scoring import ScenarioReport

__all__ = ["scenario_lines"]

_QUIET = ("pass", None)


def scenario_lines(scenario: ScenarioReport) -> list[str]:
    """What did not go as asked, as `Label: text` lines, and where the scenario is written."""
    lines = ["Trace: none was recorded for this scenario"] if scenario.status == "missing" else []
    for name, layer in scenario.layers.items():
        lines += _layer(name, layer)
    for label, names in (
        ("Missing", scenario.behaviors.missing),
        ("Must not", scenario.behaviors.violated),
        ("Undecided", scenario.behaviors.undecided),
    ):
        lines += [f"{label}: {one_line(name)}" for name in names]
    lines += [f"Said: {one_line(reason)}" for reason in scenario.reasons]
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


def _layer(name: str, layer: Any) -> list[str]:
    if not isinstance(layer, Mapping):
        return []
    lines: list[str] = []
    for check in layer.get("checks") or ():
        if isinstance(check, Mapping) and check.get("status") not in _QUIET:
            told = f"{check.get('name', '')} {check['status']}"
            message = check.get("message")
            lines.append(
                f"{one_line(name.capitalize())}: {one_line(told)}" + (f", {one_line(str(message))}" if message else "")
            )
    return lines
