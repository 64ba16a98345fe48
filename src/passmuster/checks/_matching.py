"""Matchers, compiled: each becomes a function from a value to whether it fits.

A value that is not there is `MISSING`; only `$absent`, `$ignore` and `$optional` fit it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from passmuster.suite import glob_matcher
from passmuster.suite import matchers as m

__all__ = ["MISSING", "Fits", "compile_args", "compile_matcher", "equal", "follow", "path_of", "search_within_limit"]

Fits = Callable[[Any], bool]
REGEX_SECONDS = 1.0


class _Missing:
    """The value of an argument that was not given."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING = _Missing()


def compile_matcher(matcher: m.Matcher) -> Fits:
    """The function that decides whether a value fits."""
    match matcher:
        case m.Equal(value):
            return _equals(value)
        case m.Keys(keys):
            return _keys({key: compile_matcher(inner) for key, inner in keys.items()})
        case m.Items(items):
            return _items([compile_matcher(item) for item in items])
        case m.Unordered(items):
            return _unordered([compile_matcher(item) for item in items])
        case m.AllOf(parts):
            every = [compile_matcher(part) for part in parts]
            return lambda found: all(fits(found) for fits in every)
        case m.OneOf(options):
            some = [compile_matcher(option) for option in options]
            return lambda found: any(fits(found) for fits in some)
        case m.Not(inner):
            fits = compile_matcher(inner)
            return lambda found: found is not MISSING and not fits(found)
        case m.Optional(inner):
            fits = compile_matcher(inner)
            return lambda found: found is MISSING or fits(found)
        case m.Contains(inner):
            return _contains(inner)
        case m.Regex(pattern):
            search = search_within_limit(pattern)
            return lambda found: isinstance(found, str) and search(found)
        case m.Glob(pattern):
            named = glob_matcher(pattern)
            return lambda found: isinstance(found, str) and named(found)
        case m.Approx(value, within):
            slack = within + 1e-9 * max(1.0, abs(value))  # 0.1 + 0.2 is within 0 of 0.3
            low, high = value - slack, value + slack
            return lambda found: _is_number(found) and low <= found <= high
        case m.Compare(word, bound):
            return _compare(word, bound)
        case m.TypeIs(types):
            return lambda found: any(_is_type(found, name) for name in types)
        case m.Present():
            return lambda found: found is not MISSING
        case m.Absent():
            return lambda found: found is MISSING
        case m.Ignore():
            return lambda found: True


def compile_args(args: dict[str, m.Matcher]) -> Fits:
    """The function that decides whether arguments fit. A key with dots is a path, unless it is there as such.

    Arguments that are no map have no argument of any name: `$absent` fits them, a value does not.
    """
    fits = [(key, path_of(key), compile_matcher(matcher)) for key, matcher in args.items()]

    def decide(found: Any) -> bool:
        named = found if isinstance(found, dict) else {}
        return all(fit(named[key] if key in named else follow(named, path)) for key, path, fit in fits)

    return decide


_STEP = re.compile(r"\[(\d+)\]|([^.\[]+)")


def path_of(key: str) -> list[str | int]:
    return [int(index) if index else name for index, name in _STEP.findall(key)]


def follow(value: Any, path: list[str | int]) -> Any:
    for step in path:
        if isinstance(value, dict) and str(step) in value:
            value = value[str(step)]
        elif isinstance(value, list) and str(step).isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return MISSING
    return value


def equal(a: Any, b: Any) -> bool:
    """JSON equality: numbers by value, `true` is no number, maps and lists deeply."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(equal, a, b))
    return bool(a == b)


def _equals(value: Any) -> Fits:
    """As `equal` to a value that is known, so that the usual ones are one comparison."""
    if isinstance(value, str):
        return lambda found: bool(found == value)
    if value is None or isinstance(value, bool):
        return lambda found: found is value
    if isinstance(value, int | float):
        return lambda found: type(found) is not bool and bool(found == value)
    return lambda found: found is not MISSING and equal(found, value)


def _keys(fits: dict[str, Fits]) -> Fits:
    return lambda found: isinstance(found, dict) and all(fit(found.get(key, MISSING)) for key, fit in fits.items())


def _items(fits: list[Fits]) -> Fits:
    def decide(found: Any) -> bool:
        return (
            isinstance(found, list)
            and len(found) == len(fits)
            and all(fit(item) for fit, item in zip(fits, found, strict=True))
        )

    return decide


def _unordered(fits: list[Fits]) -> Fits:
    """Whether items and matchers can be paired off one to one, by augmenting paths."""

    def decide(found: Any) -> bool:
        if not isinstance(found, list) or len(found) != len(fits):
            return False
        options = [[place for place, item in enumerate(found) if fit(item)] for fit in fits]
        taken: dict[int, int] = {}

        def place_one(matcher: int, tried: set[int]) -> bool:
            for item in options[matcher]:
                if item not in tried:
                    tried.add(item)
                    if item not in taken or place_one(taken[item], tried):
                        taken[item] = matcher
                        return True
            return False

        return all(place_one(matcher, set()) for matcher in range(len(fits)))

    return decide


def _contains(inner: m.Matcher) -> Fits:
    fits = compile_matcher(inner)
    part = inner.value if isinstance(inner, m.Equal) and isinstance(inner.value, str) else None

    def decide(found: Any) -> bool:
        if isinstance(found, str):
            return part in found if part is not None else False
        return isinstance(found, list) and any(fits(item) for item in found)

    return decide


def _compare(word: str, bound: float) -> Fits:
    match word:
        case "$gt":
            return lambda found: _is_number(found) and found > bound
        case "$gte":
            return lambda found: _is_number(found) and found >= bound
        case "$lt":
            return lambda found: _is_number(found) and found < bound
        case _:
            return lambda found: _is_number(found) and found <= bound


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_type(value: Any, name: str) -> bool:
    match name:
        case "string":
            return isinstance(value, str)
        case "number":
            return _is_number(value)
        case "integer":
            return _is_number(value) and (isinstance(value, int) or value.is_integer())
        case "boolean":
            return isinstance(value, bool)
        case "object":
            return isinstance(value, dict)
        case "array":
            return isinstance(value, list)
        case _:
            return value is None


def search_within_limit(pattern: str) -> Callable[[str], bool]:
    """A search that cannot hang: past a second it raises `TimeoutError`, which names the pattern."""
    import regex

    search = regex.compile(pattern).search

    def found(text: str) -> bool:
        try:
            return search(text, timeout=REGEX_SECONDS) is not None
        except TimeoutError:
            raise TimeoutError(
                f"the pattern '{pattern}' took longer than a second; write it without nested repetition"
            ) from None

    return found
