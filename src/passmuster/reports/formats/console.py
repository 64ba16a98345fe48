"""The report for a person at a terminal or in a build log: the verdict and its reasons first, what to do next last."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TextIO

from passmuster._problems import plural
from passmuster.reports._cases import Case, cases
from passmuster.reports._last_line import next_step, verdict_sentence
from passmuster.reports._overview import category_rows, fact_lines, metric_rows
from passmuster.reports._reasons import reasons
from passmuster.reports._screen import Line, Screen, coloured, in_colour, screen_for, wrapped
from passmuster.reports._text import encodable, gate_lines, one_line, test_name
from passmuster.scoring import Report

FILE_NAME = "report.txt"
DESCRIPTION = "For people; always printed, unless `--quiet` is given."

_LINES = 56
"""What a screen of the least detail fits: reasons and tables first, then as many details as there is room for."""
_LEAST_DETAILS = 12
_MORE_LINES = 100
_REASON_LINES = 14
_ROOM = ((12, 9), (5, 8), (4, 6), (3, 4))
"""Rows of each table, and lines of warnings: the first that leave room for details."""
_PASSED = 12
_SHORT = 80
_INDENT = "   "
_RED = "bold red"
_GAP: Line = ("", "")


def write(report: Report) -> bytes:
    """The report as plain text in UTF-8, with file names relative to the root."""
    return _text(rendered(report, Screen())).encode("utf-8", "backslashreplace")


def show_console(report: Report, stream: TextIO, *, detail: int = 0) -> None:
    """Print the report as the stream can show it, with file names relative to the current folder.

    `detail` is 0, 1 for more, or 2 for all.
    """
    here = _here(report.root)
    if report.root and here != report.root:
        from passmuster.reports._relative_report import relative_report  # late: most people stand in the root

        report = relative_report(report, here)
    lines = rendered(report, screen_for(stream, detail))
    if in_colour(stream):
        lines = [(coloured(encodable(text, stream), style), "") for text, style in lines]
        stream.write(_text(lines))
    else:
        stream.write(encodable(_text(lines), stream))


def rendered(report: Report, screen: Screen) -> list[Line]:
    """The report as lines, each with its style."""
    all_cases = cases(report)
    blocking = reasons(report, all_cases)
    style = "bold green" if report.verdict == "pass" else "bold yellow" if report.verdict == "warn" else _RED
    above = [(verdict_sentence(report, all_cases), style), (_about(report), ""), _GAP, *_reasons(blocking, screen)]
    head = list(wrapped(above, screen.width))
    foot: list[Line] = []
    for rows, warnings in ((None, None),) if screen.detail else _ROOM:
        below = [
            *_warnings(report, all_cases, screen, warnings),
            _GAP,
            *_passed(report, all_cases, screen),
            *_figures(report, rows),
            _GAP,
            (next_step(report, all_cases), style),
        ]
        foot = list(wrapped(below, screen.width))
        if len(head) + len(foot) + (_LEAST_DETAILS if blocking else 0) <= _LINES:
            break
    room = max(_LEAST_DETAILS, _LINES - len(head) - len(foot))
    looked_at = [case for case in blocking if case.source]
    if screen.detail:
        looked_at += [case for case in all_cases if case.source and case.ending == "warning"]
    return list(_single_gaps([*head, _GAP, *_details(looked_at, screen, room), _GAP, *foot]))


def _details(looked_at: list[Case], screen: Screen, room: int) -> list[Line]:
    if not looked_at:
        return []
    from passmuster.reports._details import detail_lines  # late: most runs pass

    return detail_lines(looked_at, screen, room)


def _here(root: str) -> str:
    try:
        return os.getcwd()
    except OSError:  # the folder is gone
        return root


def _text(lines: list[Line]) -> str:
    return "".join(f"{text}\n" for text, _ in lines)


def _single_gaps(lines: list[Line]) -> Iterator[Line]:
    """The lines with never more than one empty one between two."""
    before = ""
    for text, style in lines:
        if text or before:
            yield text, style
        before = text


def _about(report: Report) -> str:
    counts = report.traces
    parts = [plural(counts.evaluated, "trace")]
    if counts.read != counts.evaluated:
        parts.append(f"{counts.read} read")
    if counts.unmatched:
        parts.append(f"{counts.unmatched} without a scenario")
    if counts.bad_lines:
        parts.append(f"{plural(counts.bad_lines, 'line')} could not be read")
    if report.agent_version:
        parts.append(f"agent {one_line(report.agent_version)}")
    partial = " (partial run)" if report.partial else ""
    return f"{one_line(report.suite)} ({one_line(report.suite_file)}): {', '.join(parts)}{partial}"


def _warnings(report: Report, all_cases: list[Case], screen: Screen, room: int | None) -> list[Line]:
    if all(case.ending == "pass" for case in all_cases) and not any(test.idle_rules() for test in report.tests):
        return []
    from passmuster.reports._warnings import warning_lines  # late: most runs pass

    lines = warning_lines(report, all_cases)
    return lines if room is None else _fitting([[line] for line in lines], room, screen, "warning")


def _fitting(items: list[list[Line]], room: int, screen: Screen, noun: str) -> list[Line]:
    """The first items that fit so many lines, at least one, and how many more there are."""
    lines: list[Line] = []
    for number, item in enumerate(items):
        room -= len(list(wrapped(item, screen.width)))
        if room < 0 and number:
            return [*lines, (f"… and {plural(len(items) - number, f'more {noun}')} (-v shows more, -vv all)", "dim")]
        lines += item
    return lines


def _reasons(blocking: list[Case], screen: Screen) -> list[Line]:
    """What blocks in a line each, the worst first; nothing where a single block below tells all."""
    if len(blocking) == 1 and blocking[0].source:
        return []
    room = (_REASON_LINES, _MORE_LINES, len(blocking) * _MORE_LINES)[min(screen.detail, 2)]
    return _fitting([_reason(case) for case in blocking], room, screen, "reason")


def _reason(case: Case) -> list[Line]:
    from passmuster.reports._details import reason_line  # late: most runs pass

    below = gate_lines(case.line) if case.line and not case.source else ()
    return [(reason_line(case, _SHORT), _RED), *filter(None, (_line_below(text, case.message) for text in below))]


def _line_below(text: str, message: str) -> Line | None:
    """What a gate line found or asked for, where its message does not say so."""
    label, _, value = text.partition(": ")
    return None if label == "Suite line" or value in one_line(message) else (f"{_INDENT}{text}", "")


def _passed(report: Report, all_cases: list[Case], screen: Screen) -> Iterator[Line]:
    """What passed: a line for each test where there is room for it, and the one count of scenarios."""
    tests = [case.test for case in all_cases if case.test and case.ending == "pass"]
    if screen.detail or (report.exit_code == 0 and len(tests) <= _PASSED):
        yield from ((f"✓ PASS: {test_name(test)}  {plural(test.traces, 'trace')}", "green") for test in tests)
    elif tests:
        yield f"✓ PASS: {len(tests)} of {plural(len(report.tests), 'test')}", "green"
    scenarios = [case for case in all_cases if case.scenario]
    passed = [case for case in scenarios if case.scenario and case.scenario.status in ("pass", "warn")]
    if passed:
        warned = sum(case.ending != "pass" for case in passed)
        besides = f", {warned} of them with a warning" if warned else ""
        yield f"✓ PASS: {len(passed)} of {plural(len(scenarios), 'scenario')}{besides}", "green"
    if screen.detail:
        for case in all_cases:
            if not case.source and case.ending == "pass":
                yield f"✓ PASS: {case.group} {one_line(case.id)}: {one_line(case.message)}", "green"


def _figures(report: Report, most: int | None) -> Iterator[Line]:
    for rows in (category_rows(report, most), metric_rows(report, most), list(fact_lines(report))):
        if rows:
            yield _GAP
            yield from ((row, "") for row in rows)
    yield from _sweep(report)


def _sweep(report: Report) -> Iterator[Line]:
    """What a sample says about all traces, and the groups of traces."""
    if report.sample is None and not report.groups:
        return
    from passmuster.reports._group_text import sweep_lines  # late, for few runs have them

    for line in sweep_lines(report):
        if not line.startswith(_INDENT):
            yield _GAP
        yield line, ""
