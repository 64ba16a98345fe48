"""JSON Schema as it is compiled here: offline, formats asserted, patterns with a backtracking limit."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
from jsonschema_rs import Validator

from passmuster.suite import Custom, Node, Reader, Scalar, plain

Schema = dict[str, Any] | bool
"""A JSON Schema; `true` accepts any value and `false` none."""

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
"""The formats that are asserted; JSON Schema accepts any value for a format it does not know."""

_BACKTRACKING = 100_000

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


def compile_schema(schema: Schema) -> Validator:
    """A validator for the schema. Nothing is fetched: `$ref` reaches no further than the schema itself."""
    _refuse_misspelt(schema, ())
    try:
        return jsonschema_rs.validator_for(
            schema,
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
    """A word that is nearly a keyword was meant as one, and would constrain nothing."""
    if not isinstance(schema, dict):
        return
    for key, value in schema.items():
        if key not in _ASSERTING and (meant := _meant(str(key))):
            message = f"'{key}' is not a keyword of JSON Schema, so nothing would be checked; did you mean '{meant}'?"
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
    import difflib  # late, for most schemas have no unknown word

    known = {keyword.lower(): keyword for keyword in _ASSERTING}
    near = difflib.get_close_matches(word.lower(), known, n=1, cutoff=0.82)
    return _OURS.get(word) or (known[near[0]] if near else None)


def read_schema(reader: Reader, node: Node, at: str) -> Schema:
    """The JSON Schema that a node spells, as plain data."""
    if isinstance(node, Scalar) and isinstance(node.value, bool):
        return node.value
    schema: dict[str, Any] = plain(reader.mapping(node, at))
    return schema


def _read_compilable(reader: Reader, node: Node, at: str) -> Schema:
    schema = read_schema(reader, node, at)
    try:
        compile_schema(schema)
    except SchemaProblem as problem:
        reader.problem(node, f"{at}: {'.'.join(map(str, problem.path))}: {problem.message}".replace(": : ", ": "))
    return schema


JSON_SCHEMA = Custom("a JSON Schema", _read_compilable, {"type": ["object", "boolean"]})
