"""JSON values: their types, equality, and the value at a dotted path inside them."""

import re
from collections.abc import Callable
from typing import Any

_STEP = re.compile(r"\[(\d+)\]|([^.\[]+)")


class _Missing:
    """The value of an argument or field that is not there."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING = _Missing()


def path_of(key: str) -> list[str | int]:
    """The steps of a dotted path, `items[2].price`."""
    return [int(index) if index else name for index, name in _STEP.findall(key)]


def follow(value: Any, path: list[str | int]) -> Any:
    """The value at a path, or `MISSING`."""
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


def is_number(value: Any) -> bool:
    """Whether a value is a number; `true` is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "number": is_number,
    "integer": lambda value: is_number(value) and (isinstance(value, int) or value.is_integer()),
    "boolean": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "null": lambda value: value is None,
}
"""JSON Schema's names of types, and a function that says whether a value is of that type."""
