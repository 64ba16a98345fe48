"""What the evaluation of sequence rules is made of: compiled selectors, and the words for what they found.

Work is linear in the calls of a trace, also where every call breaks the rule. Where a rule looks at names alone and the
trace is plain, the view's index decides whether it held without a look at the calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from passmuster.checks._outcome import Violation
from passmuster.checks._selectors import CallSelector, Selectors
from passmuster.checks._view import ToolIndex, View

Decision = tuple[bool, Sequence[Violation]]
"""Whether the rule was exercised, and how it was broken."""
HELD: Decision = (True, ())
IDLE: Decision = (False, ())
Decide = Callable[[View], Decision]


def selectors(given: Selectors, tools: ToolIndex) -> list[CallSelector]:
    """A rule's selectors, ready to look at calls."""
    return [CallSelector(selector, tools) for selector in given]


def bits(given: list[CallSelector]) -> int:
    """The patterns of several selectors together: a trace without any of them has no call that they mean."""
    together = 0
    for selector in given:
        together |= selector.bits
    return together


def all_plain(given: list[CallSelector]) -> bool:
    """Whether the selectors look at names alone."""
    return all(selector.plain for selector in given)


def attempts(given: list[CallSelector], view: View) -> list[int]:
    """The calls that any of the selectors means, in order, failed ones included."""
    if len(given) == 1:
        return given[0].attempts(view)
    return _united([selector.attempts(view) for selector in given])


def successes(given: list[CallSelector], view: View) -> list[int]:
    """The calls that any of the selectors means, in order, less the failed ones."""
    if len(given) == 1:
        return given[0].successes(view)
    return _united([selector.successes(view) for selector in given])


def _united(found: Iterable[list[int]]) -> list[int]:
    return sorted({call for calls in found for call in calls})


def by_tool(calls: list[int], view: View) -> dict[str, list[int]]:
    """The calls of each tool, in the order of the tools' first calls."""
    grouped: dict[str, list[int]] = {}
    for call in calls:
        grouped.setdefault(view.names[call], []).append(call)
    return grouped


def any_of(given: list[CallSelector]) -> str:
    """How a message names a list of which any will do."""
    return " or ".join(selector.name for selector in given)


def times(number: int) -> str:
    """`once`, `3 times`."""
    return "once" if number == 1 else f"{number} times"


def absence(selector: CallSelector, view: View) -> str:
    """Why there is no success: never called, or called and failed."""
    tried = selector.attempts(view)
    if not tried:
        return f"{selector.name} was never called"
    return f"{selector.name} was called {times(len(tried))} and failed"
