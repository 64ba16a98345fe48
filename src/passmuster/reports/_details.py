"""What to look at: violations and failed scenarios in full, as many as there is room for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from passmuster._problems import plural
from passmuster.reports._cases import Case, Ending
from passmuster.reports._screen import Line, Screen, wrapped
from passmuster.reports._text import cut, one_line, place, scenario_lines, test_name, trace_place, violation_lines
from passmuster.reports._violation_groups import ViolationGroup, group_line, grouped, times_line
from passmuster.scoring import ScenarioReport, TestReport

_INDENT = "   "
_KINDS = 10
"""Different violations of a test that more detail shows."""
_CASES = 50
"""Tests and scenarios, unless all are shown."""
_MARKS: dict[Ending, tuple[str, str]] = {
    "fail": ("❌ FAIL", "bold red"),
    "error": ("❌ ERROR", "bold red"),
}
_WARNING = ("⚠ WARN", "yellow")
_MESSAGE = 160
_BRIEF_LINES = 10
"""Lines that are set aside for what does not fit in full."""


class Part(Struct, frozen=True):
    """One kind of violation, or one scenario: in full, and in a line."""

    full: list[Line]
    brief: list[Line]


def detail_lines(cases: list[Case], screen: Screen, room: int) -> list[Line]:
    """A block for each case; where there is little room, a line for what does not fit in full."""
    beyond = 0 if screen.detail > 1 else max(0, len(cases) - _CASES)
    cases = cases[: len(cases) - beyond]
    blocks = [_parts(case, screen) for case in cases]
    counts = _limited(blocks, screen.detail) if screen.detail else _fitting(blocks, room)
    lines: list[Line] = []
    for case, parts, count in zip(cases, blocks, counts, strict=True):
        if count:
            lines += [_head(case), ("", "")]
            for part in parts[:count]:
                lines += [*part.full, ("", "")]
    left = sum(map(len, blocks)) - sum(counts) + beyond
    room -= len(lines) + 2
    # The first kind of violation of each test is among the reasons.
    brief = [part.brief for parts, count in zip(blocks, counts, strict=True) for part in parts[max(count, 1) :]]
    if brief and not screen.detail and len(brief[0]) <= room:
        lines.append(("Also found", "bold red"))
        for told in brief:
            room -= len(told)
            if room < 0:
                break
            lines += told
            left -= 1
    if left:
        lines.append((f"… and {plural(left, 'more block')} like these (-v shows more, -vv all)", "dim"))
    return lines


def reason_line(case: Case, most: int = _MESSAGE) -> str:
    """What blocks, in a line: for a test its largest kind of violation, for a scenario its worst run."""
    mark = _MARKS.get(case.ending, _WARNING)[0]
    kind = "test" if case.test else case.line.kind if case.line else "scenario"
    if case.test and case.test.violations:
        test, groups = case.test, grouped(case.test.violations)
        more = f"; and {plural(len(groups) - 1, 'more kind')} of violation" if len(groups) > 1 else ""
        on = f" on {test.failed_traces} of {plural(test.traces, 'trace')}" if test.failed_traces else ""
        return f"{mark}: test {one_line(case.id)}{on}: {group_line(groups[0])}{more}"
    if case.scenario:
        required = "required " if kind == "required" else ""
        return f"{mark}: {required}{scenario_line(case, case.scenario, most)}"
    where = f" ({place(case.line.file, case.line.line)})" if case.line and case.line.file else ""
    return f"{mark}: {kind} {one_line(case.id)}{f': {one_line(case.message)}' if case.message else ''}{where}"


def case_title(case: Case) -> str:
    """A test or scenario as a heading."""
    return _head(case)[0]


def full_texts(case: Case, detail: int = 0) -> list[list[str]]:
    """Each kind of violation of a test in full, or a scenario; with detail 2, each violation."""
    return [lines for lines, _ in _told(case, detail)]


def _fitting(blocks: list[list[Part]], room: int) -> list[int]:
    """How many parts of each block fit in full, the first of each before the second of any; one always does."""
    counts = [0] * len(blocks)
    room -= min(_BRIEF_LINES, room // 3, sum(len(part.brief) for parts in blocks for part in parts[1:]))
    for level in range(max(map(len, blocks), default=0)):
        for number, parts in enumerate(blocks):
            if level >= len(parts) or counts[number] < level:
                continue
            needed = len(parts[level].full) + (1 if level else 3)
            if needed > room and any(counts):
                return counts
            counts[number] += 1
            room -= needed
    return counts


def _limited(blocks: list[list[Part]], detail: int) -> list[int]:
    if detail > 1:
        return [len(parts) for parts in blocks]
    return [min(len(parts), _KINDS) for parts in blocks]


def _parts(case: Case, screen: Screen) -> list[Part]:
    def fitted(lines: Iterable[str], brief: str) -> Part:
        full = [(f"{_INDENT}{line}" if line else "", "") for line in lines]
        if not (case.test and case.test.error):  # the lines of a traceback stay whole
            full = list(wrapped(full, screen.width))
        return Part(full, list(wrapped([(f"{_INDENT}{brief}", "")], screen.width)))

    return [fitted(lines, brief) for lines, brief in _told(case, screen.detail)]


def _told(case: Case, detail: int) -> list[tuple[list[str], str]]:
    """What to tell of a case: each part in full, and in a line."""
    if case.test:
        return [(lines, f"{one_line(case.id)}: {brief}") for lines, brief in _of_test(case, case.test, detail)]
    if case.scenario:
        return [(_of_scenario(case, case.scenario), scenario_line(case, case.scenario))]
    return []


def scenario_line(case: Case, scenario: ScenarioReport, most: int = _MESSAGE) -> str:
    """A scenario in a line: what is wrong, and its worst run."""
    run = scenario.worst_run
    where = f"; {trace_place(run.file, run.line, run.trace_id)}" if run else ""
    return f"scenario {one_line(case.id)}: {cut(one_line(case.message), most)}{where}"


def _of_test(case: Case, test: TestReport, detail: int) -> Iterator[tuple[list[str], str]]:
    if test.error is not None:
        yield [f"| {one_line(line)}" for line in test.error.splitlines()], one_line(case.message)
    elif not test.violations:
        where = place(test.file, test.line)
        reason = one_line(case.message)
        yield [f"Reason: {reason}", *([f"Suite line: {where}"] if where else [])], reason
    every = [ViolationGroup(one, 1, 1, (), more_values=False) for one in test.violations] if detail > 1 else None
    for group in every if every is not None else grouped(test.violations):
        times = times_line(group)
        yield [*violation_lines(group.first), *([times] if times else [])], group_line(group)
    if detail > 1 and test.violation_count > len(test.violations):
        told = f"… and {plural(test.violation_count - len(test.violations), 'more violation')}, only counted"
        yield [told], told


def _of_scenario(case: Case, scenario: ScenarioReport) -> list[str]:
    """The checks that did not hold tell why; where there are none, the gate line does."""
    behaviors = scenario.behaviors
    broken = [check for layer in scenario.layers.values() for check in layer.checks if check.status != "pass"]
    explained = broken or behaviors.missing or behaviors.violated or behaviors.undecided
    reason = [f"Reason: {one_line(case.message)}"] if case.message and not explained else []
    return [*reason, *scenario_lines(scenario)]


def _head(case: Case) -> Line:
    mark, style = _MARKS.get(case.ending, _WARNING)
    if case.test:
        return f"{mark}: {test_name(case.test)}", style
    scenario = case.scenario
    category = f" ({one_line(scenario.category)})" if scenario and scenario.category else ""
    if scenario is not None and scenario.status == "missing" and case.ending == "fail":
        mark = "❌ MISSING"
    required = "required " if case.line and case.line.kind == "required" else ""
    return f"{mark}: {required}scenario {one_line(case.id)}{category}", style
