"""What a rule asks of the calls of a run, so that rules can be compared without a trace; and how patterns relate."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from passmuster.suite import glob_matcher, is_literal

if TYPE_CHECKING:
    from passmuster.checks._selectors import Selector


_LONGEST = 100
"""Patterns longer than this are not compared letter by letter."""


class Demand(Struct, frozen=True):
    """One demand on the calls of a run; of several tools, any will do."""

    kind: Literal["least", "most", "only", "about", "needs"]
    """`least` and `most`: so many calls of them together. `only`: no other is called. `about`: the rule says something
    only where one of them is called. `needs`: where it does, one of these has to be called as well."""
    tools: tuple[str, ...]
    count: int = 1


def tools_of(selectors: Iterable[Selector]) -> tuple[str, ...]:
    """The patterns of selectors, of which any fits."""
    return tuple(dict.fromkeys(pattern for one in selectors for pattern in one.tool))


def each_of(selectors: Iterable[Selector]) -> Iterator[Demand]:
    """Each of these has to be called; one that is listed twice, twice."""
    found: dict[tuple[str, ...], int] = {}
    for one in selectors:
        found[one.tool] = found.get(one.tool, 0) + 1
    return (Demand("least", tools, count) for tools, count in found.items())


def at_most(selectors: Iterable[Selector], count: int) -> Iterator[Demand]:
    """At most so many calls, where the selectors look at nothing but names: else calls of these tools are left."""
    listed = list(selectors)
    if not any(one.details for one in listed):
        yield Demand("most", tools_of(listed), count)


@lru_cache(maxsize=4_096)
def _fits(pattern: str) -> Callable[[str], bool]:
    """A function telling whether a name fits; made once, for patterns are compared in pairs."""
    return glob_matcher(pattern)


def covers(wide: str, narrow: str) -> bool:
    """Whether every name that fits `narrow` fits `wide`. Where that is hard to tell, it is not said."""
    if wide == narrow or is_literal(narrow):
        return _fits(wide)(narrow) if is_literal(narrow) else True
    # A star of one pattern stands for whatever the other has in its place, its wildcards too.
    return not re.search(r"[?\[]", wide) and _fits(wide)(narrow)


def may_overlap(one: str, other: str) -> bool:
    """Whether some name may fit both patterns. Sets of characters are taken to fit any character."""
    if is_literal(one):
        return _fits(other)(one)
    if is_literal(other):
        return _fits(one)(other)
    first, second = _tokens(one), _tokens(other)
    if max(len(first), len(second)) > _LONGEST:
        return True

    @cache
    def fit(i: int, j: int) -> bool:
        if i == len(first) or j == len(second):
            return not (first[i:] + second[j:]).strip("*")
        if first[i] == "*" and fit(i + 1, j):
            return True
        if second[j] == "*" and fit(i, j + 1):
            return True
        if "*" in (first[i], second[j]):  # the star takes one more character, or one more token, of the other
            return fit(i, j + 1) if first[i] == "*" else fit(i + 1, j)
        return (first[i] == second[j] or "?" in (first[i], second[j])) and fit(i + 1, j + 1)

    return fit(0, 0)


def _tokens(pattern: str) -> str:
    """The characters of a pattern; a set counts as `?`."""
    return re.sub(r"\[!?.[^\]]*\]", "?", pattern)
