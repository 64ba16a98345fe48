"""JSON Schemas that would not check what they say are refused, wherever they are written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.suite.suite_files import problems, write

import passmuster
from passmuster.checks._json_schema import SchemaProblem, compile_schema

DRAFT_07 = "http://json-schema.org/draft-07/schema#"

REFUSED: list[tuple[dict[str, Any], str, str]] = [
    # another dialect
    ({"$schema": DRAFT_07}, "$schema", "another dialect"),
    ({"$schema": "http://json-schema.org/draft-04/schema#"}, "$schema", "another dialect"),
    ({"$schema": "https://json-schema.org/draft/2019-09/schema"}, "$schema", "another dialect"),
    ({"$schema": "https://example.com/own"}, "$schema", "another dialect"),
    ({"properties": {"a": {"$schema": DRAFT_07}}}, "properties.a.$schema", "another dialect"),
    ({"items": [{"type": "string"}]}, "items", ""),
    ({"prefixItems": [{}], "additionalItems": False}, "additionalItems", "a word of an older draft"),
    ({"minimum": 1, "exclusiveMinimum": True}, "exclusiveMinimum", ""),
    ({"properties": {"a": {"required": True}}}, "properties.a.required", ""),
    ({"divisibleBy": 5}, "divisibleBy", "write 'multipleOf'"),
    ({"$recursiveRef": "#"}, "$recursiveRef", "older draft"),
    # misspelt
    ({"properties": {"a": {"maximun": 3}}}, "properties.a.maximun", "did you mean 'maximum'?"),
    ({"properties": {"a": {"max": 3}}}, "properties.a.max", "did you mean 'maximum'?"),
    ({"Type": "object"}, "Type", "did you mean 'type'?"),
    ({"typ": "object"}, "typ", "did you mean 'type'?"),
    ({"propertys": {}}, "propertys", "did you mean 'properties'?"),
    ({"requierd": ["a"]}, "requierd", "did you mean 'required'?"),
    ({"properties": {"a": {"max_length": 3}}}, "properties.a.max_length", "did you mean 'maxLength'?"),
    ({"properties": {"a": {"min-items": 3}}}, "properties.a.min-items", "did you mean 'minItems'?"),
    ({"properties": {"a": {"enums": [1]}}}, "properties.a.enums", "did you mean 'enum'?"),
    ({"properties": {"a": {"regex": "x"}}}, "properties.a.regex", "did you mean 'pattern'?"),
    ({"properties": {"a": {"lte": 5}}}, "properties.a.lte", "did you mean 'maximum'?"),
    ({"additional_properties": False}, "additional_properties", "did you mean 'additionalProperties'?"),
    ({"anyof": [{}]}, "anyof", "did you mean 'anyOf'?"),
    ({"properties": {"a": {"ref": "#/$defs/x"}}}, "properties.a.ref", "did you mean '$ref'?"),
    ({"definitions": {"x": {"patern": "a"}}}, "definitions.x.patern", "did you mean 'pattern'?"),
    ({"allOf": [{"if": {"minimun": 1}, "then": {}}]}, "allOf.0.if.minimun", "did you mean 'minimum'?"),
    ({"dependentSchemas": {"a": {"requird": ["b"]}}}, "dependentSchemas.a.requird", "'required'"),
    (
        {"properties": {"a": {"$ref": "#/components/n"}}, "components": {"n": {"type": "number", "maximun": 3}}},
        "components.n.maximun",
        "did you mean 'maximum'?",
    ),
    ({"type": "object", "amount": {"type": "number", "maximum": 3}}, "amount", "belongs under 'properties'"),
    # unknown formats and types
    ({"properties": {"a": {"format": "emial"}}}, "properties.a.format", "did you mean 'email'?"),
    ({"properties": {"a": {"format": "datetime"}}}, "properties.a.format", "did you mean 'date-time'?"),
    ({"properties": {"a": {"format": "Email"}}}, "properties.a.format", "did you mean 'email'?"),
    ({"properties": {"a": {"format": "url"}}}, "properties.a.format", "unknown format 'url'"),
    ({"properties": {"a": {"format": ""}}}, "properties.a.format", "unknown format"),
    ({"properties": {"a": {"type": "float"}}}, "properties.a.type", "did you mean 'number'?"),
    ({"properties": {"a": {"type": "String"}}}, "properties.a.type", "did you mean 'string'?"),
    ({"properties": {"a": {"type": ["int", "null"]}}}, "properties.a.type", "did you mean 'integer'?"),
    # nothing fits
    ({"properties": {"a": {"minimum": 501, "maximum": 500}}}, "properties.a.maximum", "exclude each other"),
    ({"minimum": 5, "exclusiveMaximum": 5}, "exclusiveMaximum", "exclude each other"),
    ({"exclusiveMinimum": 5, "exclusiveMaximum": 5}, "exclusiveMaximum", "exclude each other"),
    ({"type": "integer", "exclusiveMinimum": 5, "exclusiveMaximum": 6}, "exclusiveMaximum", "no integer between"),
    ({"multipleOf": 100, "minimum": 1, "maximum": 99}, "maximum", "no multiple of 100 between"),
    ({"minimum": float("inf"), "maximum": 5}, "minimum", "a double can hold"),
    ({"minimum": 1, "maximum": float("nan")}, "maximum", "a double can hold"),
    ({"minLength": 3, "maxLength": 2}, "maxLength", "exclude each other"),
    ({"minItems": 3, "maxItems": 2}, "maxItems", "exclude each other"),
    ({"minProperties": 3, "maxProperties": 2}, "maxProperties", "exclude each other"),
    ({"contains": {}, "minContains": 3, "maxContains": 2}, "maxContains", "exclude each other"),
    ({"enum": []}, "enum", "an empty list allows no value"),
    ({"type": "string", "enum": [1, 2]}, "enum", "no value of 'enum' fits 'type' beside it"),
    ({"type": "string", "const": 5}, "const", "no value of 'const' fits 'type' beside it"),
    ({"maximum": 3, "enum": [4, 5]}, "enum", "no value of 'enum' fits 'maximum' beside it"),
    ({"pattern": "^a", "enum": ["b"]}, "enum", "no value of 'enum' fits 'pattern' beside it"),
    ({"enum": [1], "const": 2}, "const", "none of the values in 'enum'"),
    ({"properties": {"a": {}}, "required": ["b"], "additionalProperties": False}, "required", "required and not"),
    ({"properties": {"a": False}, "required": ["a"]}, "required", "required and not allowed"),
    ({"not": {}}, "not", "can never fit"),
    ({"not": True}, "not", "can never fit"),
    # nothing is checked
    ({"type": "string", "maximum": 30}, "maximum", "means nothing for type string"),
    ({"type": ["number", "null"], "maxLength": 30}, "maxLength", "means nothing for type number or null"),
    ({"type": "array", "properties": {}}, "properties", "means nothing for type array"),
    ({"if": {"required": ["a"]}}, "if", "means nothing without 'then' or 'else'"),
    ({"then": {"required": ["a"]}}, "then", "means nothing without 'if'"),
    ({"else": {"required": ["a"]}}, "else", "means nothing without 'if'"),
    ({"minContains": 2}, "minContains", "means nothing without 'contains'"),
    ({"$ref": "#"}, "$ref", "leads back to itself"),
    ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}, "$ref", "to itself"),
    ({"$ref": "#/definitions/nowhere"}, "", "does not exist"),
    ({"$ref": "#missing"}, "", "missing"),
    ({"$ref": "https://example.com/s"}, "", "can only point within this schema"),
    # patterns
    ({"pattern": "(?i)a"}, "pattern", "no inline flags"),
    ({"patternProperties": {r"\Aa": {}}}, "patternProperties", "not an ECMA-262 pattern"),
    ({"propertyNames": {"pattern": "\bid\b"}}, "propertyNames.pattern", "a backspace character"),
]


@pytest.mark.parametrize(("schema", "path", "message"), REFUSED)
def test_a_schema_that_would_not_check_what_it_says_is_refused(schema: dict[str, Any], path: str, message: str) -> None:
    with pytest.raises(SchemaProblem) as caught:
        compile_schema(schema)
    told = {".".join(map(str, mistake.path)): mistake.message for mistake in caught.value.mistakes}
    assert path in told, told
    assert message in told[path]


FORMS: dict[str, Callable[[Any], Any]] = {
    "schema": lambda schema: {"tools": {"pay": {"schema": schema}}},
    "MCP": lambda schema: {"tools": [{"name": "pay", "inputSchema": schema}]},
    "MCP answer": lambda schema: {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {"tools": [{"name": "p", "inputSchema": schema}]},
    },
    "OpenAI": lambda schema: [{"type": "function", "function": {"name": "pay", "parameters": schema}}],
    "Anthropic": lambda schema: [{"name": "pay", "input_schema": schema}],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": DRAFT_07, "type": "object"},
        {"properties": {"a": {"format": "emial"}}},
        {"properties": {"a": {"maximun": 3}}},
        {"properties": {"a": {"minimum": 501, "maximum": 500}}},
        {"properties": {"a": {"pattern": "(?i)a"}}},
    ],
)
def test_it_is_refused_in_every_form_of_policy(tmp_path: Path, form: str, schema: dict[str, Any]) -> None:
    suite = "tests: [{id: t, metric: args_valid, policy: policies/p.yaml, strict: true}]\n"
    (told,) = problems(tmp_path, suite, policy=json.dumps(FORMS[form](schema)))
    assert told.startswith("policies/p.yaml:1:")


def test_it_is_refused_in_json_schema_of_an_answer_at_its_own_line(tmp_path: Path) -> None:
    suite = """scenarios:
  - id: A
    correctness:
      json_schema:
        type: object
        properties:
          on: {type: string, format: datetime}
          off: {maximun: 3}
"""
    assert problems(tmp_path, suite) == [
        "passmuster.yaml:7:30: scenarios[0].correctness.json_schema: properties.on.format: unknown format 'datetime', "
        "so no value would be checked; did you mean 'date-time'?",
        "passmuster.yaml:8:17: scenarios[0].correctness.json_schema: properties.off.maximun: 'maximun' is not a "
        "keyword of JSON Schema, so nothing would be checked; did you mean 'maximum'?",
    ]


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {},
        {"$schema": "https://json-schema.org/draft/2020-12/schema"},
        {"$schema": "https://json-schema.org/draft/2020-12/schema#", "$id": "https://example.com/pay"},
        {"title": "T", "description": "D", "default": {"typ": 1}, "examples": [{"max": 3}], "$comment": "maximun"},
        {"properties": {"max": {"type": "number"}, "typ": {"type": "string"}, "format": {"type": "string"}}},
        {"properties": {"a": {"type": ["number", "null"], "minimum": 3, "maximum": 3}}},
        {"properties": {"a": {"type": "string", "enum": ["x", None], "nullable": True}}},
        {"x-order": 3, "x-maximun": 3, "discriminator": {"propertyName": "kind"}, "markdownDescription": "…"},
        {"errorMessage": {"type": "has to be a map", "required": "is missing"}},
        {"$ref": "#/$defs/tree", "$defs": {"tree": {"properties": {"left": {"$ref": "#/$defs/tree"}}}}},
        {"properties": {"self": {"$ref": "#"}}},
        {"$ref": "#/components/schemas/n", "components": {"schemas": {"n": {"type": "object"}}}},
        {"definitions": {"n": {"type": "number"}}, "properties": {"a": {"$ref": "#/definitions/n", "maximum": 30}}},
        {"dependencies": {"a": ["b"]}},
        {"if": {"required": ["a"]}, "then": {"required": ["b"]}},
        {"required": ["b"], "properties": {"a": {}}},
        {"required": ["b"], "patternProperties": {"^b": {}}, "additionalProperties": False},
        {"type": "number", "multipleOf": 0.1, "minimum": 0.3, "maximum": 0.3},
        {"contentMediaType": "application/json", "contentEncoding": "base64"},
    ],
)
def test_what_is_legitimate_is_not_refused(schema: Any) -> None:
    compile_schema(schema)


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        ({"name": "pay", key: {"type": "object"}}, f"'{key}' is no key of a tool definition")
        for key in (
            *("inputschema", "paramaters", "input-schema", "schema", "InputSchema", "input_Schema", "inputSchemas"),
            *("parameter", "params", "args", "arguments", "args_schema", "json_schema", "whatever"),
        )
    ]
    + [
        ({"name": "pay", "inputSchema": {}, "parameters": {}}, "'parameters' beside 'inputSchema'"),
        ({"type": "function", "parameters": {}, "function": {"name": "pay"}}, "it belongs inside 'function'"),
        ({"type": "function", "function": {"name": "pay", "paramters": {}}}, "'paramters' is no key"),
        ({"name": "pay", "inputSchema": None}, "inputSchema: expected a map, found null"),
    ],
)
def test_a_definition_whose_schema_would_be_overlooked_is_refused(
    tmp_path: Path, definition: dict[str, Any], message: str
) -> None:
    suite = "tests: [{id: t, metric: args_valid, policy: policies/p.yaml, strict: true}]\n"
    (told,) = problems(tmp_path, suite, policy=json.dumps([definition]))
    assert message in told


@pytest.mark.parametrize(
    "definition",
    [
        {"name": "pay"},
        {"name": "pay", "title": "Pay", "description": "…", "annotations": {"title": "x"}, "_meta": {"type": "object"}},
        {"name": "pay", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object"}, "icons": []},
        {"type": "function", "function": {"name": "pay", "strict": True}},
        {
            "name": "pay",
            "input_schema": {"type": "object"},
            "cache_control": {"type": "ephemeral"},
            "x-y": {"type": "object"},
        },
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 5},
    ],
)
def test_other_keys_of_definitions_are_allowed(tmp_path: Path, definition: dict[str, Any]) -> None:
    suite = "tests: [{id: t, metric: args_valid, policy: policies/p.yaml}]\n"
    passmuster.load_suite(write(tmp_path, suite, policy=json.dumps([definition])))


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ("{a: {type: number, min: 501, max: 500}}", "'min: 501' and 'max: 500' exclude each other"),
        ("{a: {minLength: 5, maxLength: 4}}", "'minLength: 5' and 'maxLength: 4' exclude each other"),
        ("{a: {type: string, enum: [1]}}", "no value of 'enum' fits 'type'"),
        ("{a: {max: 3, const: 5}}", "no value of 'const' fits"),
        ("{a: }", "a: is empty, so nothing would be checked; write '{}' for any value"),
        ("{a: {type: object, properties: {b: }}}", "b: is empty"),
        ("{a: {type: float}}", "'float' is not a JSON type; did you mean 'number'?"),
        ("{a: {type: object, properties: {b: {}}, required: [c], additionalProperties: false}}", "'c' is required"),
    ],
)
def test_a_short_notation_is_held_to_the_same(tmp_path: Path, constraints: str, message: str) -> None:
    (told,) = problems(tmp_path, f"tests: [{{id: t, metric: args_valid, tool: t, constraints: {constraints}}}]\n")
    assert message in told
