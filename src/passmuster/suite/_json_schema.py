"""The JSON Schema of a suite file, for editors: put together from the declarations of its keys."""

from __future__ import annotations

from collections.abc import Mapping

from passmuster.suite._model import CheckKind, Test
from passmuster.suite._suite_file import SuiteFile
from passmuster.suite.grammar._records import Record, object_schema
from passmuster.suite.grammar._values import ANYTHING, TEXT, Custom, Definitions, JsonSchema, OneOrMore, Vocabulary

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def suite_schema(vocabulary: Vocabulary, kinds: Mapping[str, CheckKind]) -> JsonSchema:
    """The JSON Schema (2020-12) of a suite with these kinds of check; `vocabulary` is what it is read with."""
    tests = Custom("a list of tests", ANYTHING.read, lambda definitions: _tests(kinds, definitions))
    ids = {"test_id": TEXT, "scenario_pattern": TEXT, "scenario_patterns": OneOrMore(TEXT)}
    definitions = Definitions({**vocabulary, **ids, "tests": tests})
    schema = object_schema(SuiteFile, definitions)
    return {"$schema": DIALECT, "title": "passmuster suite", **schema, "$defs": dict(sorted(definitions.items()))}


def _tests(kinds: Mapping[str, CheckKind], definitions: Definitions) -> JsonSchema:
    """A list of tests, each with the keys of its kind of check. Custom checks take `config` and nothing else."""
    cases = [
        {
            "if": {"properties": {"metric": {"const": name}}, "required": ["metric"]},
            "then": definitions.ref(f"{name}_test", lambda name=name: _test(kinds[name].record, definitions)),  # type: ignore[misc]
        }
        for name in kinds
    ]
    custom = {
        "if": {"properties": {"metric": {"enum": list(kinds)}}, "required": ["metric"]},
        "else": definitions.ref("custom_test", lambda: _test(None, definitions)),
    }
    metric = {"description": "The kind of check.", "examples": list(kinds)}
    return {"type": "array", "items": {"properties": {"metric": metric}, "allOf": [*cases, custom]}}


def _test(record: type[Record] | None, definitions: Definitions) -> JsonSchema:
    """A test's own keys together with those of its kind of check."""
    schema = object_schema(Test, definitions)
    own = object_schema(record, definitions) if record else {"properties": {"config": {"type": "object"}}}
    joined = {key: value for key, value in own.items() if key not in schema}
    return {
        **schema,
        **joined,
        "description": own.get("description", schema["description"]),
        "properties": {**schema["properties"], **own["properties"]},
        "required": [*schema["required"], *own.get("required", ())],
    }
