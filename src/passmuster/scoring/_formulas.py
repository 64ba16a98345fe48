"""Evaluates the formulas of `composite`.

An operand without a value makes the whole expression have none: `AND` and `OR` do not short-circuit around it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from passmuster.suite import Expression, Formula, Name, Number, Operation, Prefix, compare

Value = float | bool | None


def evaluate(formulas: Sequence[Formula], values: Mapping[str, float | None]) -> dict[str, Value]:
    """Each formula's value: a number, a truth value, or None where a metric or a quotient has none."""
    found: dict[str, Value] = {}
    for formula in formulas:
        found[formula.name] = _value(formula.tree, values, found)
    return found


def _value(tree: Expression, values: Mapping[str, float | None], found: Mapping[str, Value]) -> Value:
    match tree:
        case Number():
            return tree.value
        case Name():
            return found[tree.name] if tree.name in found else _finite(values.get(tree.name))
        case Prefix():
            operand = _value(tree.operand, values, found)
            if operand is None:
                return None
            return not operand if tree.operator == "not" else -operand
        case Operation():
            result = _value(tree.first, values, found)
            for step in tree.steps:
                operand = _value(step.operand, values, found)
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
