"""The arguments of one tool, from a policy's words to JSON Schema, with an anchor for each constraint.

An *anchor* is keyed by a path into the schema, as a validator reports it, and leads back to the line and the
spelling of the policy: `("properties", "percent", "maximum")` → line 12, `max: 30`.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from passmuster._problems import did_you_mean
from passmuster.suite._schemas import FORMATS, SchemaProblem, compile_schema
from passmuster.suite.grammar._reader import Reader
from passmuster.suite.text._nodes import Entry, Mapping, Node, Scalar, Sequence, plain

__all__ = ["Anchor", "Anchors", "SchemaPath", "read_arguments", "read_schema"]

SchemaPath = tuple[str | int, ...]


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

TYPES = ("string", "number", "integer", "boolean", "object", "array", "null")
_SPELLED = {"min": "minimum", "max": "maximum"}
_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_LENGTHS = ("minLength", "maxLength", "minItems", "maxItems")
_FAMILIES = {
    **dict.fromkeys(_NUMBERS, "number"),
    **dict.fromkeys(("minLength", "maxLength", "pattern", "format"), "string"),
    **dict.fromkeys(("items", "minItems", "maxItems", "uniqueItems"), "array"),
    **dict.fromkeys(("properties", "additionalProperties"), "object"),
}
_KEYS = (
    "type",
    "required",
    "min",
    "max",
    *_NUMBERS,
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "enum",
    "const",
    "items",
    "minItems",
    "maxItems",
    "uniqueItems",
    "properties",
    "additionalProperties",
    "on_violation",
    "description",
)


def read_arguments(reader: Reader, node: Node, at: str) -> tuple[dict[str, Any], Anchors]:
    """The schema that `arguments: {ARG: {…}}` spells. An argument is optional unless `required: true`."""
    anchors: Anchors = {}
    schema: dict[str, Any] = {"type": "object"}
    _read_properties(reader, node, at, (), schema, anchors, "block")
    _check(reader, node, at, schema, anchors)
    return schema, anchors


def read_schema(reader: Reader, node: Node, at: str, shared: dict[str, Node]) -> tuple[dict[str, Any], Anchors]:
    """A full JSON Schema, with the definitions that its file shares between tools."""
    schema = plain(reader.mapping(node, at))
    anchors: Anchors = {}
    _anchor_all(reader, node, (), anchors)
    for key, definitions in shared.items():
        if isinstance(definitions, Mapping):
            own = schema.setdefault(key, {})
            for entry in definitions:
                if isinstance(own, dict) and entry.key not in own:
                    own[entry.key] = plain(entry.value)
                    _anchor_all(reader, entry.value, (key, entry.key), anchors)
    _check(reader, node, at, schema, anchors)
    return schema, anchors


def _anchor_all(reader: Reader, node: Node, path: SchemaPath, anchors: Anchors) -> None:
    if isinstance(node, Mapping):
        for entry in node:
            anchors[(*path, entry.key)] = Anchor(reader.file, entry.line, entry)
            _anchor_all(reader, entry.value, (*path, entry.key), anchors)
    elif isinstance(node, Sequence):
        for place, item in enumerate(node.items):
            _anchor_all(reader, item, (*path, place), anchors)


def _check(reader: Reader, node: Node, at: str, schema: dict[str, Any], anchors: Anchors) -> None:
    """Note what keeps the schema from being compiled, at the line that is to blame."""
    try:
        compile_schema(schema)
    except SchemaProblem as problem:
        anchor = _nearest(anchors, problem)
        where = ".".join(str(part) for part in problem.path)
        message = f"{at}: {where + ': ' if where else ''}{problem.message}"
        reader.problem(replace(node, line=anchor.line, column=1) if anchor else node, message)


def _nearest(anchors: Anchors, problem: SchemaProblem) -> Anchor | None:
    if not problem.path:  # an unresolved $ref is reported without its place
        refs = (anchor for path, anchor in anchors.items() if path[-1] == "$ref")
        return next((ref for ref in refs if ref.constraint.split(": ", 1)[-1].lstrip("#") in problem.message), None)
    for length in range(len(problem.path), 0, -1):
        if problem.path[:length] in anchors:
            return anchors[problem.path[:length]]
    return None


def _read_properties(
    reader: Reader, node: Node, at: str, path: SchemaPath, schema: dict[str, Any], anchors: Anchors, level: str
) -> None:
    properties: dict[str, Any] = {}
    required: list[str] = []
    for entry in reader.mapping(node, at):
        place = f"{at}.{entry.key}"
        inner = (*path, "properties", entry.key)
        if isinstance(entry.value, Scalar) and entry.value.value is None:  # `reason:` with nothing said of it
            properties[entry.key] = {}
            continue
        map_ = reader.mapping(entry.value, place, _KEYS)
        own_level = _level(reader, map_, place, level)
        properties[entry.key] = _read_constraint(reader, map_, place, inner, anchors, own_level)
        needed = map_.entries.get("required")
        if needed and not isinstance(needed.value, Sequence) and reader.boolean(needed.value, f"{place}.required"):
            required.append(entry.key)
            anchors[(*path, "required", entry.key)] = Anchor(reader.file, needed.line, needed, own_level)
    if properties:
        schema["properties"] = properties
    if required:
        schema["required"] = required


def _level(reader: Reader, map_: Mapping, at: str, inherited: str) -> str:
    node = map_.get("on_violation")
    return inherited if node is None else reader.choice(node, f"{at}.on_violation", ("block", "warn", "log"))


def _read_constraint(
    reader: Reader, map_: Mapping, at: str, path: SchemaPath, anchors: Anchors, level: str
) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for entry in map_:
        word = _SPELLED.get(entry.key, entry.key)
        if entry.key not in _KEYS or word in ("required", "on_violation", "description"):
            continue
        if word in schema:
            reader.problem(entry, f"{at}: '{entry.key}' says again what '{word}' or its short form says already")
        anchors[(*path, word)] = Anchor(reader.file, entry.line, entry, level)
        _read_word(reader, word, entry, at, path, schema, anchors, level)
    _fit_types(reader, map_, at, path, schema, anchors)
    listed = map_.entries.get("required")
    if listed and isinstance(listed.value, Sequence):  # JSON Schema's way of saying it of the inner properties
        schema["required"] = [*schema.get("required", []), *reader.texts(listed.value, f"{at}.required")]
        anchors[(*path, "required")] = Anchor(reader.file, listed.line, listed, level)
    return schema


def _read_word(
    reader: Reader,
    word: str,
    entry: Entry,
    at: str,
    path: SchemaPath,
    schema: dict[str, Any],
    anchors: Anchors,
    level: str,
) -> None:
    node, place = entry.value, f"{at}.{entry.key}"
    match word:
        case "type":
            types = [reader.choice(item, place, TYPES) for item in reader.one_or_more(node)]
            schema["type"] = types if isinstance(node, Sequence) else types[0]
        case "enum":
            if isinstance(node, Sequence) and not node.items:
                reader.problem(node, f"{place}: an empty list allows no value")
            schema["enum"] = [plain(item) for item in reader.items(node, place)] or [None]
        case "const":
            schema["const"] = plain(node)
        case "uniqueItems":
            schema[word] = reader.boolean(node, place)
        case "pattern":
            schema[word] = reader.text(node, place, empty=True)
        case "format":
            name = reader.text(node, place)
            if name not in FORMATS:
                hint = did_you_mean(name, FORMATS) or f"; known: {', '.join(FORMATS)}"
                reader.problem(node, f"{place}: unknown format '{name}', so no value would be checked{hint}")
            schema[word] = name
        case "items":
            inner = reader.mapping(node, place, _KEYS)
            schema[word] = _read_constraint(
                reader, inner, place, (*path, "items"), anchors, _level(reader, inner, place, level)
            )
        case "properties":
            _read_properties(reader, node, place, path, schema, anchors, level)
        case "additionalProperties":
            if isinstance(node, Mapping):
                inner = reader.mapping(node, place, _KEYS)
                schema[word] = _read_constraint(reader, inner, place, (*path, word), anchors, level)
            else:
                schema[word] = reader.boolean(node, place)
        case _ if word in _LENGTHS:
            schema[word] = reader.whole(node, place)
        case _:
            schema[word] = reader.number(node, place)
            if word == "multipleOf" and not schema[word] > 0:
                reader.problem(node, f"{place}: has to be above 0")
                schema[word] = 1


def _fit_types(
    reader: Reader, map_: Mapping, at: str, path: SchemaPath, schema: dict[str, Any], anchors: Anchors
) -> None:
    """Refuse a constraint that its type can never meet; take the type from the constraints where none is stated.

    JSON Schema lets `max: 30` pass every string. Whoever writes it means a number, so "50" has to break it.
    """
    used = [entry for entry in map_ if _SPELLED.get(entry.key, entry.key) in _FAMILIES]
    if "type" in schema:
        stated = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        families = {"number" if name == "integer" else name for name in stated}
        for entry in used:
            if _FAMILIES[_SPELLED.get(entry.key, entry.key)] not in families:
                kind = " or ".join(stated)
                reader.problem(entry, f"{at}: '{entry.key}' means nothing for type {kind} and could never fail")
        return
    wanted = {_FAMILIES[_SPELLED.get(entry.key, entry.key)] for entry in used}
    if len(wanted) == 1:
        schema["type"] = wanted.pop()
        first = _SPELLED.get(used[0].key, used[0].key)
        anchors[(*path, "type")] = anchors[(*path, first)]
