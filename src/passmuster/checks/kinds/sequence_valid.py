"""`sequence_valid`: the calls come in the right order and number.

All rules are evaluated and have to hold; each reports whether it was exercised.
"""

from collections.abc import Iterator
from typing import Annotated

from msgspec.structs import replace

from passmuster.checks._outcome import Level
from passmuster.checks._reasoning import Ending, Reasoning, Reasons, told_calls
from passmuster.checks.kinds import Check, CheckSpec, Outcome, StatedRule, ToolIndex, View, Violation
from passmuster.checks.rules import HELD, IDLE, RULE, Rule, Selection, selectors_in, unclear_calls
from passmuster.suite import Key, ListOf

_REMEMBERED = 1_000
_UNCLEAR = "a call that a rule may mean does not record its arguments"


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
        unclear = [(1 << place, one) for place, rule in enumerate(self.rules) if (one := unclear_calls(rule, tools))]

        def check(view: View) -> Outcome:
            exercised = violated = 0
            broken: list[Violation] = []
            for bit, decide in decisions:
                decision = decide(view)
                if decision is HELD:
                    exercised |= bit
                elif decision is not IDLE:
                    in_play, violations = decision
                    exercised |= bit if in_play else 0
                    violated |= bit if violations else 0
                    broken += violations
            if broken:
                return Outcome("fail", exercised > 0, tuple(broken), exercised, violated)
            if unclear and (undecided := sum(bit for bit, is_unclear in unclear if is_unclear(view))):
                decided = exercised & ~undecided
                return Outcome("skip", decided > 0, rules_exercised=decided, message=_UNCLEAR)
            if (outcome := remembered.get(exercised)) is None:
                outcome = Outcome("pass", exercised > 0, rules_exercised=exercised)
                if len(remembered) < _REMEMBERED:
                    remembered[exercised] = outcome
            return outcome

        return check

    def reasons(self, tools: ToolIndex) -> Reasons:
        """Rule by rule: which calls each of its selectors means, and what the rule itself decides."""
        compiled = [
            (rule, rule.compile(tools), dict(_selections(rule, tools)), unclear_calls(rule, tools))
            for rule in self.rules
        ]

        def explain(view: View, outcome: Outcome) -> Iterator[Reasoning]:
            for number, (rule, decide, selections, unclear) in enumerate(compiled, 1):
                exercised, violations = decide(view)
                ending: Ending = "broken" if violations else "held" if exercised else "not exercised"
                if outcome.status == "skip" and (view.trace.calls_unknown or (unclear is not None and unclear(view))):
                    ending, violations = "undecided", ()
                steps = [
                    f"{key} {selection.name or 'nothing'}: {told_calls(view, selection.attempts(view))}"
                    for key, selection in selections.items()
                ]
                leveled = (replace(one, level=_level(outcome, one)) for one in violations)
                yield Reasoning(f"rule {number}: {rule.type}", ending, rule.line, None, tuple(steps), tuple(leveled))

        return explain

    def stated_rules(self) -> list[StatedRule]:
        """Each rule, for the report."""
        return [
            StatedRule(rule.type, rule.line, rule.description, rule.allow_unexercised, _tools_of(rule))
            for rule in self.rules
        ]

    def named_tools(self) -> Iterator[tuple[str, int, str]]:
        """The tools of every rule."""
        for rule in self.rules:
            for pattern in _tools_of(rule):
                yield pattern, rule.line, f"the rule '{rule.type}'"


def _selections(rule: Rule, tools: ToolIndex) -> Iterator[tuple[str, Selection]]:
    for key in rule.__struct_fields__:
        value = getattr(rule, key)
        if isinstance(value, tuple) and (value or key == "tools"):
            yield key, Selection(value, tools)


def _level(outcome: Outcome, violation: Violation) -> Level:
    """The level that severity and waivers left a violation of a rule."""
    same = (one.level for one in outcome.violations if one.message == violation.message)
    return next(same, violation.level)


def _tools_of(rule: Rule) -> tuple[str, ...]:
    return tuple(pattern for selector in selectors_in(rule) for pattern in selector.tool)
