"""Control characters in patterns and names, where somebody meant something else."""

from __future__ import annotations

import re

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def why_control_character(text: str, allowed: str = "") -> tuple[str, int] | None:
    """What is wrong with the first control character of a text, and where it stands; None where there is none."""
    found = next((one for one in _CONTROL.finditer(text) if one[0] not in allowed), None)
    return None if found is None else (_reason(found[0]), found.start())


def _reason(char: str) -> str:
    if char == "\b":
        return r"a backspace character; for a word boundary write '\b' in single quotes, or '\\b' in double quotes"
    if char == "\n":
        return r"a line break; write '\n' in single quotes, or '|-' instead of '|' before a block"
    return rf"the control character U+{ord(char):04X}; write '\x{ord(char):02x}' in single quotes if it is meant"
