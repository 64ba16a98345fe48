"""Values that instrumentations write as text: JSON, JSON in JSON, or how Python shows a value."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from passmuster.traces._model import decoded

_LONGEST_LITERAL = 200_000
_OPENING = ("{", "[")
_decode = msgspec.json.Decoder().decode
_decode_raw = msgspec.json.Decoder(Raw).decode
_BAD = (msgspec.MsgspecError, RecursionError, UnicodeError)


def from_json(text: str) -> Any:
    """The value of JSON text; None where it is not JSON."""
    try:
        return _decode(text)
    except msgspec.ValidationError:
        try:
            return decoded(msgspec.json.decode(text, type=Raw))
        except (*_BAD, ValueError):
            return None
    except _BAD:
        return None


def opened(value: Any) -> Any:
    """An object or list that is written as text, once or several times, as that; anything else as it is."""
    for _ in range(4):
        if not isinstance(value, str):
            return value
        text = value.strip()
        if not text.startswith(_OPENING) and not (text.startswith('"') and text.endswith('"') and len(text) > 1):
            return value
        inner = from_json(text)
        if inner is None:
            inner = literal(text)
        if inner is None:
            return value
        value = inner
    return value


def literal(text: str) -> Any:
    """The value of text as Python shows a dict, list or tuple; None where it is not such text."""
    if len(text) > _LONGEST_LITERAL or text[:1] not in "{[(":
        return None
    try:
        value = ast.literal_eval(text)
        msgspec.json.encode(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError, msgspec.MsgspecError):
        return None
    return value


def arguments_of(value: Any) -> Any:
    """The arguments of a call as an object, from an object or its text; other text as it is."""
    if isinstance(value, str):
        if not value.strip():
            return {}
        inner = opened(value)
        return inner if isinstance(inner, dict) else value
    return {} if value is None else value


def result_json(value: Any) -> Raw:
    """A result as JSON: text that holds the JSON of an object, a list or a text is that value."""
    inner = opened(value) if isinstance(value, str) else value
    try:
        return Raw(msgspec.json.encode(inner))
    except (TypeError, ValueError, msgspec.MsgspecError, RecursionError):
        return Raw(msgspec.json.encode(str(value)))


def raw_result(value: Any) -> Raw:
    """The same for a result that nobody compares: text of an object or a list is checked and kept as it is."""
    if isinstance(value, str) and value.startswith(_OPENING):
        try:
            return Raw(_decode_raw(value))
        except (*_BAD, ValueError):
            pass
    return result_json(value)


def whole(value: Any) -> int | None:
    """A count, whether it is written as a number or as text."""
    if type(value) is int:
        return value if value >= 0 else None
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str):
        value = int(value) if value.isascii() and value.isdigit() and len(value) < 19 else None
    if isinstance(value, float):
        value = int(value) if value.is_integer() else None
    return value if isinstance(value, int) and value >= 0 else None


def amount(value: Any) -> float | None:
    """A number that is not negative."""
    if value is None or isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < float("inf") else None


def text(value: Any) -> str | None:
    """A text that is not empty."""
    return value if isinstance(value, str) and value else None


def word(value: Any) -> str:
    """A text; empty for anything else."""
    return value if isinstance(value, str) else ""


def first(attributes: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    """The value of the first of these names that has one."""
    for name in names:
        value = attributes.get(name)
        if value is not None:
            return value
    return None


_INDEX = re.compile(r"\d{1,5}")


def unflattened(attributes: Mapping[str, Any], prefix: str) -> list[Any]:
    """The list that is written as `prefix.0.name`, `prefix.1.name`, …, with objects and lists inside written alike."""
    root: dict[str, Any] = {}
    start = len(prefix) + 1
    for key, value in attributes.items():
        if not key.startswith(prefix) or key[start - 1 : start] != ".":
            continue
        parts = key[start:].split(".")
        if len(parts) > 20:
            continue
        inner = root
        for part in parts[:-1]:
            deeper = inner.get(part)
            if not isinstance(deeper, dict):
                deeper = inner[part] = {}
            inner = deeper
        if not isinstance(inner.get(parts[-1]), dict):
            inner[parts[-1]] = value
    listed = _listed(root)
    return listed if isinstance(listed, list) else []


def _listed(value: Any) -> Any:
    """Objects whose keys are all numbers become lists, in the order of the numbers."""
    if not isinstance(value, dict):
        return value
    if value and all(_INDEX.fullmatch(key) for key in value):
        return [_listed(value[key]) for key in sorted(value, key=int)]
    return {key: _listed(inner) for key, inner in value.items()}
