"""Regular expressions of a suite: Python's, less what cannot be run with a time limit or can never be found."""

from __future__ import annotations

import re
import warnings
from typing import Any

from passmuster._control_characters import why_control_character
from passmuster._match_extent import EMPTY, END, NEVER, ONE, START, Extent, any_of, in_a_row, repeated

_FUZZY = r"(?<!\\)(?:\\\\)*\{(?!\d*,?\d*\})"
_POSIX_CLASS = r"\[\[:\^?\w+:\]"
_NEWLINE = 10


def why_bad_regex(text: str) -> str | None:
    """What keeps a pattern from being run, or from ever being found."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `[[` warns of a meaning it may have one day
            flags = re.compile(text).flags
    except (re.error, RecursionError, OverflowError) as error:
        return f"not a regular expression: {error}"
    if control := why_control_character(text, "\n\r\t" if flags & re.VERBOSE else ""):
        return f"the pattern has {control[0]} (column {control[1] + 1})"
    if found := re.search(_FUZZY, text):
        return f"'{text[found.start() :][:12]}' cannot be run with a time limit; write '\\{{' for a literal brace"
    if found := re.search(_POSIX_CLASS, text):
        return f"'{found[0]}' means different things to different engines; write '[\\[:' for literal characters"
    if _extent_of(text, flags).dead:
        return f"the pattern '{text}' can never be found in any text"
    import regex  # only suites with regular expressions pay for it

    try:
        regex.compile(text)
    except (regex.error, RecursionError, OverflowError) as error:
        return f"cannot be run with a time limit: {error}; escape what is meant literally"
    return None


def _extent_of(text: str, flags: int) -> Extent:
    """What the pattern can match; nothing is said where Python's parser has changed."""
    try:
        from re import _parser  # type: ignore[attr-defined]  # the only way to the tree

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = list(_parser.parse(text))
        return _in_a_row(parsed, bool(flags & re.MULTILINE))
    except (ImportError, TypeError, ValueError, IndexError, AttributeError, RecursionError):
        return EMPTY


def _in_a_row(parts: list[Any], multiline: bool) -> Extent:
    return in_a_row([_part(op, value, parts[place + 1 :], multiline) for place, (op, value) in enumerate(parts)])


def _part(op: Any, value: Any, rest: list[Any], multiline: bool) -> Extent:
    match str(op):
        case "LITERAL" | "NOT_LITERAL" | "ANY":
            return ONE
        case "IN":
            return NEVER if _is_empty(value) else ONE
        case "FAILURE":
            return NEVER
        case "AT":
            return _position(str(value), rest, multiline)
        case "BRANCH":
            return any_of(_in_a_row(list(option), multiline) for option in value[1])
        case "SUBPATTERN":
            return _in_a_row(list(value[3]), bool(value[1] & re.MULTILINE) or multiline)
        case "ATOMIC_GROUP":
            return _in_a_row(list(value), multiline)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            return repeated(_in_a_row(list(value[2]), multiline), value[0], int(value[1]))
        case "ASSERT":
            return NEVER if _in_a_row(list(value[1]), multiline).dead else EMPTY
        case "ASSERT_NOT":
            return EMPTY if value[1] else NEVER
        case _:
            return EMPTY


def _position(where: str, rest: list[Any], multiline: bool) -> Extent:
    if where == "AT_BEGINNING_STRING" or (where == "AT_BEGINNING" and not multiline):
        return START
    if where == "AT_END_STRING":
        return END
    if where == "AT_END" and not multiline and rest:
        op, value = rest[0]  # `$` also holds before a line break at the very end
        return END if str(op) == "LITERAL" and value != _NEWLINE else EMPTY
    return EMPTY


def _is_empty(members: list[Any]) -> bool:
    """Whether a negated set leaves no character, as `[^\\s\\S]` does."""
    if not members or str(members[0][0]) != "NEGATE":
        return False
    kinds = {str(value) for op, value in members[1:] if str(op) == "CATEGORY"}
    return any(f"CATEGORY_NOT_{kind}" in kinds and f"CATEGORY_{kind}" in kinds for kind in ("SPACE", "DIGIT", "WORD"))
