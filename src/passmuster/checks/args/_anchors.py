"""Anchors: where in a policy each constraint stands, by its place in the JSON Schema that the policy becomes.

`("properties", "percent", "maximum")` leads to line 12, `max: 30`.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from passmuster.checks._json_schema import Schema
from passmuster.suite import Entry, Scalar, plain

SchemaPath = tuple[str | int, ...]
_OF_NUMBERS = ("maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "multipleOf", "type")
_MOST_REFS = 20
"""More references in a row are a circle."""


class Anchor(Struct, frozen=True):
    """The place in a policy that a violation breaks: its line, its own wording, and what breaking it does."""

    file: str
    line: int
    said: Entry | str
    level: str = "block"

    @property
    def constraint(self) -> str:
        """`max: 30`, as the policy has it."""
        if isinstance(self.said, str):
            return self.said
        key, value = self.said.key, self.said.value
        if isinstance(value, Scalar):
            return f"{key}: {value.text}"
        import json  # late, for few runs need it

        return f"{key}: {json.dumps(plain(value), ensure_ascii=False)}"


Anchors = dict[SchemaPath, Anchor]


def nearest_anchor(anchors: Anchors, path: SchemaPath) -> Anchor | None:
    """The anchor of a place in the schema, or of the nearest one around it."""
    return next((anchors[path[:n]] for n in range(len(path), -1, -1) if path[:n] in anchors), None)


def anchor_of_value(anchors: Anchors, schema: Schema, path: SchemaPath) -> Anchor | None:
    """The anchor of what the schema says of the number at a path in the arguments."""
    place = _place_of_value(schema, path)
    stated = (anchors.get((*place, word)) for word in _OF_NUMBERS)
    return next(filter(None, stated), None) or nearest_anchor(anchors, place) or _anchor_around(anchors, place)


def _anchor_around(anchors: Anchors, place: SchemaPath) -> Anchor | None:
    """An anchor of the innermost argument around a place, for a value that its constraints do not speak of."""
    for length in range(len(place), 1, -1):
        if place[length - 1] != "properties":
            within = (anchor for path, anchor in anchors.items() if path[:length] == place[:length])
            if (found := next(within, None)) is not None:
                return found
    return None


def _place_of_value(root: Any, path: SchemaPath) -> SchemaPath:
    schema, place = _resolved(root, root, ())
    for step in path:
        if isinstance(step, int):
            inner: SchemaPath = ("items",)
        elif _inside(schema, ("properties", step)) is not None:
            inner = ("properties", step)
        else:
            inner = ("additionalProperties",)
        schema, place = _resolved(root, _inside(schema, inner), (*place, *inner))
    return place


def _resolved(root: Any, schema: Any, place: SchemaPath) -> tuple[Any, SchemaPath]:
    """The schema and its place, past references within the schema."""
    for _ in range(_MOST_REFS):
        ref = schema.get("$ref") if isinstance(schema, dict) else None
        if not isinstance(ref, str) or not ref.startswith("#/"):
            break
        place = tuple(ref[2:].split("/"))
        schema = _inside(root, place)
    return schema, place


def _inside(schema: Any, path: SchemaPath) -> Any:
    for step in path:
        schema = schema.get(step) if isinstance(schema, dict) else None
    return schema
