"""A suite or policy file, from its bytes to nodes.

`read_document` chooses the reader by the file's ending. What both readers hold to stands here too: how
much text and nesting is read at all, which numbers can be kept, and how a place in a text is counted.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Mapping
from pathlib import Path

from passmuster._problems import Problem, SuiteError
from passmuster.suite.text._nodes import Node

MAX_BYTES = 16 * 1024 * 1024
MAX_DEPTH = 100
MAX_DIGITS = 300
"""Any number this short can be printed by Python and turned into a float."""

_LINE_BREAK = re.compile(r"\r\n?|\n")
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def read_document(path: Path, file: str) -> tuple[Node, bytes]:
    """The nodes of a JSON (`.json`) or YAML file, and the bytes they came from; `file` names it in problems."""
    return Shelf().read(path, file)


class Shelf:
    """The documents of a suite as they were read, so that another process can judge by the same words."""

    def __init__(self, documents: Mapping[str, bytes] | None = None) -> None:
        self.documents = dict(documents or {})

    def read(self, path: Path, file: str) -> tuple[Node, bytes]:
        """As `read_document`; a file that is on the shelf is not read again."""
        content = self.documents.get(str(path))
        if content is None:
            content = self.documents[str(path)] = _read_bytes(path, file)
        text = _decode(content, file)
        # Reading YAML loads a parser that most commands never need, so each reader is imported when it is used.
        if path.suffix.lower() == ".json":
            from passmuster.suite.text._json import read_json

            return read_json(text, file), content
        from passmuster.suite.text._yaml import read_yaml

        return read_yaml(text, file), content


class Places:
    """Line and column, both counted from 1, of every offset in a text."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(found.end() for found in _LINE_BREAK.finditer(text))]

    def of(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def offset(self, line: int, column: int) -> int:
        """The offset of a place."""
        return self._starts[line - 1] + column - 1


def number(text: str) -> int | float:
    """The number that `text` spells; `ValueError`, worded for its author, where it cannot be kept."""
    if len(text) > MAX_DIGITS:
        raise ValueError(f"a number of {len(text):,} characters is too long; the limit is {MAX_DIGITS}")
    if text.startswith(("0x", "0o")):
        return int(text, 0)
    if text.lstrip("+-").isdigit():
        return int(text)
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text} is too large; the largest number is about 1.8e308")
    return value


def refuse_oversized(text: str | bytes, file: str) -> None:
    """Nothing, or a `SuiteError` for a text too long to be a suite."""
    if len(text) > MAX_BYTES:
        limit = MAX_BYTES // (1024 * 1024)
        raise SuiteError(Problem(f"the file is larger than {limit} MiB, the most a suite or policy may hold", file))


def _read_bytes(path: Path, file: str) -> bytes:
    try:
        with path.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise SuiteError(Problem(_why_unreadable(error), file)) from error
    refuse_oversized(content, file)
    return content


def _why_unreadable(error: OSError | ValueError) -> str:
    match error:
        case FileNotFoundError() | NotADirectoryError():
            return "there is no such file; check the path and the folder it is relative to"
        case IsADirectoryError():
            return "this is a folder; name the YAML or JSON file in it"
        case PermissionError():
            return "the file may not be read; check its permissions"
        case OSError():
            return f"the file cannot be read: {error.strerror or error}"
        case _:
            return f"this is not a path to a file: {error}"


def _decode(content: bytes, file: str) -> str:
    if content.startswith(_UTF16_MARKS):
        raise SuiteError(Problem("the file is written in UTF-16; save it as UTF-8", file, 1, 1))
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8").removeprefix("\ufeff")
        found = content[error.start]
        message = f"the byte 0x{found:02x} here is not UTF-8; save the file as UTF-8"
        raise SuiteError(Problem(message, file, *Places(before).of(len(before)))) from error
