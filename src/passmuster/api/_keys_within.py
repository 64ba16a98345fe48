"""Keys of the smaller parts of a suite, such as `within` of a rule, as the JSON Schema of suites describes them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Any

from msgspec import Struct


class KeyHelp(Struct, frozen=True):
    """One key: what it takes and what it means."""

    name: str
    value: str
    default: str
    """Empty where it is not worth stating; `required` where there is none."""
    text: str


class Topic(Struct, frozen=True):
    """One meaning of a word."""

    name: str
    kind: str
    """What it is: `check`, `sequence rule`, `metric`, `key of path`, …"""
    text: str
    details: tuple[tuple[str, str], ...] = ()
    """More about it, with headings."""
    keys: tuple[KeyHelp, ...] = ()


def keys_within(schema: dict[str, Any], known: Collection[str]) -> Iterator[Topic]:
    """Each meaning of each key that is not known yet, with the key that it belongs to."""
    told: set[tuple[str, str]] = set()
    for owner, about, name, described in _keys(schema, schema, "suite", "", set()):
        text = described.get("description") or f"A part of {owner}: {about}"
        if name in known or (name, text) in told:
            continue
        told.add((name, text))
        examples = described.get("examples") or ()
        details = tuple(("Example", f"{name}: {shown(example)}") for example in examples[:1])
        yield Topic(name, f"key of {owner}", text, details)


def _keys(
    node: Any, schema: dict[str, Any], owner: str, about: str, entered: set[str]
) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """The owner of each key, what is said about the owner, the key, and its schema."""
    if isinstance(node, list):
        for item in node:
            yield from _keys(item, schema, owner, about, entered)
    if not isinstance(node, dict):
        return
    about = node.get("description") or about
    name = str(node.get("$ref", "")).rpartition("/")[2]
    if name and name not in entered:
        entered.add(name)
        yield from _keys(schema["$defs"][name], schema, owner, about, entered)
    for key, value in node.get("properties", {}).items():
        if isinstance(value, dict):
            yield owner, about, key, value
            yield from _keys(value, schema, key, about, entered)
    for word in ("anyOf", "oneOf", "allOf", "then", "else", "items", "additionalProperties"):
        yield from _keys(node.get(word), schema, owner, about, entered)


def shown(example: object) -> str:
    """An example as it stands in a suite."""
    return example if isinstance(example, str) else json.dumps(example, ensure_ascii=False)
