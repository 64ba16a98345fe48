"""What every kind of check has in common: the keys it adds to a test, compiled into a function on a trace."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import ClassVar

from msgspec import Struct

from passmuster.checks._outcome import Outcome
from passmuster.checks._reasoning import Reasons, of_the_whole
from passmuster.checks._view import ToolIndex, View
from passmuster.suite import Record, Test

Check = Callable[[View], Outcome]


class CheckError(Exception):
    """The check broke and decided nothing: a pattern reached its backtracking limit, or arguments nest too deep."""


class PatternLimit(CheckError):
    """A pattern reached its backtracking limit on a call of this tool."""

    def __init__(self, tool: str, message: str) -> None:
        super().__init__(message)
        self.tool = tool


class StatedRule(Struct, frozen=True):
    """One rule of a check as the report names it."""

    type: str
    line: int
    description: str | None = None
    allow_unexercised: bool = False
    """Whether the suite says that a run may never exercise it."""
    tools: tuple[str, ...] = ()
    """The tool patterns that it names."""


class CheckSpec(Record, frozen=True, kw_only=True):
    """The keys that a kind of check adds to a test, read."""

    reads_calls: ClassVar[bool] = True
    """Whether it is about the calls of a trace, so that it is skipped where these are unknown."""
    gives_score: ClassVar[bool] = False
    """Whether it may give a score, which is a metric under the test's id."""

    @abstractmethod
    def compile(self, tools: ToolIndex) -> Check:
        """The check, ready to run."""

    def named_tools(self) -> Iterable[tuple[str, int, str]]:
        """The tools that it names: pattern, line (0 for the test's own), and what names it, to begin a sentence."""
        return ()

    def known_tools(self) -> Iterable[str]:
        """The tools that it knows to exist, because a policy has them."""
        return ()

    def reasons(self, tools: ToolIndex) -> Reasons:
        """What tells, part by part, why the check came out as it did on a trace."""
        return of_the_whole

    def stated_rules(self) -> list[StatedRule]:
        """The rules that it is made of, for checks that are; each is reported by itself."""
        return []


def spec_of(test: Test) -> CheckSpec:
    """The test's own part, as its check read it."""
    assert isinstance(test.spec, CheckSpec)
    return test.spec
