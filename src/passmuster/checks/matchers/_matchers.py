"""The matchers: each compiles into a function from a value to whether it fits, and describes what it asks for.

A value that is not there is `MISSING`; only `$absent`, `$ignore` and `$optional` fit it.
"""

import operator
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from passmuster.checks._json_values import MISSING, TYPES, equal, follow, is_number, path_of
from passmuster.checks._quoting import HIDDEN, is_secret_path, quoted, shortened
from passmuster.checks._regex_search import search_within_limit
from passmuster.suite import glob_matcher

Fits = Callable[[Any], bool]


class Matcher(Struct, frozen=True):
    """What a value has to be."""

    @abstractmethod
    def compile(self) -> Fits:
        """The function that decides whether a value fits."""

    @abstractmethod
    def in_words(self) -> str:
        """What it asks for, to follow the word “expected”."""

    @property
    def inside(self) -> "tuple[Matcher, ...]":
        """The matchers that it is made of, for the same value."""
        return ()

    def compile_for_result(self) -> Fits:
        """The same for the result of a call: one that asks for fields or elements also reads a text that is JSON."""
        fits = self.compile()
        return (lambda found: fits(_parsed(found))) if _asks_for_structure(self) else fits


def _asks_for_structure(matcher: Matcher) -> bool:
    if isinstance(matcher, Equal):
        return isinstance(matcher.value, dict | list)
    if isinstance(matcher, Contains):
        return not (isinstance(matcher.inner, Equal) and isinstance(matcher.inner.value, str))
    return isinstance(matcher, Keys | Items) or any(map(_asks_for_structure, matcher.inside))


def _parsed(found: Any) -> Any:
    """The map or list that a text spells; any other value as it is."""
    if not isinstance(found, str) or found.lstrip()[:1] not in ("{", "["):
        return found
    try:
        return msgspec.json.decode(found)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return found


def compile_args(args: Mapping[str, Matcher]) -> Fits:
    """The function that decides whether arguments fit. A key with dots is a path, unless it is there as such.

    Arguments that are no map have no argument of any name: `$absent` fits them, a value does not.
    """
    fits = [(key, path_of(key), matcher.compile()) for key, matcher in args.items()]

    def decide(found: Any) -> bool:
        named = found if isinstance(found, dict) else {}
        return all(fit(named[key] if key in named else follow(named, path)) for key, path, fit in fits)

    return decide


class Equal(Matcher, frozen=True):
    """Equal to a literal, deeply; numbers by value."""

    value: Any

    def compile(self) -> Fits:
        value = self.value  # the usual kinds are one comparison
        if isinstance(value, str):
            return lambda found: bool(found == value)
        if value is None or isinstance(value, bool):
            return lambda found: found is value
        if isinstance(value, int | float):
            return lambda found: type(found) is not bool and bool(found == value)
        return lambda found: found is not MISSING and equal(found, value)

    def in_words(self) -> str:
        return quoted(self.value)


class Keys(Matcher, frozen=True):
    """A map with at least these keys, each fitting."""

    keys: dict[str, Matcher]

    def compile(self) -> Fits:
        fits = [(key, matcher.compile()) for key, matcher in self.keys.items()]
        return lambda found: isinstance(found, dict) and all(fit(found.get(key, MISSING)) for key, fit in fits)

    def in_words(self) -> str:
        keys = (f"{key}: {HIDDEN if is_secret_path(key) else it.in_words()}" for key, it in self.keys.items())
        return "{" + ", ".join(keys) + "}"


class Items(Matcher, frozen=True):
    """A list of just these, in this order."""

    items: tuple[Matcher, ...]

    def compile(self) -> Fits:
        fits = [item.compile() for item in self.items]

        def decide(found: Any) -> bool:
            return (
                isinstance(found, list)
                and len(found) == len(fits)
                and all(fit(item) for fit, item in zip(fits, found, strict=True))
            )

        return decide

    def in_words(self) -> str:
        return "[" + ", ".join(item.in_words() for item in self.items) + "]"


class Unordered(Items, frozen=True):
    """A list of exactly these elements, in any order."""

    def compile(self) -> Fits:
        """Whether items and matchers can be paired one to one, by augmenting paths."""
        fits = [item.compile() for item in self.items]

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

    def in_words(self) -> str:
        return f"{Items.in_words(self)} in any order"


class AllOf(Matcher, frozen=True):
    """Several matchers at once."""

    parts: tuple[Matcher, ...]

    @property
    def inside(self) -> tuple[Matcher, ...]:
        return self.parts

    def compile(self) -> Fits:
        every = [part.compile() for part in self.parts]
        return lambda found: all(fits(found) for fits in every)

    def in_words(self) -> str:
        return " and ".join(part.in_words() for part in self.parts)


class OneOf(Matcher, frozen=True):
    """Any one of several matchers."""

    options: tuple[Matcher, ...]

    @property
    def inside(self) -> tuple[Matcher, ...]:
        return self.options

    def compile(self) -> Fits:
        some = [option.compile() for option in self.options]
        return lambda found: any(fits(found) for fits in some)

    def in_words(self) -> str:
        return " or ".join(option.in_words() for option in self.options)


class Not(Matcher, frozen=True):
    """Present, and not fitting."""

    inner: Matcher

    @property
    def inside(self) -> tuple[Matcher, ...]:
        return (self.inner,)

    def compile(self) -> Fits:
        fits = self.inner.compile()
        return lambda found: found is not MISSING and not fits(found)

    def in_words(self) -> str:
        return f"anything but {self.inner.in_words()}"


class Optional(Matcher, frozen=True):
    """Missing, or fitting."""

    inner: Matcher

    @property
    def inside(self) -> tuple[Matcher, ...]:
        return (self.inner,)

    def compile(self) -> Fits:
        fits = self.inner.compile()
        return lambda found: found is MISSING or fits(found)

    def in_words(self) -> str:
        return f"{self.inner.in_words()} or nothing"


class Contains(Matcher, frozen=True):
    """A list with a matching element, or a text with this substring."""

    inner: Matcher

    def compile(self) -> Fits:
        fits = self.inner.compile()
        part = self.inner.value if isinstance(self.inner, Equal) and isinstance(self.inner.value, str) else None

        def decide(found: Any) -> bool:
            if isinstance(found, str):
                return part in found if part is not None else False
            return isinstance(found, list) and any(fits(item) for item in found)

        return decide

    def in_words(self) -> str:
        return f"something that contains {self.inner.in_words()}"


class Regex(Matcher, frozen=True):
    """A text in which the expression is found."""

    pattern: str

    def compile(self) -> Fits:
        search = search_within_limit(self.pattern)
        return lambda found: isinstance(found, str) and search(found)

    def in_words(self) -> str:
        return f"a text with /{shortened(self.pattern)}/"


class Glob(Matcher, frozen=True):
    """A text that matches the glob as a whole."""

    pattern: str

    def compile(self) -> Fits:
        named = glob_matcher(self.pattern)
        return lambda found: isinstance(found, str) and named(found)

    def in_words(self) -> str:
        return f"a text like {shortened(self.pattern)}"


class Approx(Matcher, frozen=True):
    """A number within a distance of another."""

    value: float
    within: float

    def compile(self) -> Fits:
        slack = self.within + 1e-9 * max(1.0, abs(self.value))  # 0.1 + 0.2 is within 0 of 0.3
        low, high = self.value - slack, self.value + slack
        return lambda found: is_number(found) and low <= found <= high

    def in_words(self) -> str:
        return f"{self.value:.12g} ± {self.within:.12g}"


_COMPARE: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "$gt": (">", operator.gt),
    "$gte": ("≥", operator.ge),
    "$lt": ("<", operator.lt),
    "$lte": ("≤", operator.le),
}


class Compare(Matcher, frozen=True):
    """A number above or below another."""

    word: str
    bound: float

    def compile(self) -> Fits:
        holds, bound = _COMPARE[self.word][1], self.bound
        return lambda found: is_number(found) and holds(found, bound)

    def in_words(self) -> str:
        return f"{_COMPARE[self.word][0]} {self.bound:.12g}"


class TypeIs(Matcher, frozen=True):
    """A value of one of these JSON types."""

    types: tuple[str, ...]

    def compile(self) -> Fits:
        some = [TYPES[name] for name in self.types]
        return lambda found: any(fits(found) for fits in some)

    def in_words(self) -> str:
        return f"of type {' or '.join(self.types)}"


class Present(Matcher, frozen=True):
    """There, whatever it is."""

    def compile(self) -> Fits:
        return lambda found: found is not MISSING

    def in_words(self) -> str:
        return "anything"


class Absent(Matcher, frozen=True):
    """Not there."""

    def compile(self) -> Fits:
        return lambda found: found is MISSING

    def in_words(self) -> str:
        return "nothing"


class Ignore(Matcher, frozen=True):
    """There or not."""

    def compile(self) -> Fits:
        return lambda found: True

    def in_words(self) -> str:
        return "anything or nothing"
