"""Expected calls paired with actual ones at the least cost: what has to be edited to make a trace what was expected.

A missing call costs 1, or nothing where it is optional; an extra one 1, or nothing where extras are allowed. A pair
costs k/n: n arguments were compared, k of them differ. The arguments listed for a call are compared, and with
`exact_args` also each further argument that the call has, every one of which differs; with nothing to compare a pair
costs 0. Arguments that are no map have no argument of any name; where they are unknown (None), each differs. Calls of
different tools are never paired.

Of all pairings the cheapest one is taken: in any order by assignment, in order by alignment, where the calls of one
position (made in parallel) fit in any order. Among equally cheap ones it is the one with the most pairs; then with
the most pairs that fit in everything; then the one that gives the first expected call its earliest actual call,
then the second one, and so on. So the cost and the number of edits of each kind do not depend on how calls that
fit in any order are listed, and two readers of one trace see the same edits. Costs are exact: no number is rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import groupby
from math import lcm
from typing import Any, Literal

from msgspec import Struct

from passmuster.checks._json_values import MISSING, follow, path_of
from passmuster.checks.layers.path._alignment import Column, align
from passmuster.checks.layers.path._assignment import Assignment
from passmuster.checks.matchers import Fits, Matcher
from passmuster.suite import glob_matcher, is_literal

Mode = Literal["any_order", "in_order", "exact"]
Extras = Literal["allow", "forbid"]
Ratio = tuple[int, int]
"""How many arguments differ, of how many compared."""
Gains = dict[tuple[bool, Ratio], int]
"""What a pair gains: by whether the expected call is optional, and how many arguments differ."""


class Expected(Struct, frozen=True):
    """One call that should be made."""

    tool: str | Callable[[str], bool]
    """The tool's name, or what tells whether a name fits."""
    args: tuple[tuple[str, Fits], ...] = ()
    """The arguments that are compared, by key or dotted path, and what each must fit."""
    exact_args: bool = False
    """Whether an argument that is not listed is a difference."""
    name: str = ""
    """The tool as the suite writes it, where `tool` is a function."""
    matchers: tuple[Matcher, ...] = ()
    """What `args` were compiled from, in the same order, for those who explain."""
    line: int | None = None
    """Where the suite states it."""
    optional: bool = False
    """Whether it may be missing."""


class _RightArguments:
    """Stands for arguments that are whatever is expected of them."""


RIGHT_ARGUMENTS = _RightArguments()


class Actual(Struct, frozen=True):
    """One call that was made. Calls are listed in the order of the trace."""

    tool: str
    arguments: Any
    """None where they are unknown."""
    position: int
    """Equal for neighbours that were made in parallel, else rising."""
    index: int
    """Which call of the trace it is, from 0."""


class Difference(Struct, frozen=True, gc=False):
    """One argument that is not as expected: not given, given with another value, or not listed."""

    argument: str
    kind: Literal["missing", "different", "unexpected"]


class Paired(Struct, frozen=True, gc=False):
    """An expected call that was made, perhaps with other arguments. Calls are told by their place in the lists."""

    expected: int
    actual: int
    differences: tuple[Difference, ...] = ()


class Missing(Struct, frozen=True, gc=False):
    """An expected call that was not made."""

    expected: int


class Extra(Struct, frozen=True, gc=False):
    """A call that nobody expected, where that matters."""

    actual: int


Edit = Paired | Missing | Extra


class Script(Struct, frozen=True, gc=False):
    """What it costs to make the actual calls the expected ones, and how it is done.

    For each expected call in turn it was paired or is missing, unless it is optional; then come the extra calls in the
    order of the trace, unless extras are allowed. The calls are as expected if, and only if, the cost is 0.
    """

    cost: Fraction
    edits: tuple[Edit, ...]


_NOTHING = Fraction(0)


def expect(
    tool: str,
    args: Mapping[str, Matcher] | None = None,
    *,
    exact_args: bool = False,
    line: int | None = None,
    optional: bool = False,
) -> Expected:
    """The expected call that a suite writes. Without `args` any arguments will do, even if they are to be exact."""
    listed = args or {}
    return Expected(
        tool=tool if is_literal(tool) else glob_matcher(tool),
        args=tuple((key, matcher.compile()) for key, matcher in listed.items()),
        exact_args=exact_args and args is not None,
        name=tool,
        matchers=tuple(listed.values()),
        line=line,
        optional=optional,
    )


def pair(
    expected: Sequence[Expected], actual: Sequence[Actual], mode: Mode = "any_order", extras: Extras = "allow"
) -> Script:
    """The cheapest way to make the actual calls the expected ones. `exact` is in order, with no extras allowed."""
    ordered = mode != "any_order"
    extra_cost = 1 if mode == "exact" or extras == "forbid" else 0
    obvious = _obvious(expected, actual, ordered)
    if obvious is not None:
        edits: list[Edit] = [Paired(wanted, made) for wanted, made in enumerate(obvious)]
        return _script(edits, _NOTHING, obvious, actual, extra_cost)
    taken = (_aligned if ordered else _assigned)(expected, actual, extra_cost)
    edits, cost = [], _NOTHING
    for wanted, made in enumerate(taken):
        if made is None and expected[wanted].optional:
            continue
        if made is None:
            edits.append(Missing(wanted))
            cost += 1
        else:
            found = _differences(expected[wanted], actual[made])
            edits.append(Paired(wanted, made, found))
            if found:
                cost += Fraction(*_compare(expected[wanted], actual[made]))
    return _script(edits, cost, taken, actual, extra_cost)


def _script(
    edits: list[Edit], cost: Fraction, taken: Sequence[int | None], actual: Sequence[Actual], extra_cost: int
) -> Script:
    if extra_cost and len(actual) > len(taken) - taken.count(None):
        kept = set(taken)
        extra = [Extra(made) for made in range(len(actual)) if made not in kept]
        return Script(cost + extra_cost * len(extra), (*edits, *extra))
    return Script(cost, tuple(edits))


def _obvious(expected: Sequence[Expected], actual: Sequence[Actual], ordered: bool) -> list[int] | None:
    """The first call left that fits each expected one, if that serves them all: then nothing can be better."""
    taken: list[int] = []
    used: set[int] = set()
    start = 0
    for wanted in expected:
        while start in used:
            start += 1
        for made in range(start, len(actual)):
            if made not in used and _fits(wanted, actual[made]):
                break
        else:
            return None
        taken.append(made)
        used.add(made)
        if ordered:
            start = made
            while start and actual[start - 1].position == actual[made].position:
                start -= 1
    return taken


def _assigned(expected: Sequence[Expected], actual: Sequence[Actual], extra_cost: int) -> list[int | None]:
    """The actual call of each expected one, in any order."""
    candidates: list[list[int]] = [[] for _ in expected]
    takers = _takers(expected, actual)
    for made, call in enumerate(actual):
        for wanted in takers[call.tool]:
            candidates[wanted].append(made)
    ratios = [_first_ratios(wanted, actual, candidates[place], len(expected)) for place, wanted in enumerate(expected)]
    gains = _gains(ratios, len(expected), extra_cost)
    assignment = Assignment()
    for one, calls, row in zip(expected, candidates, ratios, strict=True):
        gained = ((made, gains[one.optional, ratio]) for made, ratio in zip(calls, row, strict=False))
        options = sorted((option for option in gained if option[1] > 0), key=lambda option: -option[1])
        # The others take all but one of as many calls as are expected, so nobody needs more to choose from.
        assignment.add(options[: len(expected)])
    assignment.settle_ties()
    return assignment.column_of


def _first_ratios(wanted: Expected, actual: Sequence[Actual], calls: list[int], enough: int) -> list[Ratio]:
    """How far each call is from the expected one, until enough of them fit."""
    ratios: list[Ratio] = []
    for made in calls:
        ratio = _compare(wanted, actual[made])
        ratios.append(ratio)
        if not ratio[0]:
            enough -= 1
            if not enough:
                break
    return ratios


def _aligned(expected: Sequence[Expected], actual: Sequence[Actual], extra_cost: int) -> list[int | None]:
    """The actual call of each expected one, in order."""
    takers = _takers(expected, actual)
    calls = [made for made, call in enumerate(actual) if takers[call.tool]]
    groups = [list(group) for _, group in groupby(calls, lambda made: actual[made].position)]
    if len(groups) == 1:  # made in parallel, so that the order says nothing
        return _assigned(expected, actual, extra_cost)
    ratios = {made: [_compare(expected[row], actual[made]) for row in takers[actual[made].tool]] for made in calls}
    gains = _gains(ratios.values(), len(expected), extra_cost)
    blocks = [[_column(expected, takers[actual[made].tool], ratios[made], gains) for made in group] for group in groups]
    places = align(len(expected), blocks)
    return [None if place is None else groups[place[0]][place[1]] for place in places]


def _column(expected: Sequence[Expected], rows: list[int], ratios: list[Ratio], gains: Gains) -> Column:
    """An actual call as a column: the expected calls it can stand for with a gain."""
    gained = [gains[expected[row].optional, ratio] for row, ratio in zip(rows, ratios, strict=True)]
    if all(gain > 0 for gain in gained):
        return rows, gained
    kept = [(row, gain) for row, gain in zip(rows, gained, strict=True) if gain > 0]
    return [row for row, _ in kept], [gain for _, gain in kept]


def _takers(expected: Sequence[Expected], actual: Sequence[Actual]) -> dict[str, list[int]]:
    """For each tool that was called, the expected calls it can stand for."""
    return {
        name: [place for place, wanted in enumerate(expected) if _is_named(wanted, name)]
        for name in {call.tool: None for call in actual}
    }


def _gains(ratios: Iterable[Iterable[Ratio]], most: int, extra_cost: int) -> Gains:
    """What is gained by a pair instead of a missing call and an extra one, as whole numbers that also break ties.

    In front stands what it saves, in units in which every cost is whole; then 1, for being a pair; then 1 if it
    fits in everything. `most` pairs together never carry over from one to the other. A pair that saves less than
    nothing, for neither a missing call nor an extra one would cost anything, is not made.
    """
    known = {ratio for row in ratios for ratio in row}
    unit = lcm(*(compared for _, compared in known))
    base = most + 1
    return {
        (optional, (different, compared)): (
            (unit * (extra_cost + (not optional)) - unit * different // compared) * base + 1
        )
        * base
        + (different == 0)
        for different, compared in known
        for optional in (False, True)
    }


def _is_named(wanted: Expected, name: str) -> bool:
    tool = wanted.tool
    return tool == name if isinstance(tool, str) else tool(name)


def _fits(wanted: Expected, call: Actual) -> bool:
    tool = wanted.tool
    if not (tool == call.tool if isinstance(tool, str) else tool(call.tool)):
        return False
    found = call.arguments
    if type(found) is not dict:
        return not (wanted.args or wanted.exact_args) or not _compare(wanted, call)[0]
    named = True
    for key, fits in wanted.args:
        if key in found:
            if not fits(found[key]):
                return False
        elif fits(argument(found, key)):
            named = False
        else:
            return False
    if not wanted.exact_args or (named and len(found) == len(wanted.args)):
        return True
    return not _unlisted(wanted, found)


def _compare(wanted: Expected, call: Actual) -> Ratio:
    """How many arguments differ, of how many compared (at least 1)."""
    found = call.arguments
    different, compared = 0, len(wanted.args)
    if found is RIGHT_ARGUMENTS or found is None:
        return (0, 1) if found or not (wanted.args or wanted.exact_args) else (1, 1)
    for key, fits in wanted.args:
        if not fits(argument(found, key)):
            different += 1
    if wanted.exact_args:
        unlisted = len(_unlisted(wanted, found))
        different += unlisted
        compared += unlisted
    return different, compared or 1


def _differences(wanted: Expected, call: Actual) -> tuple[Difference, ...]:
    """Which arguments differ, the listed ones first."""
    found = call.arguments
    if found is RIGHT_ARGUMENTS:
        return ()
    if found is None:
        return (Difference("", "different"),) if wanted.args or wanted.exact_args else ()
    differences = []
    for key, fits in wanted.args:
        value = argument(found, key)
        if not fits(value):
            differences.append(Difference(key, "missing" if value is MISSING else "different"))
    if wanted.exact_args:
        differences += [Difference(key, "unexpected") for key in _unlisted(wanted, found)]
    return tuple(differences)


def _unlisted(wanted: Expected, found: Any) -> list[str]:
    """The arguments that no listed key names or leads into; those that are no map are one without a name."""
    if not isinstance(found, dict):
        return [""]
    listed = {key for key, _ in wanted.args}
    entered = {str(path[0]) for key in listed if key not in found and (path := path_of(key))}
    return [key for key in found if key not in listed and key not in entered]


def argument(found: Any, key: str) -> Any:
    """The argument with this key or dotted path; `MISSING` where there is none."""
    if not isinstance(found, dict):
        return MISSING
    if key in found:
        return found[key]
    return follow(found, path_of(key)) if "." in key or "[" in key else MISSING
