"""JSON Schema, compiled the one way this house runs it: offline, formats asserted, patterns bounded."""

from __future__ import annotations

import sys
from typing import Any

import jsonschema_rs
from jsonschema_rs import Validator

__all__ = ["FORMATS", "SchemaProblem", "compile_schema"]

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
_DATA = frozenset({"enum", "const", "default", "examples"})


class SchemaProblem(Exception):
    """A schema that cannot be compiled; `path` leads to the part that is wrong."""

    def __init__(self, path: tuple[str | int, ...], message: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message


def compile_schema(schema: dict[str, Any]) -> Validator:
    """A validator for the schema. Nothing is fetched: `$ref` reaches no further than the schema itself."""
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


def _bounded(part: Any) -> Any:
    """The same schema, in which a number no double can hold is out of bounds."""
    if isinstance(part, list):
        return [_bounded(item) for item in part]
    if not isinstance(part, dict):
        return part
    copy = {key: value if key in _DATA else _bounded(value) for key, value in part.items()}
    types = part.get("type")
    if types in ("number", "integer") or (isinstance(types, list) and {"number", "integer"} & set(map(str, types))):
        if not {"maximum", "exclusiveMaximum"} & copy.keys():
            copy["maximum"] = _LARGEST
        if not {"minimum", "exclusiveMinimum"} & copy.keys():
            copy["minimum"] = -_LARGEST
    return copy
