"""Numbers with a comparator or a unit (`>= 85%`, `5s`, `$0.5`), shares (`1%`, `0.01`) and rates (`90`, `0.9`)."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, Literal, cast

from msgspec import Struct

from passmuster.suite._gate_model import RepeatPolicy
from passmuster.suite.grammar._reader import Reader
from passmuster.suite.text._nodes import Mapping, Node, Scalar

__all__ = [
    "Quantity",
    "as_rate",
    "decimal_digits",
    "finite",
    "fraction",
    "number_text",
    "quantity_of",
    "read_confidence",
    "read_repeat_policy",
    "read_scenario_keys",
    "read_share",
    "read_weight",
    "share",
]

SMALLEST = 1e-9
"""What `>=` allows: a share as small as this would hold where there is nothing at all."""
_LONGEST = 100
_QUANTITY = re.compile(
    r"(?P<comparator>[<>=≥≤≠!]*)\s*"
    r"(?P<dollar>\$?)\s*(?P<number>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?)\s*(?P<unit>%|\$|[a-z]*)",
    re.IGNORECASE,
)


class Quantity(Struct, frozen=True):
    """The parts of a number as it was written."""

    comparator: str
    number: Decimal
    unit: str


def quantity_of(text: str) -> Quantity | None:
    """The parts of a text; None if it is no quantity. Raises `ValueError` for a number that no float can hold."""
    found = _QUANTITY.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if found is None or (found["dollar"] and found["unit"]):
        return None
    number = Decimal(found["number"])
    if number and not -300 <= number.adjusted() <= 300:
        raise ValueError(f"the number '{found['number']}' is beyond what can be compared")
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


# ── Shares ──────────────────────────────────────────────────────────────────────────────────────────────────


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


def read_confidence(reader: Reader, node: Node, at: str) -> float:
    """A share that is neither 0 nor all: how sure one wants to be."""
    before = len(reader.problems)
    value = read_share(reader, node, at)
    if not 0 < value < 1:
        if len(reader.problems) == before:
            reader.problem(node, f"{at}: has to lie between 0% and 100%, such as 95%")
        return 0.95
    return value


# ── Scenarios ───────────────────────────────────────────────────────────────────────────────────────────────


def read_repeat_policy(reader: Reader, node: Node, at: str) -> RepeatPolicy:
    """`all`, `any`, `majority`, or the fraction of the runs that has to pass."""
    if isinstance(node, Scalar) and node.value in ("all", "any", "majority"):
        return cast('Literal["all", "any", "majority"]', node.value)
    rate = fraction(node)
    if rate is None:
        reader.expected("all, any, majority, or a rate above 0% and up to 100%", node, at)
        return "all"
    return rate


def fraction(node: Node) -> float | None:
    """The rate above 0 and up to 1 that a node states; None for anything else."""
    try:
        found = quantity_of(number_text(node) or "")
    except ValueError:
        return None
    if found is None or found.comparator or found.unit not in ("", "%"):
        return None
    rate = as_rate(found.number, found.unit)
    return float(rate) if SMALLEST < rate <= 1 else None


def read_scenario_keys(reader: Reader, map_: Mapping, at: str) -> dict[str, Any]:
    """What a scenario says about how it counts: `label`, `weight`, `pass_score`, `repeat`, `repeat_policy`."""
    found: dict[str, Any] = {}
    for entry in map_:
        place, value = f"{at}.{entry.key}", entry.value
        match entry.key:
            case "label":
                found["label"] = reader.text(value, place)
            case "weight":
                found["weight"] = read_weight(reader, value, place)
            case "pass_score":
                found["pass_score"] = _pass_score(reader, value, place)
            case "repeat":
                found["repeat"] = reader.whole(value, place, least=1)
            case "repeat_policy":
                found["repeat_policy"] = read_repeat_policy(reader, value, place)
    return found


def read_weight(reader: Reader, node: Node, at: str) -> float:
    """A weight, 0 or more; 1 with a problem noted."""
    value = finite(node)
    if value is None or value < 0:
        reader.expected("a weight of 0 or more", node, at)
        return 1.0
    return value


def _pass_score(reader: Reader, node: Node, at: str) -> float:
    value = finite(node)
    if value is None or not SMALLEST < value <= 1:
        why = "; a score of 0 could never fail" if value is not None and 0 <= value <= SMALLEST else ""
        reader.expected(f"a number above 0 and up to 1{why}", node, at)
        return 1.0
    return value


def finite(node: Node) -> float | None:
    """The number that a node states, or None if it states none that can be counted with."""
    value = node.value if isinstance(node, Scalar) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < float("inf"):
        return None
    return float(value)
