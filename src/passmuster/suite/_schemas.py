"""JSON Schema, compiled the one way this house runs it: offline, formats asserted, patterns bounded."""

from __future__ import annotations

import sys
from typing import Any

import jsonschema_rs
from jsonschema_rs import Validator

__all__ = ["BOUNDS", "FORMATS", "SchemaProblem", "compile_schema"]

FORMATS = (
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "idn-email",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "json-pointer",
    "regex",
    "relative-json-pointer",
    "time",
    "uri",
    "uri-reference",
    "uri-template",
    "uuid",
)
"""The formats that are really checked; JSON Schema would pass any value for a format nobody knows."""

_BACKTRACKING = 100_000
_LARGEST = sys.float_info.max
_TYPES = ("null", "boolean", "number", "string", "array", "object")
BOUNDS = ("maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "multipleOf")
"""Keywords that a number can break."""
_DATA = frozenset({"enum", "const", "default", "examples"})

_OF_ONE = (
    *("additionalItems", "additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then"),
    *("unevaluatedItems", "unevaluatedProperties"),
)
_OF_MANY = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
_OF_NAMED = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
_ASSERTING = (
    *("type", "enum", "const", "required", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minLength", "maxLength", "pattern", "format", "minItems", "maxItems", "uniqueItems", "minContains"),
    *("maxContains", "minProperties", "maxProperties", "dependentRequired"),
    *dict.fromkeys((*_OF_ONE, *_OF_MANY, *_OF_NAMED)),
)
"""Keywords that a value can break. JSON Schema takes any other word for a remark, and a typo with it."""
_REMARKS = ("title", "description", "example", "examples", "default", "deprecated", "readOnly", "writeOnly", "id")
_OURS = {"min": "minimum", "max": "maximum"}
"""Words of our own policies that say nothing in JSON Schema."""


class SchemaProblem(Exception):
    """A schema that cannot be compiled; `path` leads to the part that is wrong."""

    def __init__(self, path: tuple[str | int, ...], message: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message


def compile_schema(schema: dict[str, Any]) -> Validator:
    """A validator for the schema. Nothing is fetched: `$ref` reaches no further than the schema itself."""
    _refuse_misspelt(schema, ())
    try:
        return jsonschema_rs.validator_for(
            _bounded(schema),
            validate_formats=True,
            offline=True,
            pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=_BACKTRACKING),
        )
    except jsonschema_rs.ValidationError as error:
        message = error.message
        if "Retrieval is disabled" in message or "not present in a registry" in message:
            message = f"{message.split(' and retrieving')[0]}; a $ref can only point within this schema"
        raise SchemaProblem(tuple(error.instance_path), message) from error
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        raise SchemaProblem((), str(error)) from error


def _refuse_misspelt(schema: Any, path: tuple[str | int, ...]) -> None:
    """A word that is nearly a keyword was meant as one, and would be no constraint at all."""
    if not isinstance(schema, dict):
        return
    for key, value in schema.items():
        if key not in _ASSERTING and (meant := _meant(str(key))):
            message = f"'{key}' is no keyword of JSON Schema, so nothing would be checked; did you mean '{meant}'?"
            raise SchemaProblem((*path, key), message)
        if key in _OF_NAMED and isinstance(value, dict):
            for name, inner in value.items():
                _refuse_misspelt(inner, (*path, key, name))
        elif key in _OF_MANY and isinstance(value, list):
            for place, inner in enumerate(value):
                _refuse_misspelt(inner, (*path, key, place))
        elif key in _OF_ONE:
            _refuse_misspelt(value, (*path, key))


def _meant(word: str) -> str | None:
    """The keyword that a word is so near to that it can hardly be anything else."""
    if word in _REMARKS or word.startswith(("$", "x-")):
        return None
    import difflib  # late, for most schemas have no word to wonder about

    known = {keyword.lower(): keyword for keyword in _ASSERTING}
    near = difflib.get_close_matches(word.lower(), known, n=1, cutoff=0.82)
    return _OURS.get(word) or (known[near[0]] if near else None)


def _bounded(part: Any) -> Any:
    """The same schema, in which a number no double can hold is out of bounds."""
    if isinstance(part, list):
        return [_bounded(item) for item in part]
    if not isinstance(part, dict):
        return part
    copy = {key: value if key in _DATA else _bounded(value) for key, value in part.items()}
    types = part.get("type")
    if types is None and any(type(part.get(word)) in (int, float) for word in BOUNDS):
        types = copy["type"] = list(_TYPES)  # any of them, and an infinite number is none
    if types in ("number", "integer") or (isinstance(types, list) and {"number", "integer"} & set(map(str, types))):
        if not {"maximum", "exclusiveMaximum"} & copy.keys():
            copy["maximum"] = _LARGEST
        if not {"minimum", "exclusiveMinimum"} & copy.keys():
            copy["minimum"] = -_LARGEST
    return copy
