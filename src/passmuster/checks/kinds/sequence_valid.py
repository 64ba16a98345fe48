"""`sequence_valid`: the order and number of calls.

Calls have positions; calls made in parallel share one. *Earlier* is a smaller position, *directly before* the
previous one, *within N* counts positions: parallel is not before. A failed call is an attempt: it can break a
rule, but it satisfies none. Rules are all evaluated, and each tells whether it was exercised at all.
"""

from __future__ import annotations

from passmuster.checks._outcome import Outcome, Violation
from passmuster.checks._spec import Check, CheckSpec
from passmuster.checks._view import ToolIndex, View
from passmuster.checks.rules import compile_rule
from passmuster.suite import CheckContext, Mapping
from passmuster.suite import rules as r

__all__ = ["SequenceValid", "keys", "name", "read"]

name = "sequence_valid"
keys = ("rules",)

_REMEMBERED = 1_000


class SequenceValid(CheckSpec, frozen=True):
    """The rules of one test."""

    rules: list[r.Rule]

    def compile(self, tools: ToolIndex) -> Check:
        """The check that these rules make together."""
        decisions = [(1 << place, compile_rule(rule, tools)) for place, rule in enumerate(self.rules)]
        remembered: dict[int, Outcome] = {}

        def check(view: View) -> Outcome:
            exercised = violated = 0
            broken: list[Violation] = []
            for bit, decide in decisions:
                in_play, violations = decide(view)
                if in_play:
                    exercised |= bit
                if violations:
                    violated |= bit
                    broken += violations
            if broken:
                return Outcome("fail", exercised > 0, tuple(broken), exercised, violated)
            if exercised not in remembered and len(remembered) < _REMEMBERED:
                remembered[exercised] = Outcome("pass", exercised > 0, rules_exercised=exercised)
            return remembered.get(exercised) or Outcome("pass", exercised > 0, rules_exercised=exercised)

        return check

    def rule_lines(self) -> list[tuple[str, int]]:
        """The type and line of each rule, for the report."""
        return [(rule.type, rule.line) for rule in self.rules]


def read(context: CheckContext, node: Mapping, at: str) -> SequenceValid:
    """The rules that a test lists."""
    listed = context.reader.required(node, "rules", at)
    if listed is None:
        return SequenceValid([])
    found = context.reader.each(listed, f"{at}.rules", lambda item, place: r.read_rule(context.reader, item, place))
    if not found:
        context.reader.problem(listed, f"{at}.rules: the list is empty, so nothing would be checked")
    return SequenceValid([rule for rule in found if rule is not None])
