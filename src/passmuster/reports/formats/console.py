"""The report for a person at a terminal or in a build log."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TextIO

from passmuster._problems import plural
from passmuster.checks import Behaviors
from passmuster.reports._cases import Case, Ending, cases
from passmuster.reports._last_line import closing_sentence
from passmuster.reports._text import aligned, encodable, gate_lines, one_line, place, scenario_lines, violation_lines
from passmuster.scoring import Report, TestReport

FILE_NAME = "report.txt"
DESCRIPTION = "For people; always printed, unless `--quiet` is given."

Line = tuple[str, str]
"""A line and its style, which plain text ignores."""

_INDENT = "   "
_VIOLATIONS = 10
_SCENARIOS = 50
"""Scenarios that are shown in full, those that failed first."""
_GRAVE = ("fail", "error")
_HEADS: dict[Ending, tuple[str, str]] = {
    "pass": ("✓ PASS", "green"),
    "fail": ("❌ FAIL", "bold red"),
    "error": ("❌ ERROR", "bold red"),
    "warning": ("⚠ WARN", "yellow"),
    "tolerated": ("⚠ TOLERATED", "yellow"),
    "never": ("⚠ NOT EXERCISED", "yellow"),
    "skip": ("⚠ SKIP", "yellow"),
}


def write(report: Report) -> bytes:
    """The report as plain text in UTF-8."""
    return _text(report).encode("utf-8", "backslashreplace")


def show_console(report: Report, stream: TextIO) -> None:
    """Print the report, in colour on a terminal unless NO_COLOR is set, in what the stream can encode."""
    if not stream.isatty() or os.environ.get("NO_COLOR"):
        stream.write(encodable(_text(report), stream))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    for text, style in _spaced(report):
        # Soft wrapping leaves the breaking of long lines to the terminal, so nothing is cropped.
        console.print(Text(encodable(text, stream), style=style), soft_wrap=True)


def _text(report: Report) -> str:
    return "".join(f"{text}\n" for text, _ in _spaced(report))


def _spaced(report: Report) -> Iterator[Line]:
    """The lines, with never more than one empty line between two blocks."""
    before = ""
    for text, style in _lines(report):
        if text or before:
            yield text, style
        before = text


def _lines(report: Report) -> Iterator[Line]:
    all_cases = cases(report)
    yield _opening(report), "bold"
    yield "", ""
    for case in all_cases:
        if case.test:
            yield from _test(case, case.test)
    yield from _scenarios([case for case in all_cases if case.scenario])
    for case in all_cases:
        if not case.test and not case.scenario:
            yield from _gate(case)
    yield from _metrics(report)
    yield "", ""
    style = "bold green" if report.verdict == "pass" else "bold yellow" if report.verdict == "warn" else "bold red"
    yield closing_sentence(report, all_cases), style


def _opening(report: Report) -> str:
    counts = report.traces
    parts = [plural(counts.evaluated, "trace")]
    if counts.read != counts.evaluated:
        parts.append(f"{counts.read} read")
    if counts.unmatched:
        parts.append(f"{counts.unmatched} without a scenario")
    if counts.bad_lines:
        parts.append(f"{plural(counts.bad_lines, 'line')} could not be read")
    partial = " (partial run)" if report.partial else ""
    return f"{one_line(report.suite)} ({one_line(report.suite_file)}): {', '.join(parts)}{partial}"


def _test(case: Case, test: TestReport) -> Iterator[Line]:
    head, style = _HEADS[case.ending]
    name = one_line(test.metric) if test.id == test.metric else f"{one_line(test.metric)} ({one_line(test.id)})"
    block = list(_test_block(case, test))
    ran = f"  {plural(test.traces, 'trace')}" if case.ending in ("pass", "never", "skip") else ""
    yield f"{head}: {name}{ran}", style
    if not block:
        return
    if test.violations or test.error:
        yield "", ""
    yield from block
    yield "", ""


def _test_block(case: Case, test: TestReport) -> Iterator[Line]:
    for count, violation in enumerate(test.violations[:_VIOLATIONS]):
        if count:
            yield "", ""
        yield from _indented(violation_lines(violation))
    hidden = test.violation_count - min(len(test.violations), _VIOLATIONS)
    if hidden > 0:
        yield "", ""
        yield f"{_INDENT}… and {hidden} more (all of them are in the other reports)", "dim"
    if test.error is not None:
        yield from _indented([f"| {one_line(line)}" for line in test.error.splitlines()])
    elif not test.violations and case.ending not in ("pass", "never") and case.message:
        yield from _indented([f"Reason: {one_line(case.message)}"])
    if case.ending in ("never", "skip"):
        where = place(test.file, test.line)
        yield from _indented([f"Suite line: {where}"] if where else [])
    idle = [rule for rule in test.rules if not rule.exercised_on] if test.exercised else []
    if idle:
        if test.violations:
            yield "", ""
        yield from _indented(f"Never exercised: rule {one_line(rule.type)} at line {rule.line}" for rule in idle)


def _scenarios(scenarios: list[Case]) -> Iterator[Line]:
    if not scenarios:
        return
    passed = sum(case.ending == "pass" for case in scenarios)
    if passed:
        yield f"✓ PASS: {passed} of {plural(len(scenarios), 'scenario')}", "green"
    told = sorted((case for case in scenarios if case.ending != "pass"), key=lambda case: case.ending not in _GRAVE)
    for case in told[:_SCENARIOS]:
        scenario = case.scenario
        if scenario is None:
            continue
        head, style = _HEADS[case.ending]
        missing = scenario.status == "missing" and case.ending == "fail"
        category = f" ({one_line(scenario.category)})" if scenario.category else ""
        yield f"{'❌ MISSING' if missing else head}: scenario {one_line(scenario.id)}{category}", style
        yield "", ""
        # Layers and behaviors give their own reasons below.
        explained = scenario.layers or scenario.behaviors != Behaviors()
        reason = [f"Reason: {one_line(case.message)}"] if case.message and not explained else []
        if case.line and case.line.tolerated_by:
            reason.append(f"Tolerated by: {one_line(case.line.tolerated_by)}")
        yield from _indented([*reason, *scenario_lines(scenario)])
        yield "", ""
    if len(told) > _SCENARIOS:
        more = plural(len(told) - _SCENARIOS, "more scenario")
        yield f"… and {more} that did not simply pass (all of them are in the other reports)", "dim"
        yield "", ""


def _gate(case: Case) -> Iterator[Line]:
    line = case.line
    if line is None:
        return
    head, style = _HEADS[case.ending]
    message = f"  {one_line(line.message)}" if line.message else ""
    yield f"{head}: {line.kind} {one_line(line.id)}{message}", style
    if case.ending == "pass":
        return
    yield from _indented(gate_lines(line))


def _metrics(report: Report) -> Iterator[Line]:
    """Each metric with its interval and what it is over; a weighted one only where weights make a difference."""
    shown = {
        name: metric
        for name, metric in report.metrics.items()
        if metric != report.metrics.get(name.removeprefix("weighted_")) or not name.startswith("weighted_")
    }
    if not shown:
        return
    from passmuster.scoring import between, written  # late: suites of tests alone have no metrics

    rows = []
    for name, metric in shown.items():
        value = "no value" if metric.value is None else written(name, metric.value)
        known = f" of {metric.total}" if metric.total is not None else ""
        rows.append((one_line(name), value, between(name, metric.ci95), f"n {metric.n}{known}"))
    yield "", ""
    yield "Metrics (value, 95 % CI, n)", ""
    yield from _indented(aligned(rows))


def _indented(lines: Iterator[str] | list[str]) -> Iterator[Line]:
    for line in lines:
        yield (f"{_INDENT}{line}" if line else ""), ""
