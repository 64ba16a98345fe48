"""What a part of a regular expression can match, as far as it takes to see that the whole can match nothing.

`a^b` needs the start of the text after a character, `x$y` a character after its end, `[]` a character that is in no
set: a check with such a pattern could never fire.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct


class Extent(Struct, frozen=True):
    """The least number of characters that a part takes, and whether it holds only at the start or end of the text."""

    least: int = 0
    head: bool = False
    """It matches only where nothing stands before it."""
    tail: bool = False
    """It matches only where nothing stands after it."""
    dead: bool = False
    """It matches nothing at all."""


EMPTY = Extent()
ONE = Extent(least=1)
NEVER = Extent(dead=True)
START = Extent(head=True)
END = Extent(tail=True)


def in_a_row(parts: Sequence[Extent]) -> Extent:
    """The extent of parts that follow each other."""
    widths = [part.least for part in parts]
    dead = any(part.dead for part in parts)
    head = tail = False
    before, after = 0, sum(widths)
    for part, width in zip(parts, widths, strict=True):
        after -= width
        dead = dead or (part.head and before > 0) or (part.tail and after > 0)
        head, tail = head or part.head, tail or part.tail
        before += width
    return Extent(before, head, tail, dead)


def any_of(options: Iterable[Extent]) -> Extent:
    """The extent of alternatives."""
    live = [option for option in options if not option.dead]
    if not live:
        return NEVER
    head, tail = all(option.head for option in live), all(option.tail for option in live)
    return Extent(min(option.least for option in live), head, tail)


def repeated(part: Extent, least: int, most: int | None) -> Extent:
    """The extent of a part that is repeated."""
    if most == 0 or least == 0:
        return EMPTY
    if part.dead or (least > 1 and part.least and (part.head or part.tail)):
        return NEVER
    return Extent(part.least * least, part.head, part.tail)
