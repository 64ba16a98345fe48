"""Versions that can be put in order: `9.0` before `10.0`, `2.0.0-rc1` before `2.0.0`, `1.0` the same as `1.0.0`."""

from __future__ import annotations

import re

Part = tuple[int, int, str]
VersionKey = tuple[tuple[int, ...], bool, tuple[Part, ...]]

_LONGEST = 200
_VERSION = re.compile(
    r"v?(?P<release>[0-9]+(?:\.[0-9]+)*)"
    r"(?:-(?P<pre>[0-9a-z]+(?:[.-][0-9a-z]+)*)|[._]?(?P<short>(?:alpha|beta|preview|pre|dev|rc|a|b)\.?[0-9]*))?"
    r"(?:\+[0-9a-z.-]+)?",
    re.IGNORECASE,
)
_PART = re.compile(r"([0-9]+)|([a-z]+)")


def version_key(text: str) -> VersionKey | None:
    """What to sort a version by, or None if the text is no version.

    Releases compare number by number, less their trailing zeros. A pre-release comes before its release; its parts
    compare as in semantic versioning, with letters and digits taken apart, so that `rc2` comes before `rc10`.
    Build metadata (`+…`) says nothing about the order.
    """
    found = _VERSION.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if found is None:
        return None
    release = [int(number) for number in found["release"].split(".")]
    while release and release[-1] == 0:
        release.pop()
    before = (found["pre"] or found["short"] or "").lower()
    parts = tuple((0, int(number), "") if number else (1, 0, word) for number, word in _PART.findall(before))
    return tuple(release), not before, parts
