"""Bounds on metrics as people write them: `90`, `0.9`, `"≥ 85%"`, `"< 5000ms"`, `{min: 90, confidence: 95%}`.

A bare number for a rate is a percentage above 1 and a fraction up to 1. Without a comparator the metric's own
direction decides. What could never fail, or never hold, is refused: neither can be meant.
"""

from __future__ import annotations

import re
from decimal import Decimal

from msgspec import Struct
from msgspec.structs import replace

from passmuster.suite._gate_model import Bound, Operator
from passmuster.suite._metric_names import MetricName
from passmuster.suite.grammar._reader import Reader
from passmuster.suite.text._nodes import Mapping, Node, Scalar

__all__ = ["SMALLEST", "UNITS", "Bound", "fraction", "read_bound", "read_confidence", "read_share", "share"]

_COMPARATORS: dict[str, Operator] = {
    ">=": ">=",
    "≥": ">=",
    "<=": "<=",
    "≤": "<=",
    ">": ">",
    "<": "<",
    "=": "=",
    "==": "=",
}
_WRITTEN = re.compile(
    r"(?P<comparator>[<>=≥≤≠!]*)\s*"
    r"(?P<dollar>\$?)\s*(?P<number>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?)\s*(?P<unit>%|\$|[a-z]*)",
    re.IGNORECASE,
)
UNITS: dict[str, dict[str, int]] = {
    "ms": {"ms": 1, "milliseconds": 1, "s": 1000, "seconds": 1000},
    "USD": {"usd": 1, "$": 1},
    "tokens": {"tokens": 1},
    "": {},
}
"""How the unit of a metric may be written, and how many of it that is."""
_LONGEST = 100
SMALLEST = 1e-9
"""What `≥` allows: a share as small as this would hold where there is nothing at all."""
_MAP_KEYS = ("min", "max", "confidence", "undecided", "description")


class _Written(Struct, frozen=True):
    """The parts of a bound, before anything is known of the metric."""

    comparator: str
    number: Decimal
    unit: str


class _Mistake(ValueError):
    """What is wrong with a bound, for the person who wrote it."""


def read_bound(reader: Reader, node: Node, at: str, metric: MetricName) -> Bound | None:
    """The bound that a number, a text or a map states; None with a problem noted."""
    if isinstance(node, Mapping):
        return _from_map(reader, node, at, metric)
    return _from_scalar(reader, node, at, metric)


def _from_scalar(
    reader: Reader, node: Node, at: str, metric: MetricName, operator: Operator | None = None
) -> Bound | None:
    """The bound in a scalar, whose comparator is `operator` where a key such as `min` has said it already."""
    try:
        written = _taken_apart(node)
        if operator and written.comparator:
            raise _Mistake(f"the key says which way already; leave '{written.comparator}' out")
        own: Operator = ">=" if metric.better == "up" else "<="
        bound = _bound(node, metric, operator or _COMPARATORS.get(written.comparator, own), _value(written, metric))
        _refuse_idle(bound, metric)
    except _Mistake as mistake:
        reader.problem(node, f"{at}: {mistake}")
        return None
    return bound


def _taken_apart(node: Node) -> _Written:
    """The comparator, number and unit of a scalar."""
    expected = 'a bound such as 90, 0.9, ">= 85%" or "< 5000ms"'
    value = node.value if isinstance(node, Scalar) else None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise _Mistake(f"expected {expected}, or a map with 'min' or 'max'")
    text = value.strip() if isinstance(value, str) else repr(value)
    found = _WRITTEN.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None or (found["dollar"] and found["unit"]):
        raise _Mistake(f"expected {expected}, found '{text[:40]}'")
    if found["comparator"] and found["comparator"] not in _COMPARATORS:
        raise _Mistake(f"'{found['comparator']}' is no comparator; write one of >=, <=, >, <, =")
    return _Written(found["comparator"], _decimal(found["number"]), found["dollar"] or found["unit"])


def _decimal(text: str) -> Decimal:
    number = Decimal(text)
    if number and not -300 <= number.adjusted() <= 300:
        raise _Mistake(f"the number '{text}' is beyond what can be compared")
    return number


def _value(written: _Written, metric: MetricName) -> float:
    """The number in the metric's own unit: a rate as a fraction."""
    number, unit = written.number, written.unit
    if number < 0:
        raise _Mistake(f"no value of '{metric.name}' is below 0, so a bound cannot be; found {number}")
    if metric.rate:
        if unit not in ("", "%"):
            raise _Mistake(f"'{metric.name}' is a rate and has no unit '{unit}'; write 90% or 0.9")
        if unit == "%" or number > 1:
            number = number.scaleb(-2)
        if number > 1:
            raise _Mistake(f"'{metric.name}' is a rate and cannot be above 100%")
        return float(number)
    if unit == "%":
        raise _Mistake(f"'{metric.name}' is not a rate, so it has no percentage; write {_example(metric)}")
    if unit:
        known = UNITS[metric.unit]
        if unit.lower() not in known:
            raise _Mistake(f"the unit '{unit}' does not fit '{metric.name}'; write {_example(metric)}")
        number *= known[unit.lower()]
    return float(number)


def _example(metric: MetricName) -> str:
    return {"ms": "5000, 5000ms or 5s", "USD": "0.5, 0.5 USD or $0.5", "tokens": "20000"}.get(metric.unit, "a number")


def _bound(node: Node, metric: MetricName, operator: Operator, value: float) -> Bound:
    number = Decimal(repr(value))  # not the float itself, whose digits nobody wrote
    shown = f"{_digits(number.scaleb(2))}%" if metric.rate else f"{_digits(number * metric.tokens)} {metric.shown_unit}"
    return Bound(
        metric=metric.name,
        operator=operator,
        value=value,
        rate=metric.rate,
        text=f"{operator} {shown}".rstrip(),
        line=node.line,
        column=node.column,
    )


def _digits(number: Decimal) -> str:
    """The number without an exponent, unless it would be too long to read."""
    number = number.normalize()
    return f"{number:f}" if -12 <= number.adjusted() <= 15 else str(number)


def _refuse_idle(bound: Bound, metric: MetricName) -> None:
    """No metric is below 0, and no rate above 1: a bound that those values tell nothing of decides nothing."""
    from_below = bound.operator in (">=", ">")
    if bound.operator == "=":
        return
    if from_below:
        never_fails, never_holds = bound.holds(0.0), metric.rate and not bound.holds(1.0)
    else:
        never_fails, never_holds = metric.rate and bound.holds(1.0), not bound.holds(0.0)
    if never_fails:
        raise _Mistake(f"'{metric.name} {bound.text}' could never fail")
    if never_holds:
        raise _Mistake(f"'{metric.name} {bound.text}' could never hold")


# ── Maps ────────────────────────────────────────────────────────────────────────────────────────────────────


def _from_map(reader: Reader, node: Mapping, at: str, metric: MetricName) -> Bound | None:
    map_ = reader.mapping(node, at, _MAP_KEYS)
    reader.optional_text(map_, "description", at, empty=True)
    sides = [entry for entry in map_ if entry.key in ("min", "max")]
    bound = None
    if len(sides) == 1:
        operator: Operator = ">=" if sides[0].key == "min" else "<="
        bound = _from_scalar(reader, sides[0].value, f"{at}.{sides[0].key}", metric, operator)
    elif sides:
        reader.problem(sides[1], f"{at}: one bound is 'min' or 'max'; state the other one under 'thresholds.risk'")
    else:
        reader.problem(map_, f"{at}: needs 'min' or 'max'")
    confidence, undecided = map_.get("confidence"), map_.get("undecided")
    if undecided is not None and confidence is None:
        reader.problem(map_.entries["undecided"], f"{at}: 'undecided' means nothing without 'confidence'")
    blocks = undecided is not None and reader.choice(undecided, f"{at}.undecided", ("warn", "block")) == "block"
    level = read_confidence(reader, confidence, f"{at}.confidence") if confidence is not None else None
    if bound is None or confidence is None:
        return bound
    if why := _why_unsure(bound, metric):
        reader.problem(map_.entries["confidence"], f"{at}.confidence: {why}")
    return replace(bound, confidence=level, undecided_blocks=blocks)


def _why_unsure(bound: Bound, metric: MetricName) -> str | None:
    """Why confidence in this bound can never be reached."""
    if not metric.interval:
        return f"no interval is defined for '{metric.name}'; leave 'confidence' out"
    if bound.full or (metric.rate and bound.holds(0.0) and bound.value <= 0):
        reach = "100%" if bound.full else "0%"
        return f"no sample can show that a rate is {reach}; leave 'confidence' out, or ask for less"
    return None


# ── Shares ──────────────────────────────────────────────────────────────────────────────────────────────────


def share(text: str) -> float:
    """What `1%` or `0.01` says, as a fraction from 0 to 1; `ValueError`, worded for its author, for anything else.

    A bare number of 1 or more could be meant either way, so it has to say which.
    """
    found = _WRITTEN.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if found is None or found["comparator"] or found["dollar"] or found["unit"] not in ("", "%"):
        raise ValueError(f"expected a share such as 1% or 0.01, found '{text[:40]}'")
    number = _decimal(found["number"])
    if not found["unit"] and number >= 1:
        raise ValueError(f"'{text}' may mean a percentage or a fraction; write {_digits(number)}% or a number below 1")
    value = float(number.scaleb(-2) if found["unit"] else number)
    if not 0 <= value <= 1:
        raise ValueError(f"expected a share from 0% to 100%, found '{text[:40]}'")
    return value


def read_share(reader: Reader, node: Node, at: str) -> float:
    """The share that a node states, as a fraction; 0 with a problem noted."""
    value = node.value if isinstance(node, Scalar) else None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        reader.expected("a share such as 1% or 0.01", node, at)
        return 0.0
    try:
        return share(value if isinstance(value, str) else repr(value))
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


def fraction(node: Node) -> float | None:
    """A rate in (0, 1] that a number or text states the way bounds do, without a comparator; None for all else."""
    try:
        written = _taken_apart(node)
        value = _value(written, MetricName("a rate", "up", rate=True))
    except _Mistake:
        return None
    return value if value > SMALLEST and not written.comparator else None
