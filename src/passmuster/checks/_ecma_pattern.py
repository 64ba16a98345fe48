"""The patterns of JSON Schema: ECMA-262 with the flag `u`, translated for the engine that runs them with a limit.

The engine is Rust's, where `.` matches U+2028, `\\b` and `\\d` know all of Unicode, `[a&&b]` is an intersection and
`(?i)` a flag. Each of these is spelt out or refused, so that a pattern means here what it means elsewhere. Escapes that
only the flag `u` forbids, such as `\\-` or `\\@`, stay allowed: without it they mean the same character.
"""

from __future__ import annotations

import re
from functools import lru_cache

from passmuster._control_characters import why_control_character
from passmuster._match_extent import EMPTY, END, NEVER, ONE, START, Extent, any_of, in_a_row, repeated
from passmuster.checks._ecma_sets import ANY, ENDS, NOTHING, SETS, WORD, literal, why_no_property

Part = tuple[str, Extent]
"""A piece of the translation, and what it can match."""

_EDGE = f"(?:(?<=[{WORD}])(?![{WORD}])|(?<![{WORD}])(?=[{WORD}]))"
_NO_EDGE = f"(?:(?<=[{WORD}])(?=[{WORD}])|(?<![{WORD}])(?![{WORD}]))"
_CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13}
_SYNTAX = "^$\\.*+?()[]{}|/"
_QUANTIFIER = re.compile(r"[*+?]|\{(\d+)(,?)(\d*)\}")
_NAME = re.compile(r"<([A-Za-z_$][\w$]*)>")
_FLAGS = re.compile(r"([ims]*)(?:-([ims]*))?:")
_MOST = 100_000
"""More repetitions than this are refused: the engine unrolls them."""
_ELSEWHERE = {
    "A": "'^'",
    "Z": "'$'",
    "z": "'$'",
    "h": "'[ \\t]'",
    "R": "'\\r?\\n'",
    "a": "'\\x07'",
    "e": "'\\x1b'",
    "Q": "a backslash before each character",
}
"""Escapes of other dialects, and what to write for them here."""


class PatternError(ValueError):
    """A pattern that is none in ECMA-262; the message has the reason and the column, counted from 1."""

    def __init__(self, reason: str, place: int) -> None:
        super().__init__(f"{reason} (column {place + 1})")


@lru_cache(maxsize=512)
def translated(pattern: str) -> str:
    """The pattern for Rust's engine. Raises `PatternError` for what is no pattern, or can never match."""
    if control := why_control_character(pattern):
        raise PatternError(*control)
    try:
        text, extent = _Parser(pattern).parse()
    except RecursionError:
        raise PatternError("the pattern nests too deep", 0) from None
    if extent.dead:
        raise PatternError("the pattern can never match anything", 0)
    return text


class _Parser:
    """Reads a pattern from left to right."""

    def __init__(self, pattern: str) -> None:
        self.text, self.at = pattern, 0
        self.names: list[str | None] = []
        for found in re.finditer(r"\\.|\[(?:\\.|[^\]\\])*\]|\((?!\?)|\(\?<(?![=!])([^>]*)>?", pattern, re.DOTALL):
            if found[0].startswith("("):
                self.names.append(found[1])
        self.referred = {int(number) for number in re.findall(r"\\([1-9]\d*)", pattern)}
        self.referred |= {
            self.names.index(name) + 1 for name in re.findall(r"\\k<(.*?)>", pattern) if name in self.names
        }
        self.opened = self.groups = 0
        self.closed: dict[int, tuple[int, int]] = {}
        """Groups that are referred to: their number in the translation, and that of the empty group behind each."""
        self.multiline = self.dot_all = False

    def parse(self) -> Part:
        for name in filter(None, self.names):
            if self.names.count(name) > 1:
                raise PatternError(f"two groups are named '{name}'", self.text.rindex(f"(?<{name}>"))
        part = self._alternatives()
        if self.at < len(self.text):
            raise PatternError("unmatched ')'; write '\\)' for a literal one", self.at)
        return part

    def _peek(self, text: str) -> bool:
        return self.text.startswith(text, self.at)

    def _take(self, text: str) -> bool:
        found = self._peek(text)
        self.at += len(text) if found else 0
        return found

    def _alternatives(self) -> Part:
        options = [self._in_a_row()]
        while self._take("|"):
            options.append(self._in_a_row())
        return "|".join(text for text, _ in options), any_of(extent for _, extent in options)

    def _in_a_row(self) -> Part:
        parts: list[Part] = []
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            parts.append(self._term())
        return "".join(text for text, _ in parts), in_a_row([extent for _, extent in parts])

    def _term(self) -> Part:
        start = self.at
        char = self.text[start]
        if _QUANTIFIER.match(self.text, start):
            raise PatternError(f"nothing to repeat before '{char}'", start)
        if char == "{":
            raise PatternError("'{' is no quantifier here; write '\\{' for a literal brace", start)
        part, repeatable = self._atom(char)
        found = _QUANTIFIER.match(self.text, self.at)
        if found is None:
            return part
        if not repeatable:
            raise PatternError("an assertion cannot be repeated", self.at)
        return self._quantified(part, found)

    def _quantified(self, part: Part, found: re.Match[str]) -> Part:
        text = found[0]
        least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(text, (0, 0))
        if text[0] == "{":
            least = int(found[1])
            most = int(found[3]) if found[3] else None if found[2] else least
        if most is not None and most < least:
            raise PatternError(f"the numbers in '{text}' are out of order", found.start())
        if max(least, most or 0) > _MOST:
            raise PatternError(f"'{text}' repeats more than {_MOST} times", found.start())
        self.at = found.end()
        lazy = "?" if self._take("?") else ""
        return f"{part[0]}{text}{lazy}", repeated(part[1], least, most)

    def _atom(self, char: str) -> tuple[Part, bool]:
        """The next piece, and whether it may be repeated."""
        if char == "(":
            return self._group()
        self.at += 1
        match char:
            case "^":
                return ((f"(?:^|(?<=[{ENDS}]))", EMPTY) if self.multiline else ("^", START)), False
            case "$":
                return ((f"(?:$|(?=[{ENDS}]))", EMPTY) if self.multiline else ("$", END)), False
            case ".":
                return (ANY if self.dot_all else f"[^{ENDS}]", ONE), True
            case "[":
                return self._set(), True
            case "\\":
                return self._escape()
        return (literal(ord(char)), ONE), True

    def _group(self) -> tuple[Part, bool]:
        start = self.at
        self.at += 1
        for opening in ("(?=", "(?!", "(?<=", "(?<!"):
            if self.text.startswith(opening, start):
                self.at = start + len(opening)
                text, extent = self._inner(start)
                if opening[-1] == "!":
                    return (f"{opening}{text})", NEVER if not text else EMPTY), False
                return (f"{opening}{text})", NEVER if extent.dead else EMPTY), False
        if not self._take("?"):
            return self._capturing(start), True
        if self._take(":"):
            text, extent = self._inner(start)
            return (f"(?:{text})", extent), True
        if named := _NAME.match(self.text, self.at):
            self.at = named.end()
            return self._capturing(start), True
        return self._with_flags(start), True

    def _capturing(self, start: int) -> Part:
        """A group; behind one that is referred to stands an empty one, which tells whether it took part."""
        self.opened += 1
        self.groups += 1
        own, number = self.opened, self.groups
        text, extent = self._inner(start)
        if own not in self.referred:
            return f"({text})", extent
        self.groups += 1
        self.closed[own] = (number, self.groups)
        return f"(?:({text})())", extent

    def _reference(self, own: int) -> str:
        """What the group matched; one that took no part, or is not complete, matches the empty text."""
        if own not in self.closed:
            return "(?:a{0})"
        number, took_part = self.closed[own]
        return f"(?:\\{took_part}(?:\\{number})|(?!\\{took_part}))"

    def _with_flags(self, start: int) -> Part:
        """`(?i:…)`, as ECMA-262 has it since 2025."""
        found = _FLAGS.match(self.text, self.at)
        on, off = (found[1], found[2] or "") if found else ("", "")
        if found is None or not on + off or len(set(on + off)) < len(on + off):
            raise PatternError(_why_no_group(self.text[start : start + 4]), start)
        self.at = found.end()
        before = self.multiline, self.dot_all
        self.multiline = ("m" in on) or (self.multiline and "m" not in off)
        self.dot_all = ("s" in on) or (self.dot_all and "s" not in off)
        text, extent = self._inner(start)
        self.multiline, self.dot_all = before
        flag = "i" if "i" in on else "-i" if "i" in off else ""
        return f"(?{flag}:{text})", extent

    def _inner(self, start: int) -> Part:
        part = self._alternatives()
        if not self._take(")"):
            raise PatternError("'(' is never closed; write '\\(' for a literal one", start)
        return part

    def _escape(self) -> tuple[Part, bool]:
        """What stands behind a backslash, outside a set."""
        place = self.at - 1
        char = self.text[self.at : self.at + 1]
        if char in ("b", "B"):
            self.at += 1
            return (_EDGE if char == "b" else _NO_EDGE, EMPTY), False
        if char == "k":
            named = _NAME.match(self.text, self.at + 1)
            if named is None or named[1] not in self.names:
                raise PatternError("'\\k' needs the name of a group, '\\k<name>'", place)
            self.at = named.end()
            return (self._reference(self.names.index(named[1]) + 1), EMPTY), True
        if char in tuple("123456789"):
            digits = re.match(r"\d+", self.text[self.at :])
            number = int(digits[0]) if digits else 0
            if number > len(self.names):
                raise PatternError(f"'\\{number}' refers to a group that is not there", place)
            self.at += len(str(number))
            return (self._reference(number), EMPTY), True
        inside, code = self._character(place, in_set=False)
        return (literal(code) if code is not None else inside, ONE), True

    def _character(self, place: int, *, in_set: bool) -> tuple[str, int | None]:
        """The set or the character that an escape means; `at` is behind the backslash."""
        char = self.text[self.at : self.at + 1]
        if not char:
            raise PatternError("the pattern ends with a backslash", place)
        self.at += 1
        if char in SETS:
            return SETS[char] if in_set else f"[{SETS[char]}]", None
        if char in "pP":
            return self._property(char, place), None
        if char in _CONTROLS:
            return "", _CONTROLS[char]
        if char == "c" and re.match("[A-Za-z]", self.text[self.at :]):
            self.at += 1
            return "", ord(self.text[self.at - 1]) % 32
        if char == "0" and not re.match(r"\d", self.text[self.at :]):
            return "", 0
        if char == "b" and in_set:
            return "", 8
        if char in "xu":
            return "", self._code(char, place)
        if char.isalnum() and char.isascii():
            hint = f"; write {_ELSEWHERE[char]}" if char in _ELSEWHERE else ""
            raise PatternError(f"'\\{char}' means nothing in an ECMA-262 pattern{hint}", place)
        return "", ord(char)

    def _code(self, char: str, place: int) -> int:
        rest = self.text[self.at :]
        if char == "u" and (pair := re.match(r"([dD][89abAB]\w\w)\\u([dD][c-fC-F]\w\w)", rest)):
            self.at += pair.end()
            return 0x10000 + ((int(pair[1], 16) - 0xD800) << 10) + int(pair[2], 16) - 0xDC00
        form = r"[0-9A-Fa-f]{2}" if char == "x" else r"[0-9A-Fa-f]{4}|\{[0-9A-Fa-f]+\}"
        found = re.match(form, rest)
        if found is None:
            raise PatternError(f"'\\{char}' needs {'two' if char == 'x' else 'four'} hexadecimal digits", place)
        code = int(found[0].strip("{}"), 16)
        if code > 0x10FFFF or 0xD800 <= code < 0xE000:
            raise PatternError(f"'\\{char}{found[0]}' is no character", place)
        self.at += found.end()
        return code

    def _property(self, char: str, place: int) -> str:
        found = re.match(r"\{([^}]*)\}", self.text[self.at :])
        if found is None:
            raise PatternError(f"'\\{char}' needs a property, as in '\\{char}{{L}}'", place)
        if why := why_no_property(found[1]):
            raise PatternError(why, place)
        self.at += found.end()
        return f"\\{char}{{{found[1]}}}"

    def _set(self) -> Part:
        start = self.at - 1
        negated = self._take("^")
        items: list[str] = []
        while not self._take("]"):
            if self.at >= len(self.text):
                raise PatternError("'[' is never closed; write '\\[' for a literal one", start)
            items.append(self._range())
        if not items:
            return (ANY, ONE) if negated else (NOTHING, NEVER)
        empty = negated and any(SETS[one] in items and SETS[one.upper()] in items for one in "dws")
        return f"[{'^' if negated else ''}{''.join(items)}]", NEVER if empty else ONE

    def _range(self) -> str:
        """One member of a set: a character, a range or another set."""
        place = self.at
        inner, low = self._member()
        if low is None or not self._peek("-") or self.text[self.at + 1 : self.at + 2] in ("]", ""):
            return inner if low is None else literal(low)
        self.at += 1
        other, high = self._member()
        if high is None:  # `[a-\d]`: without the flag `u` the hyphen is one
            return f"{literal(low)}\\-{other}"
        if high < low:
            raise PatternError(f"the range '{self.text[place : self.at]}' is out of order", place)
        return f"{literal(low)}-{literal(high)}"

    def _member(self) -> tuple[str, int | None]:
        char = self.text[self.at]
        self.at += 1
        return self._character(self.at - 1, in_set=True) if char == "\\" else ("", ord(char))


def _why_no_group(opening: str) -> str:
    if opening.startswith("(?P<"):
        return "'(?P<' is Python's; write '(?<name>…)'"
    if re.match(r"\(\?[a-zA-Z]", opening):
        return f"'{opening}' is no group of ECMA-262, which has no inline flags; spell out both cases, as in '[Aa]'"
    return f"'{opening}' is no group of ECMA-262"
