"""Finds comparisons in formulas that come out the same whatever the metrics are: `pass_rate * 0 = 0` gates nothing.

Every comparison is tried with many values of its metrics: the ends of their ranges, the numbers that the formulas
name and their neighbours, and a grid between. An inequality that never changes, and an equation whose sides always
differ by the same amount, cannot depend on the agent.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice, product

from passmuster.scoring._formula_values import Value, evaluate, metrics_of, parts_of, value_of
from passmuster.suite import Expression, Formula, Name, Number, Operation, Prefix

_TRIES = 3_000
_OTHERS = 300
_NEAR = 1e-6
_GRID = (0.0, 0.25, 0.5, 0.75, 1.0)
_SIZES = (0.0, *(10.0**power for power in range(-6, 16, 3)), 1e100)
_TRUTHS = (">=", "<=", ">", "<", "=", "!=", "and", "or", "not")
_SIGNS = {"*": "×", "/": "÷", "and": "AND", "or": "OR"}


def idle_comparisons(formulas: Sequence[Formula], rates: Collection[str]) -> Iterator[tuple[Formula, str]]:
    """What is wrong with each formula that `pass` depends on; `rates` are the metrics that lie between 0 and 1."""
    names = sorted(metrics_of(formulas, "pass"))
    tries = list(islice(_tries(names, formulas, rates), _TRIES))
    results = [evaluate(formulas, values) for values in tries]
    needed = [formula for formula in formulas if formula.name in _needed(formulas)]
    # An equation holds for hardly any of the values tried, so that what is made of one may seem never to change.
    only_comparisons = any(_is_rare(part) for formula in needed for part in parts_of(formula.tree))
    for formula in needed:
        for part in _truths(formula.tree):
            if only_comparisons and (isinstance(part, Prefix) or part.steps[0].operator in ("and", "or")):
                continue
            known = _known_truth(part, tries, results)
            if known is not None:
                told = f"'{_written(part)}' could never {'fail' if known else 'hold'}"
                yield formula, f"{told}, whatever the metrics are"
                return  # what contains it never changes either


def asks_for_more(formulas: Sequence[Formula], metric: str, rates: Collection[str]) -> bool:
    """Whether a lower value of this metric can make `pass` false, all others being equal."""
    names = sorted(metrics_of(formulas, "pass"))
    values = _choices(metric, formulas, rates)
    for tried in islice(_tries(names, formulas, rates), _OTHERS):
        failed = False
        for value in values:  # from the lowest
            holds = evaluate(formulas, {**tried, metric: value})["pass"] is True
            if holds and failed:
                return True
            failed = failed or not holds
    return False


def _needed(formulas: Sequence[Formula]) -> set[str]:
    """The formulas that `pass` depends on, itself among them."""
    needed = {"pass"}
    for formula in reversed(formulas):  # each uses only those above it
        if formula.name in needed:
            needed |= {part.name for part in parts_of(formula.tree) if isinstance(part, Name)}
    return needed


def _tries(
    names: Sequence[str], formulas: Sequence[Formula], rates: Collection[str]
) -> Iterator[Mapping[str, float | None]]:
    choices = [_choices(name, formulas, rates) for name in names]
    for place in (0, -1):  # all at their least, all at their most
        yield dict(zip(names, (one[place] for one in choices), strict=True))
    total = 1
    for one in choices:
        total *= len(one)
    if total <= _TRIES:
        yield from (dict(zip(names, values, strict=True)) for values in product(*choices))
        return
    drawn = random.Random(0)  # the same in every run
    while True:
        ends = drawn.random() < 0.3
        yield {name: drawn.choice((one[0], one[-1]) if ends else one) for name, one in zip(names, choices, strict=True)}


def _choices(name: str, formulas: Sequence[Formula], rates: Collection[str]) -> list[float]:
    """The values that a metric is tried with, from the lowest."""
    stated = {part.value for formula in formulas for part in parts_of(formula.tree) if isinstance(part, Number)}
    near = {value + step for value in stated for step in (-_NEAR, 0.0, _NEAR)}
    most = 1.0 if name in rates else float("inf")
    return sorted(value for value in {*(_GRID if name in rates else _SIZES), *near} if 0 <= value <= most)


def _known_truth(
    tree: Operation | Prefix, tries: Sequence[Mapping[str, float | None]], results: Sequence[Mapping[str, Value]]
) -> bool | None:
    """What a truth value always is; None where it depends on the metrics."""
    equation = isinstance(tree, Operation) and tree.steps[0].operator in ("=", "!=")
    truths: set[bool] = set()
    apart: list[float] = []
    for values, found in zip(tries, results, strict=True):
        truth = value_of(tree, values, found)
        truths.add(bool(truth))  # without a value it does not hold
        if len(truths) > 1:
            return None
        if equation and isinstance(tree, Operation):
            left, right = value_of(tree.first, values, found), value_of(tree.steps[0].operand, values, found)
            if left is not None and right is not None:
                apart.append(left - right)
    if apart and max(apart) - min(apart) > 1e-12:
        return None
    return truths.pop()


def _is_rare(part: Expression) -> bool:
    """Whether this is an equation of more than a name and a number, whose solution is not among the values tried."""
    if not isinstance(part, Operation) or part.steps[0].operator not in ("=", "!="):
        return False
    return {type(part.first), type(part.steps[0].operand)} != {Name, Number}


def _truths(tree: Expression) -> Iterator[Operation | Prefix]:
    """The truth values in a formula, the innermost first."""
    for part in reversed(list(parts_of(tree))):
        operator = part.steps[0].operator if isinstance(part, Operation) else getattr(part, "operator", "")
        if isinstance(part, Operation | Prefix) and operator in _TRUTHS:
            yield part


def _written(tree: Expression, *, inner: bool = False) -> str:
    match tree:
        case Number():
            return f"{tree.value:g}"
        case Name():
            return tree.name
        case Prefix():
            return f"{'NOT ' if tree.operator == 'not' else '-'}{_written(tree.operand, inner=True)}"
        case Operation():
            joins = tree.steps[0].operator in ("+", "-", "and", "or")
            steps = (
                f" {_SIGNS.get(step.operator, step.operator)} {_written(step.operand, inner=True)}"
                for step in tree.steps
            )
            text = _written(tree.first, inner=True) + "".join(steps)
            return f"({text})" if inner and joins else text
