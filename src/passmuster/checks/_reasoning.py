"""Why a check came out as it did on one trace, part by part: by rule, by call or by pattern."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from msgspec import Struct

from passmuster._problems import plural
from passmuster.checks._outcome import Outcome, Violation
from passmuster.checks._view import View

Ending = Literal["held", "broken", "not exercised", "undecided"]
_MOST_CALLS = 10


class Reasoning(Struct, frozen=True):
    """One part of a check on one trace: how it ended, what led to it, and how it was broken."""

    name: str
    status: Ending
    line: int | None = None
    """In the suite, or in the file of a policy."""
    file: str | None = None
    """The policy, where it is not in the suite."""
    steps: tuple[str, ...] = ()
    violations: tuple[Violation, ...] = ()


Reasons = Callable[[View, Outcome], Iterable[Reasoning]]


def of_the_whole(view: View, outcome: Outcome) -> Iterable[Reasoning]:
    """A check that has no parts."""
    ending: Ending = "broken" if outcome.violations else "held" if outcome.exercised else "not exercised"
    if outcome.status in ("skip", "error"):
        ending = "undecided"
    message = (outcome.message,) if outcome.message else ()
    return [Reasoning("check", ending, steps=message, violations=outcome.violations)]


def told_calls(view: View, calls: Sequence[int]) -> str:
    """`call 2, call 5 (failed)`, or `no call`."""
    if not calls:
        return "no call"
    shown = [f"call {call + 1}{' (failed)' if view.failed and view.failed[call] else ''}" for call in calls]
    rest = len(shown) - _MOST_CALLS
    return ", ".join(shown[:_MOST_CALLS]) + (f" and {plural(rest, 'more call')}" if rest > 0 else "")
