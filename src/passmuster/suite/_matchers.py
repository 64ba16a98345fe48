"""Matchers: what an argument, a result or an answer field has to be. This is their grammar.

A plain value means equal (numbers by value), a plain map each listed key, a plain list element by element;
`$` words say more. Several `$` words in one map must all hold.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from passmuster._problems import did_you_mean
from passmuster.suite.grammar import _globs as globs
from passmuster.suite.grammar._reader import Reader
from passmuster.suite.text._nodes import Mapping, Node, Scalar, Sequence, plain

__all__ = [
    "TYPES",
    "Absent",
    "AllOf",
    "Approx",
    "Compare",
    "Contains",
    "Equal",
    "Glob",
    "Ignore",
    "Items",
    "Keys",
    "Matcher",
    "Not",
    "OneOf",
    "Optional",
    "Present",
    "Regex",
    "TypeIs",
    "Unordered",
    "read_matcher",
]

TYPES = ("string", "number", "integer", "boolean", "object", "array", "null")


class Equal(Struct, frozen=True):
    """Equal to a literal, deeply; numbers by value."""

    value: Any


class Keys(Struct, frozen=True):
    """A map with at least these keys, each fitting."""

    keys: dict[str, Matcher]


class Items(Struct, frozen=True):
    """A list of just these, in this order."""

    items: list[Matcher]


class Unordered(Struct, frozen=True):
    """A list of just these, in any order."""

    items: list[Matcher]


class AllOf(Struct, frozen=True):
    """Several matchers at once."""

    parts: list[Matcher]


class OneOf(Struct, frozen=True):
    """Any one of several matchers."""

    options: list[Matcher]


class Not(Struct, frozen=True):
    """Present, and not fitting."""

    inner: Matcher


class Optional(Struct, frozen=True):
    """Missing, or fitting."""

    inner: Matcher


class Contains(Struct, frozen=True):
    """A list with a fitting element, or a text with this part."""

    inner: Matcher


class Regex(Struct, frozen=True):
    """A text in which the expression is found."""

    pattern: str


class Glob(Struct, frozen=True):
    """A text that fits the glob as a whole."""

    pattern: str


class Approx(Struct, frozen=True):
    """A number near another: within a distance, or within a fraction of it."""

    value: float
    within: float


class Compare(Struct, frozen=True):
    """A number above or below another."""

    word: str
    bound: float


class TypeIs(Struct, frozen=True):
    """A value of one of these JSON types."""

    types: tuple[str, ...]


class Present(Struct, frozen=True):
    """There, whatever it is."""


class Absent(Struct, frozen=True):
    """Not there."""


class Ignore(Struct, frozen=True):
    """There or not."""


Matcher = (
    Equal
    | Keys
    | Items
    | Unordered
    | AllOf
    | OneOf
    | Not
    | Optional
    | Contains
    | Regex
    | Glob
    | Approx
    | Compare
    | TypeIs
    | Present
    | Absent
    | Ignore
)

_FLAGS: dict[str, Matcher] = {"$any": Present(), "$ignore": Ignore(), "$absent": Absent()}
_COMPARE = ("$gt", "$gte", "$lt", "$lte")
_WORDS = (
    "$eq",
    *_FLAGS,
    "$optional",
    "$one_of",
    "$not",
    "$regex",
    "$glob",
    "$contains",
    "$approx",
    "$within",
    "$rel",
    *_COMPARE,
    "$type",
    "$unordered",
)


def read_matcher(reader: Reader, node: Node, at: str) -> Matcher:
    """The matcher that a node spells."""
    if isinstance(node, Sequence):
        return Items([read_matcher(reader, item, f"{at}[{n}]") for n, item in enumerate(node.items)])
    if isinstance(node, Scalar):
        if node.undefined_alias:
            reader.text(node, at)
        return Equal(node.value)
    words = [entry for entry in node if entry.key.startswith("$")]
    if not words:
        return Keys({entry.key: read_matcher(reader, entry.value, f"{at}.{entry.key}") for entry in node})
    for entry in node:
        if entry.key.startswith("x-"):
            continue
        if not entry.key.startswith("$"):
            reader.problem(entry, f"{at}: '{entry.key}' stands beside '{words[0].key}'; for a literal map use $eq")
        elif entry.key not in _WORDS:
            hint = did_you_mean(entry.key, _WORDS) or f"; known: {', '.join(_WORDS)}"
            reader.problem(entry, f"{at}: unknown matcher '{entry.key}'{hint}")
    parts = [
        _read_word(reader, node, entry.key, entry.value, f"{at}.{entry.key}") for entry in words if entry.key in _WORDS
    ]
    parts = [part for part in parts if part is not None]
    return parts[0] if len(parts) == 1 and parts[0] else AllOf([part for part in parts if part])


def _read_word(reader: Reader, whole: Mapping, word: str, node: Node, at: str) -> Matcher | None:
    if word in _FLAGS:
        if not (isinstance(node, Scalar) and node.value is True):
            reader.expected("true", node, at)
        return _FLAGS[word]
    if word in _COMPARE:
        return Compare(word, reader.number(node, at))
    match word:
        case "$eq":
            return Equal(plain(node))
        case "$optional":
            return Optional(read_matcher(reader, node, at))
        case "$not":
            return Not(read_matcher(reader, node, at))
        case "$contains":
            return Contains(read_matcher(reader, node, at))
        case "$one_of":
            options = reader.each(node, at, lambda item, place: read_matcher(reader, item, place))
            if not options:
                reader.problem(node, f"{at}: an empty list can never match")
            return OneOf(options)
        case "$unordered":
            return Unordered(reader.each(node, at, lambda item, place: read_matcher(reader, item, place)))
        case "$regex":
            return Regex(reader.regex(node, at))
        case "$glob":
            text = reader.text(node, at)
            if bad := globs.why_bad(text):
                reader.problem(node, f"{at}: {bad}")
            return Glob(text)
        case "$type":
            return TypeIs(tuple(reader.choice(item, at, TYPES) for item in reader.one_or_more(node)))
        case "$approx":
            return _read_approx(reader, whole, node, at)
        case _:  # $within and $rel are read with $approx
            if "$approx" not in whole:
                reader.problem(node, f"{at}: only means something beside $approx")
            return None


def _read_approx(reader: Reader, whole: Mapping, node: Node, at: str) -> Matcher:
    value = reader.number(node, at)
    within, rel = whole.get("$within"), whole.get("$rel")
    if (within is None) == (rel is None):
        reader.problem(node, f"{at}: needs either $within (a distance) or $rel (a fraction) beside it")
        return Approx(value, 0)
    distance = reader.number(within, at) if within is not None else reader.number(rel, at) * abs(value)  # type: ignore[arg-type]
    if distance < 0:
        reader.problem(node, f"{at}: a negative tolerance can never match")
    return Approx(value, distance)
