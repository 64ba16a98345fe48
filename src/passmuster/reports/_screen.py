"""The screen that the console report is written for: its width, and how much is shown.

Rendering is a function of the report and a `Screen`, so a screen can be kept as a file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import TextIO

from msgspec import Struct

Line = tuple[str, str]
"""A line and its style, which plain text ignores."""

_HANG = "  "
_NARROWEST = 40
_CODES = {"bold": "1", "dim": "2", "green": "32", "yellow": "33", "red": "31"}


class Screen(Struct, frozen=True):
    """What the console report is made to fit."""

    width: int | None = None
    """Columns; None breaks no line."""
    detail: int = 0
    """0 fits about 60 lines, 1 shows more, 2 shows all."""


def screen_for(stream: TextIO, detail: int = 0) -> Screen:
    """The screen that a stream leads to. A pipe has the width that `COLUMNS` states, or none."""
    return Screen(_width(stream), detail)


def in_colour(stream: TextIO) -> bool:
    """Whether to write colours: on a terminal or by `FORCE_COLOR`, and never with `NO_COLOR`."""
    environment = os.environ
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return stream.isatty() and environment.get("TERM") != "dumb"


def coloured(text: str, style: str) -> str:
    """The text in a style such as `bold red`, as terminals read it."""
    if not style or not text:
        return text
    return f"\x1b[{';'.join(_CODES[word] for word in style.split())}m{text}\x1b[0m"


def wrapped(lines: Iterable[Line], width: int | None) -> Iterator[Line]:
    """The lines broken between words to fit the width, the rest of each indented a little more than its start."""
    for text, style in lines:
        if width is None or cells(text) <= width:
            yield text, style
        else:
            yield from ((part, style) for part in _broken(text, width))


def fitted(lines: Iterable[str], stream: TextIO) -> Iterator[str]:
    """Lines without a style, broken between words where the stream has a width."""
    return (text for text, _ in wrapped(((line, "") for line in lines), screen_for(stream).width))


def cells(text: str) -> int:
    """How many columns a terminal needs for a text."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width  # late: most lines are ASCII

    return sum(0 if combining(char) else 1 + (east_asian_width(char) in "WF") for char in text)


def _broken(text: str, width: int) -> Iterator[str]:
    indent = text[: len(text) - len(text.lstrip(" "))] + _HANG
    line, used = "", 0
    for gap, word in re.findall(r"(\s*)(\S+)", text):
        length = cells(word)
        if line.strip() and used + len(gap) + length > width:
            yield line
            line, used = indent + word, len(indent) + length
        else:
            line += gap + word
            used += len(gap) + length
    yield line


def _width(stream: TextIO) -> int | None:
    stated = os.environ.get("COLUMNS", "")
    if stated.isdecimal() and int(stated) > 0:
        return max(int(stated), _NARROWEST)
    try:
        return max(os.get_terminal_size(stream.fileno()).columns, _NARROWEST) if stream.isatty() else None
    except (OSError, ValueError):  # a terminal that does not tell its size
        return 80
