"""Values inside a JSON value, found by a dotted path."""

import re
from typing import Any

__all__ = ["MISSING", "follow", "path_of"]

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
