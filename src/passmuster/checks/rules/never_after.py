"""`never_after`: nothing `forbidden` after the first `trigger`."""

from collections.abc import Iterable
from typing import Annotated

from passmuster.checks._demands import Demand, tools_of
from passmuster.checks.rules import HELD, IDLE, Calls, Decide, Decision, Rule, Selection, ToolIndex, View
from passmuster.suite import Key


class NeverAfter(Rule, frozen=True, kw_only=True):
    """Nothing `forbidden` after the first `trigger`."""

    trigger: Annotated[
        Calls,
        Key("The call after which it is forbidden. A list: the first of any of them.", example="close_ticket"),
    ]
    forbidden: Annotated[Calls, Key("The calls that may not come later.", example="issue_refund")]

    def demands(self) -> Iterable[Demand]:
        """The calls that end something, and those that they forbid."""
        return (Demand("about", tools_of(self.trigger)), Demand("about", tools_of(self.forbidden)))

    def compile(self, tools: ToolIndex) -> Decide:
        """Nothing `forbidden` at a later position than the first `trigger`; attempts count on both sides."""
        triggers, forbidden = Selection(self.trigger, tools), Selection(self.forbidden, tools)
        trigger_bits, forbidden_bits = triggers.bits, forbidden.bits
        plain = triggers.plain

        def decide(view: View) -> Decision:
            if not view.any_bits & trigger_bits:
                return IDLE
            if plain and view.plain and view.last(forbidden_bits) <= view.first(trigger_bits):
                return HELD
            fired = triggers.attempts(view)
            if not fired:
                return IDLE
            first = fired[0]
            since = view.positions[first]
            trigger = triggers.called(view, first)
            return True, [
                self.broken(
                    view,
                    call,
                    tool=view.names[call],
                    expected=f"no {(named := forbidden.called(view, call))} after {trigger}",
                    actual=f"{named} was called after {trigger} (call {first + 1})",
                    suggestion=f"End the task at {view.names[first]}, or call {view.names[call]} before it.",
                )
                for call in forbidden.attempts(view)
                if view.positions[call] > since
            ]

        return decide
