"""JSON documents of this program, read again: each says by its schema what it is, and none is larger than it can be."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from passmuster._problems import Problem, UsageError

BOM = b"\xef\xbb\xbf"

_AT_BYTE = re.compile(r" \(byte (\d+)\)$")
_UNREADABLE = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)

T = TypeVar("T")


class DocumentKind(Struct, frozen=True):
    """What a document has to be."""

    name: str
    """In messages: `baseline`."""
    schema: str
    most_bytes: int
    hint: str = ""
    """What to do about a damaged one."""


class _Head(Struct):
    """As much of a document as says what it is."""

    schema: Any = None


def read_document(path: str | Path, kind: DocumentKind, type_: type[T], name: str | None = None) -> T:
    """The document in a file; `name` is what messages call it. Raises `UsageError` if it is none of this kind."""
    name = name or str(path)
    try:
        with open(path, "rb") as file:
            data = file.read(kind.most_bytes + 1)
    except FileNotFoundError:
        raise UsageError(Problem(f"there is no such {kind.name} file", name)) from None
    except IsADirectoryError:
        raise UsageError(Problem(f"this is a folder; expected a {kind.name} file", name)) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(Problem(f"this {kind.name} cannot be read: {reason}", name)) from None
    return decode_document(data, kind, type_, name)


def decode_document(data: bytes, kind: DocumentKind, type_: type[T], name: str) -> T:
    """The document in these bytes. Raises `UsageError` if it is none of this kind."""
    if len(data) > kind.most_bytes:
        raise UsageError(Problem(f"this is larger than any {kind.name} ({kind.most_bytes // 2**20} MiB)", name))
    data = data.removeprefix(BOM)
    try:
        schema = schema_of(data)
        if schema != kind.schema:
            found = "another document" if schema is None else f"the schema {schema[:100]!r}"
            raise UsageError(Problem(f"expected a {kind.name} ({kind.schema}), found {found}", name))
        return msgspec.json.decode(data, type=type_)
    except msgspec.ValidationError as error:
        hint = f"; {kind.hint}" if kind.hint else ""
        raise UsageError(Problem(f"this {kind.name} is damaged: {error}{hint}", name)) from None
    except _UNREADABLE as error:
        raise UsageError(_no_json(data, str(error), kind, name)) from None


def schema_of(data: bytes) -> str | None:
    """The schema that a JSON document names; None if it names none. Raises what msgspec does if it is no JSON."""
    try:
        found = msgspec.json.decode(data, type=_Head).schema
    except msgspec.ValidationError:
        return None
    return found if isinstance(found, str) else None


def _no_json(data: bytes, reason: str, kind: DocumentKind, name: str) -> Problem:
    message = f"expected a {kind.name} ({kind.schema}), and this is not JSON: {_AT_BYTE.sub('', reason)}"
    if (at := _AT_BYTE.search(reason)) is None:
        return Problem(message, name)
    before = data[: int(at[1])]
    return Problem(message, name, before.count(b"\n") + 1, len(before) - before.rfind(b"\n"))
