"""Durations of any number of traces in bounded memory: all of them up to a limit, then counts in fixed bins.

Whether they are exact depends on their number alone, and bins add up, so that any split of the traces gives the same.
A bin is at most 0.8 % wide: 128 of equal width lie between a power of two and the next.
"""

from __future__ import annotations

import math
import struct
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import overload

from msgspec import Struct, field

EXACT = 10_000_000
"""Durations up to which all of them are kept."""
_BINS = 128
_ZERO = -200_000
"""The bin of 0, below every other."""


class Durations(Struct):
    """Durations in milliseconds, or whatever else is not negative."""

    limit: int = EXACT
    known: int = 0
    packed: bytearray = field(default_factory=bytearray)
    """Eight bytes each, as long as there are no more than the limit."""
    bins: dict[int, int] = field(default_factory=dict)

    def add(self, value: float) -> None:
        """Take in one duration."""
        self.known += 1
        if self.bins:
            self._bin((value,))
            return
        self.packed += struct.pack("<d", value)
        if self.known > self.limit:
            self._bin_all()

    def merge(self, other: Durations) -> None:
        """Take in those of another part of the traces."""
        self.known += other.known
        if not self.bins and not other.bins and self.known <= self.limit:
            self.packed += other.packed
            return
        self._bin_all()
        self._bin(_unpacked(other.packed))
        for place, count in other.bins.items():
            self.bins[place] = self.bins.get(place, 0) + count

    def ordered(self) -> Sequence[float]:
        """All durations, from the shortest; beyond the limit each is the middle of its bin."""
        return BinnedValues(self.bins) if self.bins else sorted(_unpacked(self.packed))

    def _bin_all(self) -> None:
        self._bin(_unpacked(self.packed))
        self.packed = bytearray()

    def _bin(self, values: Iterable[float]) -> None:
        for value in values:
            place = _place(value)
            self.bins[place] = self.bins.get(place, 0) + 1


class BinnedValues(Sequence[float]):
    """Values of which only the bins are known, in order."""

    def __init__(self, bins: dict[int, int]) -> None:
        places = sorted(bins)
        self._middles = [_middle(place) for place in places]
        self._ends = list(accumulate(bins[place] for place in places))

    def __len__(self) -> int:
        return self._ends[-1]

    @overload
    def __getitem__(self, index: int) -> float: ...
    @overload
    def __getitem__(self, index: slice) -> list[float]: ...
    def __getitem__(self, index: int | slice) -> float | list[float]:
        if isinstance(index, slice):
            return [self[one] for one in range(*index.indices(len(self)))]
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(index)
        return self._middles[bisect_right(self._ends, place)]


def _unpacked(packed: bytearray) -> Iterable[float]:
    return (value for (value,) in struct.iter_unpack("<d", packed))


def _place(value: float) -> int:
    if not value > 0:
        return _ZERO
    fraction, exponent = math.frexp(min(value, 1.7e308))
    return exponent * _BINS + int((fraction - 0.5) * 2 * _BINS)


def _middle(place: int) -> float:
    if place == _ZERO:
        return 0.0
    exponent, within = divmod(place, _BINS)
    return math.ldexp(0.5 + (within + 0.5) / (2 * _BINS), exponent)
