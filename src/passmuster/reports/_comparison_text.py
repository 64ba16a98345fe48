"""What changed between two runs, for a person."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from passmuster._problems import plural
from passmuster.reports._text import aligned, one_line
from passmuster.scoring import (
    CaseChange,
    Comparison,
    CountChange,
    Figure,
    GateChange,
    MetricChange,
    Side,
    ViolationChange,
    between,
    change,
    written,
)

_LISTED = 20
_MARKS = {"newly failing": "❌ ", "fixed": "✓ "}
_SIGNS = {"new": "+", "fixed": "−", "gone": "×"}
_ENDS = {"new": "new", "fixed": "fixed", "gone": "gone with their test"}


def comparison_lines(comparison: Comparison, before: str, after: str) -> list[str]:
    """The comparison as lines of text; `before` and `after` are what the two are called."""
    lines = [f"{one_line(before)} → {one_line(after)}: {_named(comparison.after)}"]
    lines += [f"Note: {note}" for note in _notes(comparison)]
    if not comparison.changed:
        return [*lines, "", "Nothing changed."]
    lines += ["", _verdict(comparison.before, comparison.after)]
    for heading, section in _sections(comparison):
        if section:
            lines += ["", heading, *(f"   {line}" for line in section)]
    return lines


def _named(side: Side) -> str:
    name = one_line(side.suite or "a suite without a name")
    return f"{name} ({one_line(side.suite_file)})" if side.suite_file else name


def _notes(comparison: Comparison) -> Iterator[str]:
    before, after = comparison.before, comparison.after
    if not comparison.same_suite:
        yield f"these are two different suites; the first is {_named(before)}"
    elif before.suite_sha256 != after.suite_sha256:
        yield "the suite file was changed in between"
    if before.version != after.version:
        yield f"written by passmuster {_version(before)} and {_version(after)}"
    for side, word in ((before, "first"), (after, "second")):
        if side.partial:
            yield f"the {word} is a partial run"
        if side.skipped_runs:
            yield f"the {word} skipped {plural(side.skipped_runs, 'run')}, because the verdict was known without them"
    for test in comparison.unlisted:
        counts = f"{test.before} → {plural(test.after, 'violation')}"
        yield f"{one_line(test.test)}: {counts}; {test.before_listed} and {test.after_listed} are listed and compared"


def _version(side: Side) -> str:
    return one_line(side.version or "(unknown)")


def _verdict(before: Side, after: Side) -> str:
    was, now = (one_line(side.verdict or "unknown") for side in (before, after))
    codes = [side.exit_code if side.exit_code is not None else "unknown" for side in (before, after)]
    if (was, codes[0]) == (now, codes[1]):
        return f"Verdict: {now}, as before (exit code {codes[1]})"
    return f"Verdict: {was} → {now} (exit code {codes[0]} → {codes[1]})"


def _sections(comparison: Comparison) -> Iterator[tuple[str, list[str]]]:
    gate, violations = comparison.gate, comparison.violations
    turned = [_turn(line) for line in gate]
    yield _counted("Gate", turned, ("newly failing", "newly warning", "fixed")), _capped(map(_line, gate))
    yield "Metrics", aligned([_metric(metric) for metric in comparison.metrics if metric.changed])
    yield "Tests", _capped(aligned([_case(case) for case in comparison.tests]))
    yield "Scenarios", _capped(aligned([_case(case) for case in comparison.scenarios]))
    ends = [_ENDS[each.turn] for each in violations for _ in range(abs(each.after - each.before))]
    yield _counted("Violations", ends, ("new", "fixed", "gone with their test")), _capped(map(_violation, violations))
    yield "Tool calls", _capped(aligned([_count(tool) for tool in comparison.tools]))
    yield "Traces", aligned([_count(count) for count in comparison.traces])


def _counted(heading: str, found: list[str], words: tuple[str, ...]) -> str:
    """`Gate: 2 newly failing, 1 fixed`, without what there is none of."""
    counts = [f"{found.count(word)} {word}" for word in words if word in found]
    return f"{heading}: {', '.join(counts)}" if counts else heading


def _turn(line: GateChange) -> str:
    if line.turn == "failing":
        return "newly warning" if line.after in ("warning", "tolerated") else "newly failing"
    return line.turn


def _line(line: GateChange) -> str:
    message = f"  {one_line(line.message)}" if line.message else ""
    turned = {
        "failing": line.after,
        "fixed": "fixed",
        "changed": f"{line.before} → {line.after}",
        "gone": f"{line.before}, and no longer checked",
    }[line.turn]
    return (
        f"{_MARKS.get(_turn(line), '⚠ ')}{one_line(line.kind)} {one_line(line.id)}: {one_line(turned or '')}{message}"
    )


def _metric(metric: MetricChange) -> list[str]:
    name, before, after = metric.name, metric.before, metric.after
    intervals = [between(name, figure.ci95) if figure else "" for figure in (before, after)]
    ends = f"95%: {intervals[0] or 'none'} → {intervals[1] or 'none'}" if any(intervals) else ""
    changed = ""
    if before and after and before.value is not None and after.value is not None:
        changed = change(name, before.value, after.value)
    return [one_line(name), f"{_figure(name, before)} → {_figure(name, after)}", changed, ends]


def _figure(name: str, figure: Figure | None) -> str:
    if figure is None:
        return "not there"
    return "–" if figure.value is None else written(name, figure.value)


def _case(case: CaseChange) -> list[str]:
    name = one_line(case.id)
    scores = ""
    if case.score_before != case.score_after and (case.before is not None and case.after is not None):
        scores = f"score {_score(case.score_before)} → {_score(case.score_after)}"
    if case.before is None:
        return [name, f"new, {one_line(case.after or 'unknown')}", scores]
    if case.after is None:
        return [name, f"gone, was {one_line(case.before)}", scores]
    changed = case.before != case.after
    return [name, f"{one_line(case.before)} → {one_line(case.after)}" if changed else one_line(case.after), scores]


def _score(score: float | None) -> str:
    return "–" if score is None else f"{score:.4g}"


def _violation(violation: ViolationChange) -> str:
    asked = violation.constraint or violation.pattern
    subject = ", ".join(one_line(part) for part in (violation.rule, violation.tool, violation.argument, asked) if part)
    told = subject or one_line(violation.message)
    if violation.rule and violation.message:
        told = f"{told}: {one_line(violation.message)}"
    place = violation.scenario or violation.trace_id
    where = f" ({one_line(place)})" if place else ""
    number = abs(violation.after - violation.before)
    times = f", {number} times" if number > 1 else ""
    return f"{_SIGNS[violation.turn]} {one_line(violation.test)}: {told}{where}{times}"


def _count(count: CountChange) -> list[str]:
    difference = count.after - count.before
    return [
        one_line(count.name),
        f"{count.before} → {count.after}",
        f"{'+' if difference > 0 else '−'}{abs(difference)}",
    ]


def _capped(lines: Iterable[str]) -> list[str]:
    every = list(lines)
    hidden = len(every) - _LISTED
    return every if hidden <= 1 else [*every[:_LISTED], f"… and {hidden} more (--json has them all)"]
