"""The files of a suite, from bytes to nodes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from passmuster._problems import Problem, SuiteError
from passmuster.suite.text._limits import MAX_BYTES, Places, refuse_oversized
from passmuster.suite.text._nodes import Node

_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class Documents:
    """The files of a suite as they were read, so that another process evaluates the same suite."""

    def __init__(self, documents: Mapping[str, bytes] | None = None) -> None:
        self.by_path = dict(documents or {})

    def read(self, path: Path, file: str) -> tuple[Node, bytes]:
        """The nodes of a JSON (`.json`) or YAML file, and its bytes; `file` names it in problems."""
        text, content = self.text(path, file)
        # Reading YAML loads a parser that most commands never need, so each reader is imported when it is used.
        if path.suffix.lower() == ".json":
            from passmuster.suite.text._json import read_json

            return read_json(text, file), content
        from passmuster.suite.text._yaml import read_yaml

        return read_yaml(text, file), content

    def text(self, path: Path, file: str) -> tuple[str, bytes]:
        """The text of a file, and its bytes."""
        content = self.by_path.get(str(path))
        if content is None:
            content = self.by_path[str(path)] = _read_bytes(path, file)
        return _decode(content, file), content


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
