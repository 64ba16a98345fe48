"""What formulas name, and what they come to. Nothing in a suite is executed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from passmuster.suite import Expression, Formula, Name, Number, Operation, Prefix, compare

Value = float | bool | None


def evaluate(formulas: Sequence[Formula], values: Mapping[str, float | None]) -> dict[str, Value]:
    """Each formula's value: a number, a truth value, or None where a metric or a quotient has none."""
    found: dict[str, Value] = {}
    for formula in formulas:
        found[formula.name] = value_of(formula.tree, values, found)
    return found


def value_of(tree: Expression, values: Mapping[str, float | None], found: Mapping[str, Value]) -> Value:
    """What an expression comes to, given the metrics and the formulas above it."""
    match tree:
        case Number():
            return tree.value
        case Name():
            return found[tree.name] if tree.name in found else _finite(values.get(tree.name))
        case Prefix():
            operand = value_of(tree.operand, values, found)
            if operand is None:
                return None
            return not operand if tree.operator == "not" else -operand
        case Operation():
            result = value_of(tree.first, values, found)
            for step in tree.steps:
                operand = value_of(step.operand, values, found)
                result = None if result is None or operand is None else _step(result, step.operator, operand)
            return result


def _step(left: float | bool, operator: str, right: float | bool) -> Value:
    match operator:
        case "and":
            return bool(left) and bool(right)
        case "or":
            return bool(left) or bool(right)
        case "+":
            return _finite(left + right)
        case "-":
            return _finite(left - right)
        case "*":
            return _finite(left * right)
        case "/":
            return _finite(left / right) if right else None
        case _:
            return compare(left, operator, right)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def names_in(formula: Formula) -> set[str]:
    """The metrics and formulas that a formula names."""
    return {part.name for part in parts_of(formula.tree) if isinstance(part, Name)}


def metrics_of(formulas: Sequence[Formula], name: str) -> set[str]:
    """The metrics that a formula depends on, also through other formulas."""
    found: dict[str, set[str]] = {}
    for formula in formulas:  # each uses only those above it
        found[formula.name] = set().union(*(found.get(word, {word}) for word in names_in(formula)))
    return found.get(name, set())


def parts_of(tree: Expression) -> Iterator[Expression]:
    """The expression and everything in it."""
    yield tree
    match tree:
        case Prefix():
            yield from parts_of(tree.operand)
        case Operation():
            yield from parts_of(tree.first)
            for step in tree.steps:
                yield from parts_of(step.operand)
