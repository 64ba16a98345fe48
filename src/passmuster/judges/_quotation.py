"""Untrusted text, quoted so that it cannot leave its quotation.

A quotation is a JSON object between two equal marks. Inside, every text is one JSON string on one line: a quote or
a line break in it is an escape, and so are characters that cannot be seen and those that open a control token of
a chat template (`<|im_end|>`, `[INST]`). The mark is made from a hash of the quotation and does not occur in it,
so no text can hold the mark that would end it. Read as JSON, the quotation gives back every character.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence

Quotable = str | None | Sequence[str]

_MARK = "DATA"
_TEMPLATE_TOKEN = re.compile(r"\[(?=/?[A-Z][A-Z_]*\])")


def quote(parts: Mapping[str, Quotable]) -> tuple[str, str]:
    """The parts as a quotation, and the mark that stands before and behind it."""
    lines = [f"{json_text(name)}: {_value(part)}" for name, part in parts.items()]
    body = "{\n" + ",\n".join(lines) + "\n}"
    mark = _mark(body)
    return f"{mark}\n{body}\n{mark}", mark


def json_text(text: str) -> str:
    """The text as a JSON string that is safe to show to a model: one line, nothing hidden, no control token."""
    written = json.dumps(text, ensure_ascii=False)
    written = "".join(character if _is_plain(character) else _escape(character) for character in written)
    return _TEMPLATE_TOKEN.sub(r"\\u005b", written)


def _value(part: Quotable) -> str:
    if part is None:
        return "null"
    if isinstance(part, str):
        return json_text(part)
    return "[" + ", ".join(json_text(item) for item in part) + "]"


def _is_plain(character: str) -> bool:
    # Letters of every script stay as they are: a judge reads them better than their escapes.
    return character.isprintable() and character not in "<>"


def _escape(character: str) -> str:
    point = ord(character)
    if 0xD800 <= point <= 0xDFFF or point < 0x10000:
        return f"\\u{point:04x}"
    high, low = divmod(point - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def _mark(body: str) -> str:
    """A word that does not occur in the text. One round is enough unless the hash is broken."""
    encoded = body.encode()
    turn = 0
    while True:
        mark = f"{_MARK}-{hashlib.sha256(encoded + str(turn).encode()).hexdigest()[:32]}"
        if mark not in body:
            return mark
        turn += 1
