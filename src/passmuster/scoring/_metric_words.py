"""Formats the values of metrics: `84.96%`, `4980 ms`, `0.0125 USD`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from passmuster.scoring._metrics import metric_named

_VAST = 1e15
"""From here on, and below its inverse, numbers are shown with an exponent."""


def written(name: str, value: float) -> str:
    """The value with its unit. A custom metric is a rate."""
    metric = metric_named(name)
    return number(name, value) if metric.rate else f"{number(name, value)} {metric.shown_unit}".rstrip()


def number(name: str, value: float) -> str:
    """The value without its unit."""
    metric = metric_named(name)
    return f"{round(value * 100, 2):g}%" if metric.rate else _digits(value * metric.per_tokens)


def between(name: str, ends: tuple[float, float] | None) -> str:
    """An interval such as `60.97% to 100%`; empty where there is none."""
    return "" if ends is None else " to ".join(number(name, end) for end in ends)


def first_names(names: Sequence[str], most: int) -> str:
    """`a, b and 3 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def change(name: str, before: float, after: float) -> str:
    """The change, in points for rates, else relative; empty where there is none."""
    difference = after - before
    if not difference:
        return ""
    sign, size = ("+" if difference > 0 else "−"), abs(difference)
    if metric_named(name).rate:
        return f"{sign}{_rounded(size * 100)} points"
    return f"{sign}{_rounded(size / abs(before) * 100)}%" if before else f"{sign}{written(name, size)}"


def _digits(value: float) -> str:
    """Six digits, or as many as a whole number has."""
    size = abs(value)
    if not 1 / _VAST < size < _VAST:
        return f"{float(value):.4g}"
    if size >= 1e6:
        return f"{value:.0f}"
    return f"{value:.6g}" if size >= 1e-4 else f"{value:.{5 - math.floor(math.log10(size))}f}".rstrip("0")


def _rounded(value: float) -> str:
    """Two decimals, unless nothing would be left."""
    return f"{round(value, 2) or value:.6g}"
