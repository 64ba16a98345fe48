"""A metric's value in a sentence: as many digits as tell it from a bound, and its unit."""

from __future__ import annotations

from passmuster.suite.metric_names import METRICS

__all__ = ["number", "written"]

_PER_TOKEN = "token_efficiency"
"""Shown by the thousand, for a single token buys little."""


def written(name: str, value: float) -> str:
    """`84.96%`, `4980 ms`, `0.0125 USD`. A metric of one's own is a rate."""
    unit = METRICS[name].unit if name in METRICS else ""
    return f"{number(name, value)} {'per 1,000 tokens' if name == _PER_TOKEN else unit}".rstrip()


def number(name: str, value: float) -> str:
    """The same without its unit."""
    if name not in METRICS or METRICS[name].rate:
        return f"{round(value * 100, 2):g}%"
    return f"{value * 1000:.4g}" if name == _PER_TOKEN else f"{value:.6g}"
