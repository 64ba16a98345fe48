"""What one policy blocks and another does not, counted in bounded memory; tallies merge in any order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct, field

from passmuster.checks import Violation
from passmuster.traces import Spot

RULES = 1_000
"""Rules that are told apart in each direction."""
_EXAMPLES = 5
Direction = Literal["newly_blocked", "newly_allowed"]


class Example(Struct, frozen=True, order=True):
    """A call that is blocked by one policy only."""

    spot: Spot
    call: int
    """From 1; 0 where it is the trace as a whole."""
    violation: Violation

    @property
    def key(self) -> tuple[str, int, int]:
        return self.spot.file, self.spot.offset, self.call


class RuleChange(Struct):
    """One rule on one tool, on calls that only one of the policies blocks."""

    direction: Direction
    test: str
    rule: str
    tool: str | None
    calls: int = 0
    traces: int = 0
    """Traces with such a call."""
    examples: list[Example] = field(default_factory=list)
    """The first in the order of the input."""

    def merge(self, other: RuleChange) -> None:
        self.calls += other.calls
        self.traces += other.traces
        self.keep(other.examples)

    def keep(self, examples: list[Example]) -> None:
        """Take in examples."""
        self.examples = sorted([*self.examples, *examples], key=lambda one: one.key)[:_EXAMPLES]


class PolicyChanges(Struct):
    """Traces and calls by what the policies before and after say about them."""

    traces: dict[str, int] = field(default_factory=dict)
    """`allowed>blocked` and so on: how many traces, by both verdicts."""
    calls_blocked: int = 0
    """Calls that are blocked after and were not before."""
    calls_allowed: int = 0
    rules: dict[str, RuleChange] = field(default_factory=dict)
    other: dict[str, int] = field(default_factory=dict)
    """Calls of rules that are not told apart, by direction."""

    def merge(self, other: PolicyChanges) -> None:
        """Take in the changes of another part of the traces."""
        for name, number in other.traces.items():
            self.traces[name] = self.traces.get(name, 0) + number
        self.calls_blocked += other.calls_blocked
        self.calls_allowed += other.calls_allowed
        for name, change in other.rules.items():
            if name in self.rules:
                self.rules[name].merge(change)
            else:
                self.rules[name] = change
        for direction, number in other.other.items():
            self.other[direction] = self.other.get(direction, 0) + number
        self.cut()

    def cut(self) -> None:
        """Keep the first rules by name: one that is among the first of all is among the first of any part."""
        if len(self.rules) > 2 * RULES:
            for direction in ("newly_allowed", "newly_blocked"):
                names = sorted(name for name, one in self.rules.items() if one.direction == direction)
                for name in names[RULES:]:
                    calls = self.rules.pop(name).calls
                    self.other[direction] = self.other.get(direction, 0) + calls

    def spots(self) -> Iterator[Spot]:
        """The places of all examples."""
        for change in self.rules.values():
            for example in change.examples:
                yield example.spot
