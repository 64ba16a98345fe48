"""The check `expected_handoff`."""

from typing import Annotated

from passmuster.checks._outcome import Outcome
from passmuster.checks._view import View
from passmuster.checks.layers._layer import Context, LayerCheck, LayerKey, decided
from passmuster.checks.layers.path._tools import listed
from passmuster.suite import TEXT, Key, OneOrMore, Record, RecordOf
from passmuster.traces import Handoff


class HandoffStep(Record, frozen=True, kw_only=True):
    """A handoff that should happen."""

    to: Annotated[str, TEXT, Key("The agent that the task is handed to.", example="billing")]
    from_: Annotated[str | None, TEXT, Key("The agent that hands it over.", name="from", example="triage")] = None


def _compile(expected: tuple[HandoffStep, ...], context: Context) -> LayerCheck:
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


KEY = LayerKey(
    OneOrMore(RecordOf(HandoffStep, "an agent, or a map of `from` and `to`", short="to")),
    "The task was handed over to this agent; of a list, in this order.",
    _compile,
    order=10,
    example="billing",
)
