"""Text in the characters that a stream has: marks become words where it lacks one of them."""

from __future__ import annotations

from typing import TextIO

BLOCKS = "▁▂▃▄▅▆▇█"
"""Eight heights, from low to high."""

_WORDS = {"❌ ": "", "⚠ ": "", "✓ ": "", "…": "...", "→": "->", "≥": ">=", "≤": "<=", "–": "-", "−": "-", "×": "x"}
_IN_ASCII = {**_WORDS, **dict(zip(BLOCKS, "_.-=+*%#", strict=True))}


def encodable(text: str, stream: TextIO) -> str:
    """The text as the stream can show it; what has no other form becomes an escape."""
    encoding = stream.encoding or "utf-8"
    try:
        "".join(_IN_ASCII).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        for mark, words in _IN_ASCII.items():
            text = text.replace(mark, words)
    try:
        return text.encode(encoding, "backslashreplace").decode(encoding)
    except LookupError:
        return text.encode("ascii", "backslashreplace").decode("ascii")
