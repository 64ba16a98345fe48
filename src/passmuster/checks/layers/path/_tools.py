"""What the checks of a path share. Any attempt counts as a use, a failed one too; names compare as written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from passmuster import metrics
from passmuster.checks._view import View
from passmuster.checks.layers._layer import Context, LayerCheck, LayerKey, decided
from passmuster.suite import FRACTION

Names = Sequence[str]


def reaches(value: float, least: float) -> bool:
    """Whether a value is at least this, but for the error of its arithmetic."""
    return value >= least - 1e-9


def figure(value: float) -> str:
    """`0.667`, `1.0`."""
    return str(round(float(value), 3))


def listed(names: Names) -> str:
    """`a, b`, or `nothing`."""
    return ", ".join(names) if names else "nothing"


def loops(view: View) -> list[int]:
    """The calls of the tool just called; equal names made in parallel are no loop."""
    names, positions = view.names, view.positions
    return [
        call
        for call in range(1, len(names))
        if names[call] == names[call - 1] and positions[call] != positions[call - 1]
    ]


def in_order(view: View, reference: Names) -> bool:
    """Whether the calls of a reference were made in its order, others between them; parallel calls fit in any order."""
    if view.plain:
        return metrics.match(view.names, reference, "in_order")
    done = 0
    for _, group in groupby(zip(view.positions, view.names, strict=True), lambda call: call[0]):
        left = [name for _, name in group]
        # To take as much of the reference as possible is never wrong: what is left of it can only be shorter.
        while done < len(reference) and reference[done] in left:
            left.remove(reference[done])
            done += 1
    return done == len(reference)


def references(context: Context) -> tuple[tuple[str, ...], ...]:
    """The sequences that calls are compared with: the suite's own, else any that the baseline recorded."""
    own = context.stated.get("expected_tool_sequence")
    if own is not None:
        return (own,)
    return context.golden.sequences if context.golden else ()


def least_key(name: str, description: str, measure: Callable[[Names, Names], float], *, order: int) -> LayerKey:
    """A key that asks for at least so much of a measure of expected and used tools."""
    return LayerKey(
        FRACTION,
        description,
        lambda least, context: _at_least(name, least, context, measure),
        order=order,
        example=0.8,
        needs="expected_tools",
    )


def _at_least(key: str, least: float, context: Context, measure: Callable[[Names, Names], float]) -> LayerCheck:
    expected: tuple[str, ...] = context.stated["expected_tools"]
    name = key.removeprefix("min_")

    def message(view: View) -> str:
        value = measure(expected, view.names)
        missing = [tool for tool in dict.fromkeys(expected) if tool not in view.names]
        extra = [tool for tool in dict.fromkeys(view.names) if tool not in expected]
        text = f"{name} {figure(value)} {'≥' if reaches(value, least) else '<'} {figure(least)}"
        if missing and key != "min_tool_precision":
            text += f": missing {listed(missing)}"
        if extra and key != "min_tool_recall":
            text += f"{';' if ':' in text else ':'} not expected {listed(extra)}"
        return text

    return LayerCheck(lambda view: decided(reaches(measure(expected, view.names), least)), message)


def measures(context: Context, view: View) -> dict[str, int | float]:
    """The figures of a path by the names of their formulas."""
    found: dict[str, int | float] = {}
    expected, compared = context.stated.get("expected_tools"), references(context)
    if expected is not None:
        found["tool_recall"] = metrics.tool_recall(expected, view.names)
        found["tool_precision"] = metrics.tool_precision(expected, view.names)
        found["tool_f1"] = metrics.tool_f1(expected, view.names)
    if compared:
        found["sequence_lcs"] = max(metrics.sequence_lcs(view.names, one) for one in compared)
        found["sequence_edit"] = max(metrics.sequence_edit(view.names, one) for one in compared)
    found["loop_count"] = len(loops(view))
    found["tool_calls"] = len(view.names)
    return found
