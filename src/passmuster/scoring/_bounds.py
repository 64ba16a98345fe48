"""Keeping what is kept small: values of any size come out of traces, and thousands of them may be held at once."""

from __future__ import annotations

import math
from typing import Any

from msgspec.structs import replace

from passmuster.checks import Violation

_TEXT = 16_384
_ITEMS = 100
_DEPTH = 12


def bounded(value: Any, depth: int = _DEPTH) -> Any:
    """The value, cut where it is far larger than any report would show. Reports cut further and hide secrets."""
    if isinstance(value, str):
        return value if len(value) <= _TEXT else value[:_TEXT] + f"… ({len(value)} characters)"
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 1024:
        return f"a whole number of about {int(value.bit_length() * 0.30103)} digits"
    if isinstance(value, dict):
        if depth == 0:
            return "…"
        kept = {bounded(str(key), 0): bounded(value[key], depth - 1) for key in list(value)[:_ITEMS]}
        return kept if len(value) <= _ITEMS else {**kept, "…": f"{len(value) - _ITEMS} more"}
    if isinstance(value, list | tuple):
        if depth == 0:
            return "…"
        items = [bounded(item, depth - 1) for item in value[:_ITEMS]]
        return items if len(value) <= _ITEMS else [*items, f"… {len(value) - _ITEMS} more"]
    if isinstance(value, float) and not math.isfinite(value):
        return "a number beyond a double" if math.isinf(value) else "not a number"
    if value is None or isinstance(value, bool | int | float):
        return value
    return repr(value)[:_TEXT]


_TEXTS = ("message", "tool", "argument", "constraint", "pattern", "expected", "actual", "trace_id", "suggestion")


def bounded_violation(violation: Violation) -> Violation:
    """The violation with everything cut that a trace can make large."""
    texts = {name: bounded(getattr(violation, name)) for name in _TEXTS}
    nearby = violation.neighbours
    if nearby is not None:
        nearby = replace(nearby, before=bounded(nearby.before), after=bounded(nearby.after))
    return replace(violation, value=bounded(violation.value), neighbours=nearby, **texts)
