"""Numbers with a comparator or a unit (`>= 85%`, `5s`, `$0.5`), shares (`1%`, `0.01`), rates (`90`, `0.9`), weights."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Literal, cast

from msgspec import Struct

from passmuster.suite.grammar._reader import Reader
from passmuster.suite.grammar._values import Custom, JsonSchema
from passmuster.suite.text._nodes import Node, Scalar

RepeatPolicy = Literal["all", "any", "majority"] | float
"""How many of a scenario's runs have to pass; a number is the fraction of them."""

_SMALLEST = 1e-9
"""What `>=` allows: a share as small as this would hold where there is nothing at all."""
_LONGEST = 100
_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_QUANTITY = rf"(?P<comparator>[<>=≥≤≠!]*)\s*(?P<dollar>\$?)\s*(?P<number>{_NUMBER})\s*(?P<unit>%|\$|[a-zA-Z]*)"


class Quantity(Struct, frozen=True):
    """The parts of a number as it was written."""

    comparator: str
    number: Decimal
    unit: str


def quantity_of(text: str) -> Quantity | None:
    """The parts of a text; None if it is no quantity. Raises `ValueError` for a number that no float can hold."""
    found = re.fullmatch(_QUANTITY, text.strip()) if len(text) <= _LONGEST else None
    if found is None or (found["dollar"] and found["unit"]):
        return None
    number = Decimal(found["number"])
    if number and not -300 <= number.adjusted() <= 300:
        raise ValueError(f"the number '{found['number']}' is too large to be compared")
    return Quantity(found["comparator"], number, found["dollar"] or found["unit"])


def number_text(node: Node) -> str | None:
    """The text of a node that is a string or a number."""
    value = node.value if isinstance(node, Scalar) else None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return value if isinstance(value, str) else repr(value)


def as_rate(number: Decimal, unit: str) -> Decimal:
    """A rate as a fraction: a bare number is a percentage above 1 and a fraction up to 1."""
    return number.scaleb(-2) if unit == "%" or number > 1 else number


def decimal_digits(number: Decimal) -> str:
    """The number without an exponent, unless it would be too long to read."""
    number = number.normalize()
    return f"{number:f}" if -12 <= number.adjusted() <= 15 else str(number)


# ── Shares and rates ────────────────────────────────────────────────────────────────────────────────────────


def share(text: str) -> float:
    """What `1%` or `0.01` says, as a fraction from 0 to 1. Raises `ValueError` with a message for the user.

    A bare number of 1 or more could be meant either way, so it has to say which.
    """
    found = quantity_of(text)
    if found is None or found.comparator or found.unit not in ("", "%"):
        raise ValueError(f"expected a share such as 1% or 0.01, found '{text[:40]}'")
    number = found.number
    if not found.unit and number >= 1:
        clear = f"write {decimal_digits(number)}% or a number below 1"
        raise ValueError(f"'{text}' may mean a percentage or a fraction; {clear}")
    value = float(number.scaleb(-2) if found.unit else number)
    if not 0 <= value <= 1:
        raise ValueError(f"expected a share from 0% to 100%, found '{text[:40]}'")
    return value


def read_share(reader: Reader, node: Node, at: str) -> float:
    """The share that a node states, as a fraction; 0 with a problem noted."""
    text = number_text(node)
    if text is None:
        reader.expected("a share such as 1% or 0.01", node, at)
        return 0.0
    try:
        return share(text)
    except ValueError as error:
        reader.problem(node, f"{at}: {error}")
        return 0.0


def _read_confidence(reader: Reader, node: Node, at: str) -> float:
    before = len(reader.problems)
    value = read_share(reader, node, at)
    if not 0 < value < 1:
        if len(reader.problems) == before:
            reader.problem(node, f"{at}: has to lie between 0% and 100%, such as 95%")
        return 0.95
    return value


def _read_max_drop(reader: Reader, node: Node, at: str) -> float:
    value = read_share(reader, node, at)
    if value >= 1:
        reader.problem(node, f"{at}: a drop of 100% could never fail")
    return value


def fraction(node: Node) -> float | None:
    """The rate above 0 and up to 1 that a node states the way bounds do; None for anything else."""
    try:
        found = quantity_of(number_text(node) or "")
    except ValueError:
        return None
    if found is None or found.comparator or found.unit not in ("", "%"):
        return None
    rate = as_rate(found.number, found.unit)
    return float(rate) if _SMALLEST < rate <= 1 else None


def _read_repeat_policy(reader: Reader, node: Node, at: str) -> RepeatPolicy:
    if isinstance(node, Scalar) and node.value in ("all", "any", "majority"):
        return cast('Literal["all", "any", "majority"]', node.value)
    rate = fraction(node)
    if rate is None:
        reader.expected("all, any, majority, or a rate above 0% and up to 100%", node, at)
    return rate or "all"


_SECONDS = {
    "": Decimal(1),
    "ms": Decimal("0.001"),
    "s": Decimal(1),
    "m": Decimal(60),
    "min": Decimal(60),
    "h": Decimal(3600),
}
_LONGEST_TIME = 86_400


def _read_duration(reader: Reader, node: Node, at: str) -> float:
    """Seconds; a bare number is a number of them."""
    try:
        found = quantity_of(number_text(node) or "")
    except ValueError:
        found = None
    if found is not None and not found.comparator and found.unit in _SECONDS:
        seconds = float(found.number * _SECONDS[found.unit])
        if 0 < seconds <= _LONGEST_TIME:
            return seconds
    reader.expected("a time above 0 and up to a day, such as 90, 500ms or 2m", node, at)
    return 1.0


# ── Value types ─────────────────────────────────────────────────────────────────────────────────────────────


def limited(words: str, schema: JsonSchema, holds: Callable[[float], bool], zero: str = "") -> Custom[float]:
    """A finite number within limits; `zero` is added to the message about a number that is nearly 0."""

    def read(reader: Reader, node: Node, at: str) -> float:
        value = node.value if isinstance(node, Scalar) else None
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < float("inf"):
            value = None
        if value is None or not holds(value):
            why = zero if value is not None and 0 <= value <= _SMALLEST else ""
            reader.expected(words + why, node, at)
            return 1.0
        return float(value)

    return Custom(words, read, {"type": "number", **schema})


_SHARE_TEXT = {"type": "string", "pattern": rf"^\s*{_NUMBER}\s*%?\s*$"}
_SHARE_SCHEMA = {"anyOf": [{"type": "number", "minimum": 0, "exclusiveMaximum": 1}, _SHARE_TEXT]}
_RATE_SCHEMA = {"type": "number", "exclusiveMinimum": 0, "maximum": 100}
BOUND_SCHEMA = {
    "anyOf": [
        {"type": "number", "minimum": 0},
        {"type": "string", "pattern": rf"^\s*(>=|≥|<=|≤|>|<|==?)?\s*\$?\s*{_NUMBER}\s*(%|\$|[a-zA-Z]*)\s*$"},
    ]
}
CONFIDENCE = Custom("a share such as 95%", _read_confidence, _SHARE_SCHEMA)
MAX_DROP = Custom("a share such as 1%", _read_max_drop, _SHARE_SCHEMA)
REPEAT_POLICY = Custom(
    "all | any | majority, or a rate",
    _read_repeat_policy,
    {"anyOf": [{"enum": ["all", "any", "majority"]}, _RATE_SCHEMA, _SHARE_TEXT]},
)
_HEAVIEST = 1e100
"""The product of three weights is still far from the largest double."""
WEIGHT = limited(
    "a weight from 0 to 1e100", {"minimum": 0, "maximum": _HEAVIEST}, lambda value: 0 <= value <= _HEAVIEST
)
PASS_SCORE = limited(
    "a number from 0 to 1",
    {"minimum": 0, "maximum": 1},
    lambda value: value == 0 or _SMALLEST < value <= 1,
    zero="; so small a score could never fail, write 0 to measure without gating",
)
MILLISECONDS = limited("a number of milliseconds above 0", {"exclusiveMinimum": 0}, lambda value: value > 0)
DURATION = Custom(
    "seconds, or a time such as 2m",
    _read_duration,
    {
        "anyOf": [
            {"type": "number", "exclusiveMinimum": 0, "maximum": _LONGEST_TIME},
            {"type": "string", "pattern": rf"^\s*{_NUMBER}\s*(ms|s|m|min|h)?\s*$"},
        ]
    },
)
