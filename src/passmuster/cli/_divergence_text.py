"""Where runs diverge, for a person: a line per call, with equal ones folded."""

from __future__ import annotations

from collections.abc import Iterator

from passmuster._problems import plural
from passmuster.api import CallStep, RunDivergence, TraceComparison
from passmuster.reports import near_place

_SIGNS = {"same": " ", "changed": "~", "gone": "-", "new": "+"}
_LISTED = 20
_CONTEXT = 1


def divergence_lines(found: TraceComparison, before: str, after: str) -> Iterator[str]:
    """The runs that diverge, then those without a counterpart."""
    diverging = [pair for pair in found.pairs if pair.diverges]
    yield f"{before} → {after}: {len(diverging)} of {plural(len(found.pairs), 'run')} diverge"
    for pair in diverging[:_LISTED]:
        yield ""
        yield from _pair(pair)
    if len(diverging) > _LISTED:
        yield ""
        yield f"{plural(len(diverging) - _LISTED, 'more run')} diverge; --json has all."
    if found.left_out:
        yield f"Not compared: {plural(found.left_out, 'trace')} beyond the first 20,000 of each side."
    for words, names in (("Only in A", found.gone), ("Only in B", found.new)):
        if names:
            yield ""
            yield f"{words}: {', '.join(names[:_LISTED])}" + (" and more" if len(names) > _LISTED else "")


def _pair(pair: RunDivergence) -> Iterator[str]:
    first = pair.first
    at = "its answer" if first is None else f"call {first.after or first.before}"
    yield f"{pair.name} ({near_place(pair.before)} → {near_place(pair.after)}): diverges at {at}"
    folded = 0
    for place, step in enumerate(pair.steps):
        near = pair.steps[max(0, place - _CONTEXT) : place + _CONTEXT + 1]
        if all(one.turn == "same" for one in near):
            folded += 1
            continue
        if folded:
            yield f"      … {plural(folded, 'equal call')}"
            folded = 0
        yield _step(step)
    if folded and first is not None:
        yield f"      … {plural(folded, 'equal call')}"
    for other in pair.others:
        yield f"      {other}"


def _step(step: CallStep) -> str:
    told = f"   {'; '.join(step.differences)}" if step.differences else ""
    return f"   {_SIGNS[step.turn]} {step.after or step.before}  {step.tool}{told}"
