"""`expected_handoff`: the task was handed over to this agent; of a list, in this order."""

from __future__ import annotations

from passmuster.checks._outcome import Outcome
from passmuster.checks._view import View
from passmuster.checks.layers._layer import Context, LayerCheck, decided
from passmuster.checks.layers.path._tools import listed
from passmuster.suite import HandoffStep
from passmuster.traces import Handoff

__all__ = ["ORDER", "compile"]

ORDER = 10


def compile(expected: tuple[HandoffStep, ...], context: Context) -> LayerCheck:
    """The check for these handoffs."""
    wanted = " → ".join(f"{one.from_ + ' to ' if one.from_ else ''}{one.to}" for one in expected)

    def decide(view: View) -> Outcome:
        steps = iter(_handoffs(view))
        return decided(all(any(_fits(one, step) for step in steps) for one in expected))

    def message(view: View) -> str:
        found = listed([f"{step.from_ or '?'} to {step.to}" for step in _handoffs(view)])
        return f"expected a handoff to {wanted}, found {found}"

    return LayerCheck(decide, message)


def _handoffs(view: View) -> list[Handoff]:
    return [step for step in view.trace.steps if type(step) is Handoff]


def _fits(expected: HandoffStep, step: Handoff) -> bool:
    return step.to == expected.to and (expected.from_ is None or step.from_ == expected.from_)
