"""Whether any value fits a matcher: `{$gt: 500, $lt: 100}` fits none, so a rule with it could never fire."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, floor, inf
from typing import Any

from passmuster.checks._json_values import TYPES
from passmuster.checks.matchers import _matchers as m

_NUMBERS = frozenset({"integer", "fraction"})
_PRESENT = frozenset({"string", "boolean", "object", "array", "null"}) | _NUMBERS
_ABSENT = frozenset({"nothing"})
_EVERY = _PRESENT | _ABSENT


def why_impossible(matcher: m.Matcher) -> str | None:
    """Why nothing fits the matcher; None where something may."""
    if isinstance(matcher, m.Not) and _fits_all(matcher.inner):
        return f"{matcher.in_words()} can never match; for an argument that is not there write $absent: true"
    if not isinstance(matcher, m.AllOf):
        return None
    if _kinds(matcher) and _between(matcher.parts) and _literal_fits(matcher.parts):
        return None
    return f"these exclude each other and can never match: {matcher.in_words()}"


def _kinds(matcher: m.Matcher) -> frozenset[str]:
    """The kinds of value that may fit; a value that is not there is `nothing`."""
    match matcher:
        case m.Equal(value):
            return frozenset({_kind(value)})
        case m.Keys():
            return frozenset({"object"})
        case m.Items():
            return frozenset({"array"})
        case m.AllOf(parts):
            return frozenset.intersection(_EVERY, *map(_kinds, parts))
        case m.OneOf(options):
            return frozenset.union(frozenset(), *map(_kinds, options))
        case m.Not(inner):
            return _PRESENT - _kinds(inner) if isinstance(inner, m.TypeIs) else _PRESENT
        case m.Optional(inner):
            return _kinds(inner) | _ABSENT
        case m.Contains(inner):
            text = isinstance(inner, m.Equal) and isinstance(inner.value, str)
            return frozenset({"array", "string"} if text else {"array"})
        case m.Regex() | m.Glob():
            return frozenset({"string"})
        case m.Approx() | m.Compare():
            return _NUMBERS
        case m.TypeIs(types):
            return frozenset(kind for name in types for kind in (_NUMBERS if name == "number" else (name,)))
        case m.Absent():
            return _ABSENT
        case m.Ignore():
            return _EVERY
    return _PRESENT


def _kind(value: Any) -> str:
    named = next((name for name in ("integer", *TYPES) if TYPES[name](value)), "null")
    return "fraction" if named == "number" else named


def _between(parts: Iterable[m.Matcher]) -> bool:
    """Whether there is a number within all bounds; a bound is one that only a number meets."""
    low, high, open_ = -inf, inf, False
    whole = False
    for part in parts:
        if isinstance(part, m.TypeIs):
            whole = whole or set(part.types) == {"integer"}
        elif isinstance(part, m.Approx):
            low, high = max(low, part.value - part.within), min(high, part.value + part.within)
        elif isinstance(part, m.Compare) and part.word.startswith("$g") and part.bound >= low:
            open_ = part.word == "$gt" or (open_ and part.bound == low)
            low = part.bound
    for part in parts:
        if isinstance(part, m.Compare) and part.word.startswith("$l") and part.bound <= high:
            high = part.bound
            open_ = open_ or (part.word == "$lt" and high == low)
    if whole and low > -inf and high < inf:
        first = floor(low) + 1 if any(_is(part, "$gt", low) for part in parts) else ceil(low)
        last = ceil(high) - 1 if any(_is(part, "$lt", high) for part in parts) else floor(high)
        return first <= last
    return low < high or (low == high and not open_)


def _is(part: m.Matcher, word: str, bound: float) -> bool:
    return isinstance(part, m.Compare) and part.word == word and part.bound == bound


def _literal_fits(parts: tuple[m.Matcher, ...]) -> bool:
    """Whether one of the values that are spelt out fits all that stands beside it."""
    for place, part in enumerate(parts):
        options = part.options if isinstance(part, m.OneOf) else (part,)
        values = [option.value for option in options if isinstance(option, m.Equal)]
        if len(values) < len(options):
            continue
        others = [other.compile() for at, other in enumerate(parts) if at != place]
        try:
            if not any(all(fits(value) for fits in others) for value in values):
                return False
        except TimeoutError:
            continue
    return True


def _fits_all(matcher: m.Matcher) -> bool:
    """Whether every value fits that is there."""
    match matcher:
        case m.Present() | m.Ignore():
            return True
        case m.Optional(inner):
            return _fits_all(inner)
        case m.OneOf(options):
            return any(map(_fits_all, options))
        case m.AllOf(parts):
            return all(map(_fits_all, parts))
        case m.TypeIs():
            return _kinds(matcher) >= _PRESENT
    return False
