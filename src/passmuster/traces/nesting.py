"""How deep a JSON text nests. Real traces nest a few levels; what nests without end is an attack or a mistake.

The decoder's own limit depends on the Python version and on who calls it, so a limit of our own comes first:
what was read can then be checked, hidden and written by functions that call themselves.
"""

from __future__ import annotations

import re
from array import array
from itertools import accumulate

__all__ = ["MAX_DEPTH", "nests_too_deep"]

MAX_DEPTH = 200

_UP_AND_DOWN = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_REST = bytes(byte for byte in range(256) if byte not in b"[{]}")
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)


def nests_too_deep(text: bytes) -> bool:
    """Whether lists and objects stand in each other more than `MAX_DEPTH` deep."""
    if len(text) <= 2 * MAX_DEPTH or text.count(b"{") + text.count(b"[") <= MAX_DEPTH:
        return False
    # Brackets inside strings count here, so only what looks too deep is worth a closer look.
    return _depth(text) > MAX_DEPTH and _depth(_STRING.sub(b"", text)) > MAX_DEPTH


def _depth(text: bytes) -> int:
    return max(accumulate(array("b", text.translate(_UP_AND_DOWN, _REST))), default=0)
