"""JSON Schema as it is compiled here: 2020-12, offline, formats asserted, patterns with a backtracking limit."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
from jsonschema_rs import Validator

from passmuster.checks._schema_mistakes import SchemaMistake, SchemaPath, Spelling, schema_mistakes, subschemas
from passmuster.checks._schema_patterns import engine_pattern
from passmuster.suite import Custom, Node, Reader, Scalar, node_at, plain

Schema = dict[str, Any] | bool
"""A JSON Schema; `true` accepts any value and `false` none."""

_BACKTRACKING = 100_000


class SchemaProblem(Exception):
    """A schema that cannot be compiled, or would not check what it says; all that is wrong with it."""

    def __init__(self, mistakes: list[SchemaMistake]) -> None:
        super().__init__("; ".join(mistake.message for mistake in mistakes))
        self.mistakes = mistakes


def compile_schema(schema: Schema, spelling: Spelling | None = None) -> Validator:
    """A validator for the schema. Nothing is fetched: `$ref` reaches no further than the schema itself."""
    mistakes = list(schema_mistakes(schema, spelling) if spelling else schema_mistakes(schema))
    if mistakes:
        raise SchemaProblem(mistakes)
    try:
        return compile_checked(schema)
    except jsonschema_rs.ValidationError as error:
        message = error.message
        if "Retrieval is disabled" in message or "not present in a registry" in message:
            message = f"{message.split(' and retrieving')[0]}; a $ref can only point within this schema"
        raise SchemaProblem([SchemaMistake(tuple(error.instance_path), message)]) from error
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        raise SchemaProblem([SchemaMistake((), str(error))]) from error


def compile_checked(schema: Schema) -> Validator:
    """A validator for a schema that `compile_schema` accepted when it was read."""
    return jsonschema_rs.Draft202012Validator(
        _with_patterns(schema),
        validate_formats=True,
        offline=True,
        pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=_BACKTRACKING),
    )


def of_a_map(schema: Schema) -> Schema:
    """The schema, asking for a map where it does not say so itself: JSON Schema lets a list pass any `properties`."""
    if schema is False or (isinstance(schema, dict) and "type" in schema):
        return schema
    return {"type": "object", **(schema if isinstance(schema, dict) else {})}


def _with_patterns(schema: Schema) -> Schema:
    """The schema with its patterns translated for the engine that runs them."""
    if not any("pattern" in part or "patternProperties" in part for _, part in subschemas(schema)):
        return schema
    copied: Schema = _copied(schema)
    for _, part in list(subschemas(copied)):
        if isinstance(part.get("pattern"), str):
            part["pattern"] = engine_pattern(part["pattern"])
        named = part.get("patternProperties")
        if isinstance(named, dict):
            part["patternProperties"] = _translated_names(named)
    return copied


def _copied(value: Any) -> Any:
    """The value with lists and maps of its own; importing `copy` would take 3 million instructions."""
    if isinstance(value, dict):
        return {name: _copied(inner) for name, inner in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def _translated_names(named: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for pattern, inner in named.items():
        name = engine_pattern(pattern)
        while name in found:  # two spellings of one pattern; both apply
            name = f"(?:{name})"
        found[name] = inner
    return found


def read_schema(reader: Reader, node: Node, at: str) -> Schema:
    """The JSON Schema that a node spells, as plain data."""
    if isinstance(node, Scalar) and isinstance(node.value, bool):
        return node.value
    schema: dict[str, Any] = plain(reader.mapping(node, at))
    return schema


def dotted(path: SchemaPath) -> str:
    """`properties.amount.maximum`, to stand before a message."""
    return f"{'.'.join(map(str, path))}: " if path else ""


def _read_compilable(reader: Reader, node: Node, at: str) -> Schema:
    schema = read_schema(reader, node, at)
    try:
        compile_schema(schema)
    except SchemaProblem as problem:
        for mistake in problem.mistakes:
            reader.problem(node_at(node, mistake.path), f"{at}: {dotted(mistake.path)}{mistake.message}")
    return schema


JSON_SCHEMA = Custom("a JSON Schema", _read_compilable, {"type": ["object", "boolean"]})
