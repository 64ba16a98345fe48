"""Path: which tools the agent used, and in what order. A failure warns; a forbidden tool fails.

Any attempt counts as a use, a failed one too. Names compare as written; `forbidden_tools` are patterns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from passmuster import metrics
from passmuster.checks._golden import Golden
from passmuster.checks._layer import LayerCheck
from passmuster.checks._outcome import Status
from passmuster.checks._view import ToolIndex, View
from passmuster.suite import HandoffStep, Path
from passmuster.traces import Handoff

__all__ = ["path_checks", "path_measures"]

Check = LayerCheck[View]
Names = Sequence[str]


def path_checks(asked: Path, golden: Golden | None, tools: ToolIndex) -> list[Check]:
    """The checks of a path in the order they are reported."""
    checks: list[Check] = []
    expected = asked.expected_tools
    if expected is not None:
        checks.append(_expected_tools(expected, 1.0 if asked.min_tool_recall is None else asked.min_tool_recall))
        for key, least, measure in (
            ("min_tool_recall", asked.min_tool_recall, metrics.tool_recall),
            ("min_tool_precision", asked.min_tool_precision, metrics.tool_precision),
            ("min_tool_f1", asked.min_tool_f1, metrics.tool_f1),
        ):
            if least is not None:
                checks.append(_at_least(key, least, expected, measure))
    if asked.match_mode is not None or asked.expected_tool_sequence is not None:
        checks.append(_match(asked, golden))
    if asked.min_sequence_similarity is not None:
        checks.append(_similarity(asked, asked.min_sequence_similarity, golden))
    if asked.max_tool_calls is not None:
        checks.append(_at_most("max_tool_calls", "calls", asked.max_tool_calls, lambda view: len(view.names)))
    if asked.max_loops is not None:
        checks.append(_at_most("max_loops", "loops", asked.max_loops, loops))
    if asked.expected_handoff is not None:
        checks.append(_handoff(asked.expected_handoff))
    if asked.forbidden_tools is not None:
        checks.append(_forbidden(asked.forbidden_tools, tools))
    return checks


def path_measures(asked: Path, golden: Golden | None) -> Callable[[View], dict[str, float]]:
    """The figures of a path by the names of their formulas."""
    references = _references(asked, golden)

    def measure(view: View) -> dict[str, float]:
        figures: dict[str, float] = {}
        if asked.expected_tools is not None:
            figures["tool_recall"] = metrics.tool_recall(asked.expected_tools, view.names)
            figures["tool_precision"] = metrics.tool_precision(asked.expected_tools, view.names)
            figures["tool_f1"] = metrics.tool_f1(asked.expected_tools, view.names)
        if references:
            figures["sequence_lcs"] = max(metrics.sequence_lcs(view.names, one) for one in references)
            figures["sequence_edit"] = max(metrics.sequence_edit(view.names, one) for one in references)
        figures["loop_count"] = loops(view)
        figures["tool_calls"] = len(view.names)
        return figures

    return measure


def loops(view: View) -> int:
    """Adjacent calls of the same tool; equal names made in parallel are no loop."""
    if view.plain:
        return metrics.loop_count(view.names)
    names, positions = view.names, view.positions
    return sum(
        1 for call in range(1, len(names)) if names[call] == names[call - 1] and positions[call] != positions[call - 1]
    )


def _reaches(value: float, least: float) -> bool:
    return value >= least - 1e-9


def _figure(value: float) -> str:
    """`0.667`, `1.0`."""
    return str(round(float(value), 3))


def _status(holds: bool) -> Status:
    return "pass" if holds else "fail"


def _listed(names: Names) -> str:
    return ", ".join(names) if names else "nothing"


def _expected_tools(expected: tuple[str, ...], least: float) -> Check:
    wanted = set(expected)

    def decide(view: View) -> Status:
        if not wanted:
            return _status(not view.names)
        return _status(wanted.issubset(view.names) or _reaches(metrics.tool_recall(expected, view.names), least))

    def explain(view: View) -> str:
        if not wanted:
            return f"no tool is expected, used: {_listed(view.names)}"
        recall = metrics.tool_recall(expected, view.names)
        missing = [tool for tool in dict.fromkeys(expected) if tool not in view.names]
        text = f"tool_recall {_figure(recall)} {'≥' if _reaches(recall, least) else '<'} {_figure(least)}"
        return f"{text}: missing {_listed(missing)}" if missing else text

    return LayerCheck("expected_tools", decide, explain)


def _at_least(key: str, least: float, expected: tuple[str, ...], measure: Callable[[Names, Names], float]) -> Check:
    name = key.removeprefix("min_")

    def explain(view: View) -> str:
        value = measure(expected, view.names)
        missing = [tool for tool in dict.fromkeys(expected) if tool not in view.names]
        extra = [tool for tool in dict.fromkeys(view.names) if tool not in expected]
        text = f"{name} {_figure(value)} {'≥' if _reaches(value, least) else '<'} {_figure(least)}"
        if missing and key != "min_tool_precision":
            text += f": missing {_listed(missing)}"
        if extra and key != "min_tool_recall":
            text += f"{';' if ':' in text else ':'} not expected {_listed(extra)}"
        return text

    return LayerCheck(key, lambda view: _status(_reaches(measure(expected, view.names), least)), explain)


def _references(asked: Path, golden: Golden | None) -> tuple[tuple[str, ...], ...]:
    """What a sequence is compared with: the suite's own, else any that the baseline recorded."""
    if asked.expected_tool_sequence is not None:
        return (asked.expected_tool_sequence,)
    return golden.sequences if golden else ()


def _match(asked: Path, golden: Golden | None) -> Check:
    mode = asked.match_mode or "subset"
    key = "match_mode" if asked.match_mode is not None else "expected_tool_sequence"
    references = _references(asked, golden)
    if asked.expected_tool_sequence is None and asked.expected_tools is not None and mode != "strict":
        references = (asked.expected_tools,)

    def decide(view: View) -> Status:
        if not references:
            return "skip"
        return _status(any(metrics.match(view.names, one, mode) for one in references))

    def explain(view: View) -> str:
        if not references:
            return f"{mode}: no reference, neither in the suite nor in a baseline"
        sign = "fits" if decide(view) == "pass" else "does not fit"
        return f"{mode}: {_listed(view.names)} {sign} {' / '.join(_listed(one) for one in references[:3])}"

    return LayerCheck(key, decide, explain)


def _similarity(asked: Path, least: float, golden: Golden | None) -> Check:
    references = _references(asked, golden)
    measure = metrics.sequence_lcs if asked.similarity == "lcs" else metrics.sequence_edit

    def decide(view: View) -> Status:
        if not references:
            return "skip"
        return _status(any(_reaches(measure(view.names, one), least) for one in references))

    def explain(view: View) -> str:
        if not references:
            return "no reference sequence, neither in the suite nor in a baseline"
        best = max(references, key=lambda one: measure(view.names, one))
        value = measure(view.names, best)
        sign = "≥" if _reaches(value, least) else "<"
        figures = f"sequence_{asked.similarity} {_figure(value)} {sign} {_figure(least)}"
        return f"{figures}: {_listed(view.names)} next to {_listed(best)}"

    return LayerCheck("min_sequence_similarity", decide, explain)


def _at_most(key: str, unit: str, most: int, measure: Callable[[View], int]) -> Check:
    def explain(view: View) -> str:
        value = measure(view)
        return f"{value} {unit} {'≤' if value <= most else '>'} {most}"

    return LayerCheck(key, lambda view: _status(measure(view) <= most), explain)


def _handoff(expected: tuple[HandoffStep, ...]) -> Check:
    def decide(view: View) -> Status:
        steps = iter(_handoffs(view))
        return _status(all(any(_fits(one, step) for step in steps) for one in expected))

    def explain(view: View) -> str:
        wanted = " → ".join(f"{one.from_ + ' to ' if one.from_ else ''}{one.to}" for one in expected)
        found = _listed([f"{step.from_ or '?'} to {step.to}" for step in _handoffs(view)])
        return f"expected a handoff to {wanted}, found {found}"

    return LayerCheck("expected_handoff", decide, explain)


def _handoffs(view: View) -> list[Handoff]:
    return [step for step in view.trace.steps if type(step) is Handoff]


def _fits(expected: HandoffStep, step: Handoff) -> bool:
    return step.to == expected.to and (expected.from_ is None or step.from_ == expected.from_)


def _forbidden(patterns: tuple[str, ...], tools: ToolIndex) -> Check:
    bits = tools.bits(patterns)

    def explain(view: View) -> str:
        used = dict.fromkeys(name for name, one in zip(view.names, view.bits, strict=True) if one & bits)
        return f"forbidden and called: {_listed(list(used))}" if used else f"not called: {_listed(patterns)}"

    return LayerCheck("forbidden_tools", lambda view: _status(not view.any_bits & bits), explain, always_fails=True)
