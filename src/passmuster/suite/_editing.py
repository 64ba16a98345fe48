"""Numbers of bounds changed in a suite's own text; whatever else its author wrote stays as it is.

A number is found by its place, and only the digits are replaced: comparator, unit, quotes, comments and order are the
author's. What several places share through an alias cannot be changed for one of them, and is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Mapping as MappingOf
from decimal import Decimal

from msgspec import Struct

from passmuster.suite._gate_model import Bound
from passmuster.suite.text._limits import Places
from passmuster.suite.text._nodes import Mapping, Node, Scalar

BOM = "\ufeff"
_SCALAR = re.compile(
    r"(?P<before>(?:[&!]\S*\s+)*(?:\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}|\\x[0-9a-fA-F]{2}|[^0-9.+\\\-])*)"
    r"(?P<number>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?)"
    r"(?P<after>\s*(?P<unit>%|\$|[a-z]*)\s*['\"]?)",
    re.IGNORECASE,
)
_JSON_SCALAR = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,\]}]+')


class Edit(Struct, frozen=True):
    """A bound and the number it shall have, in the metric's own unit: a rate as a fraction."""

    bound: Bound
    units: MappingOf[str, int]
    """How the unit of its metric may be written, and how many of it that is."""
    value: Decimal


class Edited(Struct, frozen=True):
    """A suite's text with numbers changed, and why others could not be."""

    text: str
    refused: dict[int, str]
    """By the place of the edit in what was asked."""


def edit_bounds(text: str, is_json: bool, edits: Sequence[Edit]) -> Edited:
    """The text with these numbers. What cannot be changed in place is left, with the reason."""
    mark = BOM if text.startswith(BOM) else ""
    body = text.removeprefix(BOM)
    places = Places(body)
    scalars = dict(_json_scalars(body, places, edits)) if is_json else _yaml_scalars(body)
    refused: dict[int, str] = {}
    changes: dict[tuple[int, int], str] = {}
    for index, edit in enumerate(edits):
        start = places.offset(edit.bound.line, edit.bound.column)
        end = scalars.get(start)
        if end is None:
            refused[index] = "its number is shared through an alias; write it out"
            continue
        found = _SCALAR.fullmatch(body, start, end)
        number = _spelled(edit, found) if found else None
        if found is None or number is None:
            refused[index] = f"its number cannot be changed in place as it is spelled: {body[start:end][:40]}"
        elif changes.setdefault(found.span("number"), number) != number:
            refused[index] = "its number is shared with another bound"
    for (start, end), number in sorted(changes.items(), reverse=True):
        body = body[:start] + number + body[end:]
    return Edited(mark + body, refused)


def _spelled(edit: Edit, found: re.Match[str]) -> str | None:
    """The new number in the unit and manner of the old; None where the text does not say what was read from it."""
    old, unit = Decimal(found["number"]), found["unit"].lower()
    dollar = "$" in found["before"]
    percent = edit.bound.rate and (unit == "%" or old > 1)
    if edit.bound.rate:
        factor = Decimal("0.01") if percent else Decimal(1)
    else:
        factor = Decimal(edit.units.get("$" if dollar else unit, 1))
    if abs(float(old * factor) - edit.bound.value) > 1e-12 * max(1.0, edit.bound.value):
        return None
    new = edit.value / factor
    if percent and not unit and new <= 1:
        return None  # a bare number up to 1 is read as a fraction
    digits = f"{new.normalize():f}"
    # A fraction that reaches all is written as one: `1` looks like a percentage to people.
    return "1.0" if edit.bound.rate and not percent and digits == "1" else digits


def _json_scalars(text: str, places: Places, edits: Sequence[Edit]) -> Iterator[tuple[int, int]]:
    for edit in edits:
        start = places.offset(edit.bound.line, edit.bound.column)
        if found := _JSON_SCALAR.match(text, start):
            yield found.span()


def _yaml_scalars(text: str) -> dict[int, int]:
    """Where each scalar begins and ends, but for those that an alias, or one of what they stand in, repeats."""
    import yaml

    open_: list[int | None] = []  # the anchors of what is open, by number
    names: dict[str, int] = {}
    repeated: set[int] = set()
    found: list[tuple[int, int, list[int]]] = []
    loader = yaml.CBaseLoader if yaml.__with_libyaml__ else yaml.BaseLoader
    for number, event in enumerate(yaml.parse(text, Loader=loader)):
        anchor = getattr(event, "anchor", None)
        if isinstance(event, yaml.AliasEvent):
            if anchor in names:
                repeated.add(names[anchor])
            continue
        if anchor:
            names[anchor] = number
        if isinstance(event, yaml.CollectionStartEvent):
            open_.append(number if anchor else None)
        elif isinstance(event, yaml.CollectionEndEvent):
            open_.pop()
        elif isinstance(event, yaml.ScalarEvent):
            around = [one for one in (*open_, number if anchor else None) if one is not None]
            assert event.start_mark
            assert event.end_mark
            found.append((event.start_mark.index, event.end_mark.index, around))
    return {start: end for start, end, around in found if not repeated.intersection(around)}


def differences(old: Node, new: Node) -> Iterator[tuple[Scalar, Scalar] | None]:
    """The scalars that differ between two readings; None where more than a scalar does."""
    if isinstance(old, Scalar) and isinstance(new, Scalar):
        if old.text != new.text or type(old.value) is not type(new.value):
            yield old, new
    elif isinstance(old, Mapping) and isinstance(new, Mapping) and list(old.entries) == list(new.entries):
        for before, after in zip(old, new, strict=True):
            yield from differences(before.value, after.value)
    elif type(old) is type(new) and not isinstance(old, Scalar | Mapping) and not isinstance(new, Scalar | Mapping):
        if len(old.items) != len(new.items):
            yield None
            return
        for one, other in zip(old.items, new.items, strict=True):
            yield from differences(one, other)
    else:
        yield None
