"""Violations, scenarios and gate lines in words: the one rendering that console, JUnit and SARIF share.

Whatever comes from a trace is made safe for one line: control characters and marks that reorder text are
shown as escapes, and what a build server would take for a command is broken by a space.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, TextIO

from passmuster._problems import plural
from passmuster.checks import CheckReport, Violation
from passmuster.scoring import GateLine, Report, ScenarioReport, TestReport

# Controls, line and paragraph separators, marks that change direction, invisible ones, lone surrogates.
# Compiled at first use: most runs need none of these patterns.
_UNSAFE = (
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff9-\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
)
_SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
_LOG_COMMAND = r"(?i)##(?=\[|vso|teamcity)"
# Only at the beginning of a line does `::name` command anything, so `std::vector` may stay.
_WORKFLOW_COMMAND = r"(?<![A-Za-z0-9_>]):(?=:[A-Za-z])"
_NUMBER = r"\[hidden #\d+\]"
BLOCKS = "▁▂▃▄▅▆▇█"
"""Eight heights, from low to high."""

_MARKS = {"❌ ": "", "⚠ ": "", "✓ ": "", "…": "...", "→": "->", "≥": ">=", "≤": "<=", "–": "-", "−": "-", "×": "x"}
_IN_ASCII = {**_MARKS, **dict(zip(BLOCKS, "_.-=+*%#", strict=True))}
_VALUE_LIMIT = 400
_INDENT = "   "
_VIOLATIONS = 10
"""Violations shown per check; the JSON and SARIF reports have them all."""


def violation_lines(violation: Violation) -> list[str]:
    """The violation as `Label: text` lines; an empty one sets the count of calls apart."""
    return [*_what(violation), *_rest(violation), *_where(violation)]


def headline(violation: Violation) -> str:
    """The violation in one line: tool, argument and what is wrong."""
    if violation.rule and violation.actual:
        return f"{one_line(violation.rule)}: {one_line(violation.actual)}"
    subject = ", ".join(part for part in (_tool(violation), _argument(violation)) if part)
    message = one_line(violation.message)
    return f"{subject}: {message}" if subject else message


def gate_lines(line: GateLine) -> list[str]:
    """What a gate line found and asked for, as `Label: text` lines, and where it is written."""
    lines = [] if line.actual is None else [f"Actual: {_found(line)}"]
    if line.expected is not None:
        lines.append(f"Expected: {_bare(line.expected)}")
    lines += _line("Tolerated by", line.tolerated_by)
    return [*lines, *_line("Suite line", place(line.file, line.line) or None)]


def scenario_lines(scenario: ScenarioReport) -> list[str]:
    """What did not go as asked, as `Label: text` lines, and where the scenario is written."""
    lines = ["Trace: none was recorded for this scenario"] if scenario.status == "missing" else []
    if scenario.status == "not_run":
        lines = ["Trace: none, for the verdict was known without this scenario"]
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
    run = scenario.worst_run
    if run is not None and run.file and not any("Trace line: " in line for line in lines):
        lines.append(f"Trace line: {trace_place(run.file, run.line, run.trace_id)}")
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


def test_name(test: TestReport) -> str:
    """`metric (id)`, or the metric alone where the id is the same."""
    metric = one_line(test.metric)
    return metric if test.id == test.metric else f"{metric} ({one_line(test.id)})"


def one_line(text: str) -> str:
    """Text that stays on its line, shows what is in it, and commands nothing."""
    if not (text.isascii() and text.isprintable()):
        text = re.sub(_UNSAFE, _escaped, text)
    if "##" in text:
        text = re.sub(_LOG_COMMAND, "# #", text)
    return re.sub(_WORKFLOW_COMMAND, ": ", text) if "::" in text else text


def shown(value: Any, limit: int = _VALUE_LIMIT) -> str:
    """A value on one line, as JSON writes it."""
    if isinstance(value, str) and re.fullmatch(_NUMBER, value):
        return value
    import json  # late: few runs need it

    text = json.dumps(value, ensure_ascii=False, default=str)
    if len(text) > limit:
        text = f"{text[:limit]}… ({len(text)} characters)"
    return one_line(text)


def place(file: str | None, line: int | None) -> str:
    """`file:line`, or as much of it as is known."""
    if not file:
        return ""
    return f"{one_line(file)}:{line}" if line else one_line(file)


def trace_place(file: str | None, line: int | None, trace_id: str | None) -> str:
    """`file:line (trace id)`, or as much of it as is known; a trace without an id is called by its place."""
    at, name = place(file, line), one_line(trace_id or "")
    if not at or not name or at == name:
        return at or (f"trace {name}" if name else "")
    return f"{at} (trace {name})"


def _found(line: GateLine) -> str:
    """What was found, in the words of what was asked for: a float on these lines is the metric that they name."""
    if not isinstance(line.actual, float) or line.kind not in ("threshold", "criteria", "baseline"):
        return _bare(line.actual)
    from passmuster.scoring import written  # late: few runs need it

    return written(line.id, line.actual)


def _bare(value: Any) -> str:
    return one_line(value) if isinstance(value, str) else shown(value)


def _what(violation: Violation) -> list[str]:
    tool = _line("Tool", violation.tool)
    message = _line("Violation", violation.message)
    expected = [*_line("Expected", violation.expected), *_line("Actual", violation.actual)]
    if violation.rule is not None:
        told = violation.expected is not None and violation.actual is not None
        named = violation.tool is None or violation.tool in f"{violation.expected} {violation.actual}"
        pattern = _line("Pattern", violation.pattern)
        return [
            *_line("Rule", violation.rule),
            *_line("Description", violation.description),
            *([] if told else message),
            *expected,
            *([] if told and named else tool),
            *pattern,
            *_argument_line(violation),
        ]
    if violation.pattern is not None:
        policy = f"Policy: Blocklist includes '{one_line(violation.pattern)}'"
        return [*message, *tool, policy, *_argument_line(violation), *expected]
    return [*tool, *_argument_line(violation), *message, *expected]


def _rest(violation: Violation) -> list[str]:
    lines: list[str] = []
    if violation.calls_found is not None:
        # Set apart as a tally of the whole trace, after what was wrong with it.
        lines += ["", f"Calls found: {violation.calls_found}"]
    if violation.constraint is not None and violation.constraint not in violation.message:
        lines += _line("Constraint", violation.constraint)
    return lines


def place_lines(violation: Violation, *, scenario: bool = False) -> list[str]:
    """Where a violation stands in the suite and in the trace; `scenario` names the scenario, too."""
    lines = _line("Policy line", place(violation.policy_file, violation.policy_line) or None)
    if violation.trace_file:
        lines.append(f"Trace line: {trace_place(violation.trace_file, violation.trace_line, violation.trace_id)}")
    else:
        lines += _line("Trace", violation.trace_id)
    if scenario:
        lines += _line("Scenario", violation.scenario)
    return lines if violation.call_index is None else [*lines, f"Call: {_call(violation)}"]


def _where(violation: Violation) -> list[str]:
    lines = place_lines(violation, scenario=True)
    if violation.level != "block":
        lines.append(f"Level: {violation.level}")
    return [*lines, *_line("Waived", violation.waived), *_line("Suggestion", violation.suggestion)]


def _call(violation: Violation) -> str:
    near = violation.neighbours
    if near is None:
        return str(violation.call_index)
    missing = violation.kind == "missing"
    parts = [f"missing at place {violation.call_index}" if missing else f"{violation.call_index} of {near.calls}"]
    if near.before is not None:
        parts.append(f"after {one_line(near.before)}")
    if near.after is not None:
        parts.append(f"before {one_line(near.after)}")
    return ", ".join(parts)


def _tool(violation: Violation) -> str:
    return one_line(violation.tool) if violation.tool is not None else ""


def _argument(violation: Violation) -> str:
    name = one_line(violation.argument) if violation.argument is not None else ""
    if not violation.has_value:
        return name
    return f"{name or 'value'} = {shown(violation.value)}"


def _argument_line(violation: Violation) -> list[str]:
    if violation.argument is not None:
        return [f"Argument: {_argument(violation)}"]
    return [f"Value: {shown(violation.value)}"] if violation.has_value else []


def _line(label: str, text: str | None) -> list[str]:
    return [] if text is None else [f"{label}: {one_line(text)}"]


def _escaped(found: re.Match[str]) -> str:
    char = found[0]
    code = ord(char)
    if char in _SHORT:
        return _SHORT[char]
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


def aligned(rows: Iterable[Sequence[str]], right: Collection[int] = ()) -> list[str]:
    """Rows of cells as lines, each column as wide as its widest cell; a column without any text is left out.

    `right` are the places of columns that stand to the right.
    """
    every = list(rows)
    widths = [max(map(len, column)) for column in zip(*every, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if place in right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            if width
        ).rstrip()
        for row in every
    ]


def near_place(where: str) -> str:
    """A file, perhaps with a line, as it is named from the current folder, where that is shorter."""
    if not os.path.isabs(where):
        return where
    near = os.path.relpath(where)
    return near if len(near) < len(where) else where


def cut_middle(text: str, width: int) -> str:
    """The text without its middle where it is longer: of ids, the end tells more than the middle."""
    return text if len(text) <= width else f"{text[: width // 2 - 1]}…{text[len(text) - (width - width // 2) :]}"


def cut(text: str, width: int) -> str:
    """The text, ended with `…` where it is longer than that."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


def encodable(text: str, stream: TextIO) -> str:
    """The text as the stream can show it; what has no other form becomes an escape."""
    encoding = stream.encoding or "utf-8"
    try:
        "".join(_IN_ASCII).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        for mark, words in _IN_ASCII.items():
            text = text.replace(mark, words)
    try:
        return text.encode(encoding, "backslashreplace").decode(encoding)
    except LookupError:
        return text.encode("ascii", "backslashreplace").decode("ascii")


def rate_and_count(report: Report) -> str | None:
    """How `pass_rate` relates to the number of scenarios that passed; None where it is simply their share."""
    counts, rate = report.scenario_counts, report.metrics.get("pass_rate")
    if counts is None or rate is None or rate.value is None or abs(rate.value - counts.passed / counts.total) < 1e-9:
        return None
    decided = counts.total - counts.skipped - counts.not_run
    left_out = f", without {counts.skipped} skipped" if counts.skipped else ""
    left_out += f", without {counts.not_run} not run" if counts.not_run else ""
    from passmuster.scoring import written  # late: few runs need it

    return (
        f"{counts.passed_every_run} of {plural(counts.total, 'scenario')} passed every run, {counts.passed} by their "
        f"repeat policy; pass_rate {written('pass_rate', rate.value)} is the mean share of runs that passed, over "
        f"{plural(decided, 'scenario')}{left_out} ({counts.runs_passed} of {plural(counts.runs, 'run')})"
    )


def skipped_runs(report: Report) -> str | None:
    """How many runs a live run skipped, why, and what that saved; None where all took place."""
    stop = report.early_stop
    if stop is None or not stop.skipped:
        return None
    usd, seconds = stop.saved_usd or 0.0, (stop.saved_ms or 0.0) / 1000
    saved = [f"about {usd:.2f} USD"] if usd >= 0.005 else []
    saved += [f"about {seconds:.0f} s of the agent's time"] if seconds >= 1 else []
    estimate = f"; that saved {' and '.join(saved)}" if saved else ""
    share = f"{stop.not_run} of {plural(stop.planned, 'run')} ({stop.not_run / stop.planned:.0%})"
    return f"{share}, because {one_line(stop.reason or 'they were not needed')}{estimate}"
