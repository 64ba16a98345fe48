"""What the readers of YAML and JSON share: limits, numbers, and line and column of a place."""

from __future__ import annotations

import math
import re
from bisect import bisect_right

from passmuster._problems import Problem, SuiteError

MAX_BYTES = 16 * 1024 * 1024
MAX_DEPTH = 100
MAX_DIGITS = 300
"""Any number this short can be printed by Python and turned into a float."""

_LINE_BREAK = re.compile(r"\r\n?|\n")


class Places:
    """Line and column, both counted from 1, of every offset in a text."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(found.end() for found in _LINE_BREAK.finditer(text))]

    def of(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def offset(self, line: int, column: int) -> int:
        """The offset of a place."""
        return self._starts[line - 1] + column - 1


def number(text: str) -> int | float:
    """The number that `text` spells; `ValueError`, worded for its author, where it cannot be kept."""
    if len(text) > MAX_DIGITS:
        raise ValueError(f"a number of {len(text):,} characters is too long; the limit is {MAX_DIGITS}")
    if text.startswith(("0x", "0o")):
        return int(text, 0)
    if text.lstrip("+-").isdigit():
        return int(text)
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text} is too large; the largest number is about 1.8e308")
    return value


def refuse_oversized(text: str | bytes, file: str) -> None:
    """Nothing, or a `SuiteError` for a text too long to be a suite."""
    if len(text) > MAX_BYTES:
        limit = MAX_BYTES // (1024 * 1024)
        raise SuiteError(Problem(f"the file is larger than {limit} MiB, the most a suite or policy may hold", file))
