"""Tool patterns: whole-name, case-sensitive `fnmatch` globs, one and the same wherever a tool is named."""

from __future__ import annotations

import fnmatch
import re
import unicodedata
from collections.abc import Callable

_MAGIC = re.compile(r"[*?\[]")


def _reversed_range(members: str) -> str | None:
    """The first range of a set whose ends are out of order: `fnmatch` takes it for one that holds nothing."""
    found = (one for one in re.finditer(r"(?s)(.)-(.)", members) if one[1] > one[2])
    return next((one[0] for one in found), None)


def is_literal(pattern: str) -> bool:
    """Whether the pattern names exactly one tool."""
    return not _MAGIC.search(pattern)


def glob_matcher(pattern: str) -> Callable[[str], bool]:
    """A function telling whether a name fits the pattern."""
    if is_literal(pattern):
        return pattern.__eq__
    match = re.compile(fnmatch.translate(pattern)).match
    return lambda name: match(name) is not None


def why_bad_glob(pattern: str) -> str | None:
    """What is wrong with a pattern, or None."""
    if not pattern:
        return "a tool pattern cannot be empty"
    place = 0
    while (place := pattern.find("[", place)) >= 0:
        start = place + 1
        if pattern[start : start + 1] == "!":
            start += 1
        closing = pattern.find("]", start + 1)  # a `]` that comes first is a member of the set
        if closing < 0:
            return f"'[' in the pattern '{pattern}' is never closed; for a literal bracket write '[[]'"
        if reversed_ := _reversed_range(pattern[start:closing]):
            return f"the range '{reversed_}' in the pattern '{pattern}' is out of order, so nothing could match it"
        place = closing + 1
    return None


def why_no_tool(pattern: str) -> str | None:
    """Why a pattern that is sound in itself fits no tool that anybody has."""
    if pattern != pattern.strip():
        return f"the pattern '{pattern}' begins or ends with white space, which no tool's name does"
    outside = re.sub(r"\[!?.[^\]]*\]", "", pattern)
    if signs := [sign for sign in (",", "|", " or ", "->", "→") if sign in outside]:
        sign = min(signs, key=outside.index).strip()
        return f"the pattern '{pattern}' would have to be one name; write several patterns as a list, without '{sign}'"
    if found := re.search(r"^[!^]|\$$|\\|^/.*/$", outside):
        why = f"'{found[0][:1]}' in the pattern '{pattern}' is taken literally, and no tool's name has it"
        return f"{why}; patterns are globs with '*', '?' and '[…]'"
    if hidden := next((char for char in pattern if unicodedata.category(char) in ("Cc", "Cf")), None):
        return f"the pattern has the invisible character U+{ord(hidden):04X}, which no tool's name has"
    return None


def escape_glob(name: str) -> str:
    """A pattern that fits this name and no other."""
    return _MAGIC.sub(lambda found: f"[{found[0]}]", name)
