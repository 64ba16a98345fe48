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


_NEVER_A_STEP = r"\[(\*|-\d+|\d*:[\d:]*|\?.*|@.*|'.*'|\".*\"|first|last|any|all|i|n|)\]"


def why_bad_path(key: str) -> str | None:
    """Why no argument can be at this path; None where one may, as a path or as a name with these very characters."""
    if not key.strip():
        return "the name of the argument is empty, which can never fit"
    if key != key.strip():
        return f"'{key}' begins or ends with white space and can never fit"
    if re.match(r"\$(\.|\[|$)", key):
        plain = re.sub(r"^\$\.*", "", key)
        return (
            f"'{key}' can never fit: a path begins with the name of an argument, without '$'; write '{plain or 'name'}'"
        )
    if "[" in key and (found := re.search(_NEVER_A_STEP, key)):
        how = "for any element use $contains on the list" if found[1] in ("*", "", "any", "all") else "count from 0"
        return f"'{key}' can never fit: '{found[0]}' is no index; write '[0]', or {how}"
    if "*" in key:
        return f"'{key}' can never fit: an argument is named without wildcards"
    if re.search(r"\.\.|^\.|\.$|\.\[|\[\d+\][^.\[]|\[[^\]]*$|\[\D[^\]]*\]\.", key):
        return f"'{key}' is no path and can never fit; write it like 'items[0].price'"
    if key.startswith("/"):
        return f"'{key}' can never fit: write a path like 'items[0].price'"
    if re.search(r"\w\s*([<>=!]=?|≥|≤)\s*-?[\d.]+$", key):
        return f"'{key}' reads like a comparison and can never fit; write the comparison as a value, {{$gt: 5}}"
    return None


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


def argument_at(arguments: Any, key: str) -> Any:
    """The argument at a dotted path, or `MISSING`; one that is named so, dots and all, comes first."""
    named = arguments if isinstance(arguments, dict) else {}
    return named[key] if key in named else follow(named, path_of(key))


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
