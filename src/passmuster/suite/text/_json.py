"""JSON text to nodes, as strict as the standard and with every place kept.

What stops a reader of JSON (a comma too many, a comment, a single quote) stops this one too, with a
message that names the habit it comes from. Duplicate keys, numbers and strings that cannot be kept do
not stop it: they are told together.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from passmuster._problems import Problem, SuiteError
from passmuster.suite.text._limits import MAX_DEPTH, Places, number, refuse_oversized
from passmuster.suite.text._nodes import Entry, Mapping, Node, Scalar, Sequence

_SPACE = re.compile(r"[ \t\n\r]*+")
_STRING_BODY = re.compile(r'(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?")
_WORD = re.compile(r"""[^\s,:\[\]{}"]++""")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LITERALS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_FOREIGN_LITERALS = {"none": "null", "undefined": "null", "nil": "null", "true": "true", "false": "false"}


def read_json(text: str, file: str) -> Node:
    """The nodes of one JSON text, or a `SuiteError` with everything found wrong in it."""
    refuse_oversized(text, file)
    return _Reader(text.removeprefix("\ufeff"), file).document()


class _Reader:
    """A place in the text that moves forward; one method for each thing JSON can hold."""

    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._file = file
        self._places = Places(text)
        self._at = 0
        self._depth = 0
        self._problems: list[Problem] = []

    def document(self) -> Node:
        self._skip_space()
        if not self._here():
            self._stop("the file is empty; expected a JSON object", 0)
        node = self._value()
        self._skip_space()
        if self._here():
            self._stop(f"the document ended before this; remove the text after it, from `{self._here()}` on")
        if self._problems:
            self._refuse()
        return node

    def _value(self) -> Node:
        match self._here():
            case "{":
                return self._object()
            case "[":
                return self._array()
            case '"':
                line, column = self._places.of(self._at)
                text = self._string()
                return Scalar(text, text, line, column)
            case _:
                return self._bare_word()

    def _object(self) -> Mapping:
        opened = self._enter()
        entries: dict[str, Entry] = {}
        while not self._ends("}", opened, is_first=not entries):
            place = self._at
            if self._here() != '"':
                self._stop(f"expected a key in double quotes, found {self._found()}{self._quoting_hint()}")
            key = self._string()
            self._skip_space()
            if self._here() != ":":
                self._stop(f"expected `:` after the key {json.dumps(key[:60])}, found {self._found()}")
            self._at += 1
            self._skip_space()
            entry = Entry(key, *self._places.of(place), self._value())
            if entries.setdefault(key, entry) is not entry:
                first = entries[key].line
                self._report(f"the key {key[:60]!r} is already used on line {first}; keep one of the two", place)
        return Mapping(entries, *self._places.of(opened))

    def _array(self) -> Sequence:
        opened = self._enter()
        items: list[Node] = []
        while not self._ends("]", opened, is_first=not items):
            items.append(self._value())
        return Sequence(items, *self._places.of(opened))

    def _enter(self) -> int:
        """The offset of the bracket that opens here, which is stepped over."""
        opened = self._at
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._stop(f"lists and objects are nested more than {MAX_DEPTH} deep here; write it flatter")
        self._at += 1
        return opened

    def _ends(self, close: str, opened: int, *, is_first: bool) -> bool:
        """Whether the list or object ends here; if not, the comma before its next member is stepped over."""
        self._skip_space()
        if self._here() == close:
            self._at += 1
            self._depth -= 1
            return True
        if not self._here():
            self._stop(f"this `{self._text[opened]}` is never closed; add the missing `{close}`", opened)
        if is_first and self._here() != ",":
            return False
        if is_first:
            self._stop("there is a comma and nothing before it; remove it")
        if self._here() != ",":
            self._stop(f"expected `,` or `{close}`, found {self._found()}")
        comma = self._at
        self._at += 1
        self._skip_space()
        if self._here() == close:
            self._stop(f"a comma before `{close}` is not allowed in JSON; remove it", comma)
        if self._here() == ",":
            self._stop("there are two commas and nothing between them; remove one")
        return False

    def _string(self) -> str:
        opened = self._at
        body = _STRING_BODY.match(self._text, opened + 1)
        assert body is not None, "the pattern matches the empty text"
        self._at = body.end()
        if self._here() != '"':
            self._stop_in_string(opened)
        self._at += 1
        # Whatever the pattern let through is valid JSON, so the standard reader is left to undo the escapes.
        value: Any = json.loads(self._text[opened : self._at]) if "\\" in body.group() else body.group()
        if _SURROGATE.search(value):
            message = (
                "this string holds half of a surrogate pair, which is not a character; write both \\u escapes of it"
            )
            self._report(message, opened)
            return _SURROGATE.sub("\ufffd", value)
        return str(value)

    def _bare_word(self) -> Scalar:
        line, column = self._places.of(self._at)
        found = _WORD.match(self._text, self._at)
        word = found.group() if found else ""
        value: int | float | bool | None = None
        if word in _LITERALS:
            value = _LITERALS[word]
        elif _NUMBER.fullmatch(word):
            try:
                value = number(word)
            except ValueError as error:
                self._report(str(error), self._at)
        else:
            self._stop(f"expected a value, found {self._found()}{self._word_hint(word)}")
        self._at += len(word)
        return Scalar(value, word, line, column)

    def _word_hint(self, word: str) -> str:
        if word.lstrip("+-").lower() in ("nan", "infinity", "inf"):
            return "; JSON has no such number"
        if word.lower() in _FOREIGN_LITERALS:
            return f"; JSON writes `{_FOREIGN_LITERALS[word.lower()]}`"
        if re.match(r"[-+.]?[0-9]", word):
            return "; a JSON number looks like 12, -0.5 or 3e8, and anything else goes in double quotes"
        return self._quoting_hint()

    def _quoting_hint(self) -> str:
        if self._here() == "'":
            return "; JSON has only double quotes"
        return "; text goes in double quotes" if _WORD.match(self._text, self._at) else ""

    def _stop_in_string(self, opened: int) -> NoReturn:
        match self._here():
            case "" | "\n" | "\r":
                self._stop(
                    'this string is not closed on its line; add the closing `"`, or write a break as \\n', opened
                )
            case "\\":
                escape = self._text[self._at : self._at + 2]
                self._stop(f"`{escape}` is not a JSON escape; a backslash itself is written `\\\\`")
            case control:
                code = f"\\u{ord(control):04x}"
                self._stop(f"a control character is not allowed in a string; write it as {code}, or remove it")

    def _skip_space(self) -> None:
        space = _SPACE.match(self._text, self._at)
        assert space is not None, "the pattern matches the empty text"
        self._at = space.end()
        if self._text.startswith(("//", "/*", "#"), self._at):
            self._stop("JSON has no comments; remove it, or write the file as YAML, where `#` begins one")

    def _here(self) -> str:
        """The character at this place, or nothing at the end."""
        return self._text[self._at : self._at + 1]

    def _found(self) -> str:
        """What stands here, as a message names it."""
        if not self._here():
            return "the end of the file"
        word = _WORD.match(self._text, self._at)
        shown = word.group()[:40] if word else self._here()
        return f"`{shown}`" if shown.isprintable() else repr(shown)

    def _report(self, message: str, offset: int) -> None:
        self._problems.append(Problem(message, self._file, *self._places.of(offset)))

    def _stop(self, message: str, offset: int | None = None) -> NoReturn:
        self._report(message, self._at if offset is None else offset)
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise SuiteError(sorted(self._problems, key=lambda problem: (problem.line or 0, problem.column or 0)))
