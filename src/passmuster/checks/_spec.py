"""What every kind of check has in common: the keys it adds to a test, compiled into a function on a trace."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar

from passmuster.checks._outcome import Outcome
from passmuster.checks._view import ToolIndex, View
from passmuster.suite import Record, Test

Check = Callable[[View], Outcome]


class CheckError(Exception):
    """The check broke and decided nothing: a pattern reached its backtracking limit, or arguments nest too deep."""


class CheckSpec(Record, frozen=True, kw_only=True):
    """The keys that a kind of check adds to a test, read."""

    asks_figures: ClassVar[bool] = False
    """Whether it looks at what the calls of models used up."""
    gives_score: ClassVar[bool] = False
    """Whether it may give a score, which is a metric under the test's id."""

    @abstractmethod
    def compile(self, tools: ToolIndex) -> Check:
        """The check, ready to run."""

    def rule_lines(self) -> list[tuple[str, int]]:
        """Type and line of each rule, for checks that are made of rules."""
        return []


def spec_of(test: Test) -> CheckSpec:
    """The test's own part, as its check read it."""
    assert isinstance(test.spec, CheckSpec)
    return test.spec
