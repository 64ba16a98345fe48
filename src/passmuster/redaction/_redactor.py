"""Secrets hidden and long values cut, before anything is shown or stored.

A secret is a key, token, JWT, PEM block, password in a URL or an assignment, whatever stands under an
argument with a name such as `password`, and what the suite adds. It becomes `[hidden #1]`; the number is
given in the order of first appearance, so equal secrets stay recognisably equal and nothing else is told.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from passmuster.redaction._known_words import Words, found_in
from passmuster.redaction._own_patterns import OwnPattern, own_pattern
from passmuster.redaction._secret_names import is_secret_name
from passmuster.redaction._secret_patterns import secret_spans
from passmuster.redaction._token_shapes import Span

VALUE_LIMIT = 200
SENTENCE_LIMIT = 600
ENDING_LIMIT = 4000
_ITEMS, _DEPTH, _LEAVES = 50, 10, 1000

_NAMES = ("name", "key", "header", "field", "variable", "env", "param", "parameter")
_VALUES = frozenset({"value", "val", "content", "default", "string_value", "stringValue"})
"""Keys of a map that names a secret, and keys of the secret in it."""
_LONGEST_NAME = 80

_SEGMENT = r"\[[^\]]*\]|[^.\[\]]+"


class Redactor:
    """Hides secrets and cuts what is long. One per report, for it remembers which secrets it has met.

    `patterns` are regular expressions whose matches are hidden; `arguments` are entries `TOOL.path`
    (`pay.card.number`, `*.items[*].price`) whose values are.
    """

    def __init__(self, patterns: Sequence[str] = (), arguments: Sequence[str] = ()) -> None:
        self._patterns = tuple(patterns)
        self._arguments = tuple(split for entry in arguments for split in _splits(entry))
        self._compiled: list[OwnPattern] | None = None
        self._numbers: dict[str, int] = {}

    def hide(self, text: str, known: Collection[str] = (), own: Collection[str] = ()) -> str:
        """The text with every secret in it replaced by its number.

        So is every word of `known`, which is hidden in all texts, and of `own`, which is in this one.
        """
        spans = secret_spans(text)
        if self._patterns and text:
            spans += self._own(text)
        for words in (known, own):
            if words:
                spans += words.spans(text) if isinstance(words, Words) else found_in(text, words)
        return self._replaced(text, spans) if spans else text

    def text(self, text: str, limit: int = VALUE_LIMIT, known: Collection[str] = (), own: Collection[str] = ()) -> str:
        """The text with secrets hidden, then cut to its head."""
        text = _encodable(self.hide(text, known, own))
        if len(text) <= limit:
            return text
        return f"{_head(text, limit)}… ({len(text)} characters)"

    def ending(self, text: str, limit: int = ENDING_LIMIT, known: Collection[str] = ()) -> str:
        """The text with secrets hidden, then cut to its end, where a traceback says what happened."""
        text = _encodable(self.hide(text, known))
        return text if len(text) <= limit else f"… (the end of {len(text)} characters)\n{text[-limit:]}"

    def value(self, value: Any, *, known: Collection[str] = (), items: int = _ITEMS) -> Any:
        """Any value as plain JSON data, its strings and keys hidden and cut, its containers bounded."""
        return _Walk(self, (), items, known, numbers=False).visit(value, (), False, 0)

    def argument(
        self, tool: str | None, argument: str | None, value: Any, known: Collection[str] = ()
    ) -> tuple[Any, list[str]]:
        """The value of one argument made safe, and the words that were hidden for its name or place."""
        paths = tuple(path for glob, path in self._arguments if fnmatchcase(tool or "", glob))
        walk = _Walk(self, paths, _ITEMS, known, numbers=True)
        return walk.visit(value, _segments(argument or ""), False, 0), walk.secrets

    def words(self, tool: str | None, value: Any) -> list[str]:
        """All words that `argument` would hide for their name or place, however many there are and however deep.

        Without a tool, names alone count.
        """
        paths = [] if tool is None else [path for glob, path in self._arguments if fnmatchcase(tool, glob)]
        found: dict[str, None] = {}
        waiting: list[tuple[tuple[str, ...], bool, Any]] = [((), False, value)]
        while waiting:
            path, named, inner = waiting.pop()
            if isinstance(inner, (list, tuple)):
                if _is_secret_pair(inner):
                    waiting.append(((*path, "[1]") if paths else (), True, inner[1]))
                    inner = inner[:1]
                waiting += [((*path, f"[{at}]") if paths else (), named, below) for at, below in enumerate(inner)]
            elif isinstance(inner, Mapping):
                pair = _names_a_secret(inner)
                for key, below in inner.items():
                    name = _described(key)
                    parts = _segments(name)
                    secret = named or (pair and name in _VALUES) or any(map(is_secret_name, parts))
                    waiting.append(((*path, *parts) if paths else (), secret, below))
            elif named or paths:
                text = _secret_part(inner, named, any(_covers(wanted, path) for wanted in paths))
                found.update(dict.fromkeys(_written_forms(text) if text else ()))
        return list(found)

    def numbered(self, secret: str) -> str:
        """What is shown instead of a secret."""
        return f"[hidden #{self._numbers.setdefault(secret, len(self._numbers) + 1)}]"

    def hides_number(self, text: str) -> bool:
        """Whether a number is caught by one of the suite's own patterns."""
        return bool(self._patterns and self._own(text))

    @property
    def given_up(self) -> list[str]:
        """The suite's own patterns that took too long and are no longer tried: every text is hidden whole."""
        return [pattern for pattern in self._patterns if own_pattern(pattern).gave_up]

    def _own(self, text: str) -> list[Span]:
        if self._compiled is None:
            self._compiled = [own_pattern(pattern) for pattern in self._patterns]
        return [span for pattern in self._compiled for span in pattern.spans(text)]

    def _replaced(self, text: str, spans: list[Span]) -> str:
        parts: list[str] = []
        end = 0
        for start, stop in _merged(spans):
            parts += (text[end:start], self.numbered(text[start:stop]))
            end = stop
        return "".join(parts) + text[end:]


class _Walk:
    """One pass over one value: how much of it may still be shown, and what was hidden on the way."""

    def __init__(
        self,
        redactor: Redactor,
        hidden: tuple[tuple[str, ...], ...],
        items: int,
        known: Collection[str],
        *,
        numbers: bool,
    ) -> None:
        self._redactor = redactor
        self._hidden = hidden
        self._items = items
        self._known = known
        self._numbers = numbers
        """Whether a number under a secret's name is one: so for arguments, not for counts in `stats`."""
        self._left = max(_LEAVES, items)
        self.secrets: list[str] = []

    def visit(self, value: Any, path: tuple[str, ...], named: bool, depth: int) -> Any:
        named = named or any(is_secret_name(segment) for segment in path)
        asked = any(_covers(pattern, path) for pattern in self._hidden)
        self._left -= 1
        if isinstance(value, Mapping):
            return self._map(value, path, named, depth)
        if isinstance(value, (list, tuple, set, frozenset)):
            return self._list(value, path, named, depth)
        return self._leaf(value, named, asked)

    def _map(self, value: Mapping[Any, Any], path: tuple[str, ...], named: bool, depth: int) -> Any:
        if depth >= _DEPTH and value:
            return f"… ({len(value)} entries)"
        shown: dict[str, Any] = {}
        pair = _names_a_secret(value)
        for count, (key, inner) in enumerate(value.items()):
            if count >= self._items or self._left <= 0:
                shown["…"] = f"{len(value) - count} more"
                break
            name = _described(key)
            below = (*path, *_segments(name))
            safe = self.visit(inner, below, named or (pair and name in _VALUES), depth + 1)
            shown[_unused(self._redactor.text(name, known=self._known), shown)] = safe
        return shown

    def _list(self, value: Collection[Any], path: tuple[str, ...], named: bool, depth: int) -> Any:
        if depth >= _DEPTH and value:
            return f"… ({len(value)} items)"
        ordered = sorted(value, key=str) if isinstance(value, (set, frozenset)) else value
        shown: list[Any] = []
        pair = _is_secret_pair(value)
        for index, inner in enumerate(ordered):
            if index >= self._items or self._left <= 0:
                shown.append(f"… ({len(value) - index} more)")
                break
            shown.append(self.visit(inner, (*path, f"[{index}]"), named or (pair and index == 1), depth + 1))
        return shown

    def _leaf(self, value: Any, named: bool, asked: bool) -> Any:
        if value is None:
            return None
        if isinstance(value, bool):
            return self._secret(str(value).lower()) if asked else value
        if isinstance(value, (int, float)):
            return self._number(value, asked or (named and self._numbers))
        text = value if isinstance(value, str) else _described(value)
        if secret := _secret_part(text, named, asked):
            return text[: len(text) - len(secret)] + self._secret(secret)
        return self._redactor.text(text, known=self._known)

    def _number(self, value: int | float, hidden: bool) -> Any:
        if isinstance(value, int) and value.bit_length() > 4096:
            return f"… (an integer of {value.bit_length()} bits)"
        text = str(value)
        if hidden or self._redactor.hides_number(text):
            return self._secret(text)
        if math.isfinite(value):
            return value
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"

    def _secret(self, text: str) -> str:
        self.secrets += _written_forms(text)
        return self._redactor.numbered(text)


def _names_a_secret(value: Mapping[Any, Any]) -> bool:
    """Whether it is `{"name": "DB_PASSWORD", "value": …}`, as headers and environments are often written."""
    return any(is_secret_name(_described(value[name])) for name in _NAMES if value.get(name))


def _is_secret_pair(value: Any) -> bool:
    """Whether it is `["Authorization", …]`, as headers are written too."""
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        return False
    return isinstance(value[0], str) and len(value[0]) <= _LONGEST_NAME and is_secret_name(value[0])


def _secret_part(value: Any, named: bool, asked: bool) -> str:
    """What has to be hidden of a value under a secret's name, or at a place that the suite names; mostly nothing."""
    if value is None or not (named or asked):
        return ""
    if isinstance(value, bool):
        return str(value).lower() if asked else ""
    if isinstance(value, int) and value.bit_length() > 4096:
        return ""  # no report writes its digits
    text = _described(value)
    scheme, space, rest = text.partition(" ")
    return rest if space and rest and scheme.lower() in ("bearer", "basic") else text


def _written_forms(secret: str) -> list[str]:
    """The secret as a sentence may quote it: as it is, or with the escapes of JSON or Python."""
    if secret.isascii() and secret.isprintable() and not any(character in secret for character in "\"'\\"):
        return [secret]
    import json

    ascii_, unicode_ = json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]
    # Python escapes one kind of quotation mark only where it meets both in a text.
    return list(dict.fromkeys([secret, ascii_, unicode_, repr(secret)[1:-1], repr(secret + '"')[1:-2]]))


def _merged(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, stop in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return merged


def _splits(entry: str) -> Iterable[tuple[str, tuple[str, ...]]]:
    """Every reading of `TOOL.path`, since a tool's name may itself hold a dot."""
    parts = entry.split(".")
    for at in range(1, len(parts)):
        yield ".".join(parts[:at]), _segments(".".join(parts[at:]))


def _segments(path: str) -> tuple[str, ...]:
    """`items[2].price` as its parts; an index keeps its brackets, a quoted key loses them."""
    if path and "." not in path and "[" not in path and "]" not in path:
        return (path,)
    return tuple(
        part[2:-2] if part[:2] in ("['", '["') and len(part) > 4 else part for part in re.findall(_SEGMENT, path)
    )


def _covers(pattern: tuple[str, ...], path: tuple[str, ...]) -> bool:
    """Whether the pattern names this place or one around it; the index of a list may be left out."""
    met = 0
    for segment in path:
        if met == len(pattern):
            return True
        wanted = pattern[met]
        if wanted in (segment, "*") or (wanted == "[*]" and segment.startswith("[")):
            met += 1
        elif not segment.startswith("["):
            return False
    return met == len(pattern)


def _unused(key: str, taken: Mapping[str, Any]) -> str:
    """The key, numbered if cutting or hiding made it equal to another."""
    if key not in taken:
        return key
    count = 2
    while f"{key} ({count})" in taken:
        count += 1
    return f"{key} ({count})"


def _head(text: str, limit: int) -> str:
    """The first characters, without half a `[hidden #1]` at their end."""
    opening = text.rfind("[hidden #", 0, limit + 9)
    cuts = opening >= 0 and opening < limit <= text.find("]", opening)
    return text[: opening if cuts else limit]


def _described(value: Any) -> str:
    try:
        return str(value)
    except Exception:
        return f"<{type(value).__name__}>"


def _encodable(text: str) -> str:
    """The text with lone surrogates, which no file can hold, written as escapes."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()
