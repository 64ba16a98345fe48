"""Sums and counters that give the same result in any order of merging, in bounded memory.

Floats are added exactly, as whole multiples of the smallest one there is, so that no split of the traces can change
the last digit of a sum. Names come from traces and are untrusted: of each counter only the first so many names in
their own order are kept, and those are exact.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from passmuster.scoring._bounds import bounded

NAMED = 1_000
"""Names kept per counter."""
_SCALE = 1074
"""The smallest float is 2 to the power of minus this."""
_LONGEST = 1024
"""Bits of the largest whole number that is added up; beyond it no float can say the sum."""


class Sum(Struct, tag="sum"):
    """An exact sum of numbers."""

    scaled: int = 0
    whole: bool = True
    """Whether every number so far was an integer."""

    def add(self, number: float) -> None:
        if isinstance(number, int):
            self.scaled += number << _SCALE
            return
        top, bottom = number.as_integer_ratio()
        self.scaled += top << (_SCALE + 1 - bottom.bit_length())  # `bottom` is a power of two
        self.whole = False

    def merge(self, other: Sum) -> None:
        self.scaled += other.scaled
        self.whole = self.whole and other.whole

    def value(self) -> float | int:
        """The sum, rounded once; a whole number where no float can hold it."""
        if not self.whole:
            with contextlib.suppress(OverflowError):
                return self.mean(1)
        return self.scaled >> _SCALE

    def mean(self, number: int) -> float:
        """The sum divided by a number, rounded once."""
        return self.scaled / (number << _SCALE)


class Sums(Struct, tag="sums"):
    """Sums by name."""

    by_name: dict[str, Sum] = field(default_factory=dict)


class Said(Struct, tag="said"):
    """A value that is not a sum; of several the smallest is kept."""

    value: Any


Stat = Sum | Sums | Said


def add_stats(into: dict[str, Stat], stats: dict[str, Any]) -> None:
    """Add the stats of one outcome."""
    for name, value in stats.items():
        _take(into, name, _stat(value))


def merge_stats(into: dict[str, Stat], other: dict[str, Stat]) -> None:
    """Add the stats of another tally."""
    for name, stat in other.items():
        _take(into, name, stat)


def _stat(value: Any) -> Stat:
    if _is_number(value):
        total = Sum()
        total.add(value)
        return total
    if isinstance(value, dict) and all(_is_number(number) for number in value.values()):
        sums = Sums()
        for name, number in value.items():
            sums.by_name[str(name)] = one = Sum()
            one.add(number)
        _keep_first(sums.by_name)
        return sums
    return Said(bounded(value))


def _is_number(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool) and value.bit_length() <= _LONGEST


def _copied(stat: Stat) -> Stat:
    """A stat of its own, to be added to."""
    match stat:
        case Sum():
            return replace(stat)
        case Sums():
            return Sums({name: replace(one) for name, one in stat.by_name.items()})
        case Said():  # is replaced, not changed
            return stat


def _take(into: dict[str, Stat], name: str, stat: Stat) -> None:
    known = into.get(name)
    match known, stat:
        case None, _:
            into[name] = _copied(stat)
        case Sum(), Sum():
            known.merge(stat)
        case Sums(), Sums():
            for each, total in stat.by_name.items():
                known.by_name.setdefault(each, Sum()).merge(total)
            _keep_first(known.by_name)
        case Said(), Said():
            into[name] = min(known, stat, key=lambda said: repr(said.value))
        case _:  # told differently from trace to trace: the kinds have an order too
            into[name] = min(known, stat, key=lambda one: type(one).__name__)
    if len(into) > NAMED:
        _keep_first(into)


def count(counter: dict[str, int], items: Iterable[tuple[str, int]]) -> None:
    """Add numbers by name."""
    for name, number in items:
        counter[name] = counter.get(name, 0) + number
    _keep_first(counter)


def merge_fields(into: Struct, other: Struct) -> None:
    """Add up two tallies of one kind: numbers, packed numbers, lists, sets, sums, and counters by name."""
    for name in into.__struct_fields__:
        mine, theirs = getattr(into, name), getattr(other, name)
        match mine:
            case int() | bytearray() | list():
                setattr(into, name, mine + theirs)
            case set():
                mine |= theirs
            case dict():
                count(mine, theirs.items())
            case Struct() if hasattr(mine, "merge"):
                mine.merge(theirs)


def _keep_first(counter: dict[str, Any]) -> None:
    if len(counter) > NAMED:
        for name in sorted(counter)[NAMED:]:
            del counter[name]


def plain_stats(stats: dict[str, Stat]) -> dict[str, Any]:
    """The figures as a report shows them, in the order of their names."""
    return {name: _plain(stats[name]) for name in sorted(stats)}


def _plain(stat: Stat) -> Any:
    match stat:
        case Sum():
            return stat.value()
        case Sums():
            return {name: stat.by_name[name].value() for name in sorted(stat.by_name)}
        case Said():
            return stat.value
