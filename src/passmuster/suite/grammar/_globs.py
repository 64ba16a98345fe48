"""Tool patterns: whole-name, case-sensitive `fnmatch` globs, one and the same wherever a tool is named."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable

_MAGIC = re.compile(r"[*?\[]")


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
        place = closing + 1
    return None


def escape_glob(name: str) -> str:
    """A pattern that fits this name and no other."""
    return _MAGIC.sub(lambda found: f"[{found[0]}]", name)
