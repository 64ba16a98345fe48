"""`sequence_valid`: the calls come in the right order and number.

All rules are evaluated and have to hold; each reports whether it was exercised.
"""

from typing import Annotated

from passmuster.checks.kinds import Check, CheckSpec, Outcome, ToolIndex, View, Violation
from passmuster.checks.rules import RULE, Rule
from passmuster.suite import Key, ListOf

_REMEMBERED = 1_000


class SequenceValid(CheckSpec, frozen=True, kw_only=True):
    """The calls come in the right order and number."""

    rules: Annotated[
        tuple[Rule, ...],
        ListOf(RULE, least=1),
        Key("Rules that all have to hold.", example=[{"type": "require", "tool": "get_order"}]),
    ]

    def compile(self, tools: ToolIndex) -> Check:
        decisions = [(1 << place, rule.compile(tools)) for place, rule in enumerate(self.rules)]
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
