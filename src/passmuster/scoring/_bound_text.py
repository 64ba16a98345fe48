"""Bounds on metrics as people write them: `90`, `0.9`, `"≥ 85%"`, `"< 5000ms"`, `{min: 90, confidence: 95%}`.

A bare number for a rate is a percentage above 1 and a fraction up to 1. Without a comparator the metric's own
direction decides. What could never fail, or never hold, is refused: neither can be meant.
"""

from decimal import Decimal
from typing import Annotated, ClassVar

from msgspec.structs import replace

from passmuster.scoring._metric import SuiteMetric
from passmuster.suite import (
    BOUND_SCHEMA,
    CONFIDENCE,
    Bound,
    Choice,
    Comment,
    Custom,
    JsonSchema,
    Key,
    Mapping,
    Node,
    Operator,
    Quantity,
    Reader,
    Record,
    RecordOf,
    Unread,
    as_rate,
    decimal_digits,
    number_text,
    quantity_of,
    read_record,
)

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
_NUMBER = Custom("a number", lambda reader, node, at: None, BOUND_SCHEMA)


def read_bound(reader: Reader, node: Node, at: str, metric: SuiteMetric) -> Bound | None:
    """The bound that a number, a text or a map states; None with a problem noted."""
    if isinstance(node, Mapping):
        return _from_map(reader, node, at, metric)
    return _from_scalar(reader, node, at, metric)


def _from_scalar(
    reader: Reader, node: Node, at: str, metric: SuiteMetric, operator: Operator | None = None
) -> Bound | None:
    """The bound in a scalar, whose comparator is `operator` where a key such as `min` has said it already."""
    try:
        written = _quantity(node)
        if operator and written.comparator:
            raise ValueError(f"the key says which way already; leave '{written.comparator}' out")
        own: Operator = ">=" if metric.better == "up" else "<="
        bound = _bound(node, metric, operator or _COMPARATORS.get(written.comparator, own), _value(written, metric))
        _refuse_idle(bound, metric)
    except ValueError as mistake:
        reader.problem(node, f"{at}: {mistake}")
        return None
    return bound


def _quantity(node: Node) -> Quantity:
    """The comparator, number and unit of a scalar."""
    expected = 'a bound such as 90, 0.9, ">= 85%" or "< 5000ms"'
    text = number_text(node)
    if text is None:
        raise ValueError(f"expected {expected}, or a map with 'min' or 'max'")
    found = quantity_of(text)
    if found is None:
        raise ValueError(f"expected {expected}, found '{text.strip()[:40]}'")
    if found.comparator and found.comparator not in _COMPARATORS:
        raise ValueError(f"'{found.comparator}' is no comparator; write one of >=, <=, >, <, =")
    return found


def _value(written: Quantity, metric: SuiteMetric) -> float:
    """The number in the metric's own unit: a rate as a fraction."""
    number, unit = written.number, written.unit
    if number < 0:
        raise ValueError(f"no value of '{metric.name}' is below 0, so a bound cannot be; found {number}")
    if metric.rate:
        if unit not in ("", "%"):
            raise ValueError(f"'{metric.name}' is a rate and has no unit '{unit}'; write 90% or 0.9")
        number = as_rate(number, unit)
        if number > 1:
            raise ValueError(f"'{metric.name}' is a rate and cannot be above 100%")
        return float(number)
    if unit == "%":
        raise ValueError(f"'{metric.name}' is not a rate, so it has no percentage; write {metric.example}")
    if unit:
        if unit.lower() not in metric.spellings:
            raise ValueError(f"the unit '{unit}' does not fit '{metric.name}'; write {metric.example}")
        number *= metric.spellings[unit.lower()]
    return float(number)


def _bound(node: Node, metric: SuiteMetric, operator: Operator, value: float) -> Bound:
    number = Decimal(repr(value))  # not the float itself, whose digits nobody wrote
    shown = (
        f"{decimal_digits(number.scaleb(2))}%"
        if metric.rate
        else f"{decimal_digits(number * metric.per_tokens)} {metric.shown_unit}"
    )
    return Bound(
        metric=metric.name,
        operator=operator,
        value=value,
        rate=metric.rate,
        text=f"{operator} {shown}".rstrip(),
        line=node.line,
        column=node.column,
    )


def _refuse_idle(bound: Bound, metric: SuiteMetric) -> None:
    """No metric is below 0, and no rate above 1: a bound that those values tell nothing of decides nothing."""
    from_below = bound.operator in (">=", ">")
    if bound.operator == "=":
        return
    if from_below:
        never_fails, never_holds = bound.holds(0.0), metric.rate and not bound.holds(1.0)
    else:
        never_fails, never_holds = metric.rate and bound.holds(1.0), not bound.holds(0.0)
    if never_fails:
        raise ValueError(f"'{metric.name} {bound.text}' could never fail")
    if never_holds:
        raise ValueError(f"'{metric.name} {bound.text}' could never hold")


# ── Maps ────────────────────────────────────────────────────────────────────────────────────────────────────


class BoundMap(Record, frozen=True, kw_only=True):
    """A bound that the metric has to keep with some confidence."""

    schema_extra: ClassVar[JsonSchema] = {"oneOf": [{"required": ["min"]}, {"required": ["max"]}]}

    min: Annotated[Node | None, Unread(_NUMBER), Key("At least this.", example=90)] = None
    max: Annotated[Node | None, Unread(_NUMBER), Key("At most this.", example="5s")] = None
    confidence: Annotated[float | None, CONFIDENCE, Key("How sure the gate has to be.", example="95%")] = None
    undecided: Annotated[str, Choice("warn", "block"), Key("What happens while that is open.", needs="confidence")] = (
        "warn"
    )
    description: Comment = None


BOUND = Custom(
    "a bound",
    lambda reader, node, at: None,
    lambda definitions: {"anyOf": [*_NUMBER.schema(definitions)["anyOf"], RecordOf(BoundMap).schema(definitions)]},
)
"""What a bound looks like; it is read by `read_bound`, which knows the metric."""


def _from_map(reader: Reader, node: Mapping, at: str, metric: SuiteMetric) -> Bound | None:
    found = read_record(BoundMap, reader, node, at) or BoundMap()
    bound = None
    if found.min is not None and found.max is not None:
        other = [entry for entry in node if entry.key in ("min", "max")][1]
        reader.problem(other, f"{at}: one bound is 'min' or 'max'; state the other one under 'thresholds.risk'")
    elif found.min is not None:
        bound = _from_scalar(reader, found.min, f"{at}.min", metric, ">=")
    elif found.max is not None:
        bound = _from_scalar(reader, found.max, f"{at}.max", metric, "<=")
    else:
        reader.problem(node, f"{at}: needs 'min' or 'max'")
    if bound is None or found.confidence is None:
        return bound
    if why := _why_unsure(bound, metric):
        reader.problem(node.entries["confidence"], f"{at}.confidence: {why}")
    return replace(bound, confidence=found.confidence, undecided_blocks=found.undecided == "block")


def _why_unsure(bound: Bound, metric: SuiteMetric) -> str | None:
    """Why confidence in this bound can never be reached."""
    if not metric.has_interval:
        return f"no interval is defined for '{metric.name}'; leave 'confidence' out"
    if bound.full or (metric.rate and bound.holds(0.0) and bound.value <= 0):
        reach = "100%" if bound.full else "0%"
        return f"no sample can show that a rate is {reach}; leave 'confidence' out, or ask for less"
    return None
