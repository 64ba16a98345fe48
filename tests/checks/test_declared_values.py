"""The value types of checks: what is read conforms to their JSON Schema, and what the schema accepts is read."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passmuster.checks import KINDS, RULES, BuiltInKind, MatcherWords, rule_class
from passmuster.checks._selectors import SELECTORS
from passmuster.checks.args import ARGUMENTS, Argument
from passmuster.checks.matchers import MATCHER
from passmuster.checks.rules import RULE
from passmuster.suite import Definitions, Reader, RecordOf, Value, fields_of
from passmuster.suite.text._json import read_json

ATOMS = st.sampled_from([None, True, False, 0, 1, -1, 2, 0.5, "", "a", "pay_*", "number", "string", "block", "x y"])


def documents(*keys: str) -> st.SearchStrategy[Any]:
    """JSON values in which these keys are likely."""
    names = st.sampled_from([*keys, "x-note", "odd"])
    return st.recursive(
        ATOMS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4), max_leaves=6
    )


def rules() -> st.SearchStrategy[Any]:
    """Maps with the type of a rule and some of its keys."""
    selector = st.sampled_from(["pay", ["a", "b_*"], {"tool": "pay", "args": {"n": {"$gt": 1}}}, ["a", ["b", "c"]], []])
    value = st.one_of(selector, st.integers(-1, 3), st.booleans())

    def of(name: str) -> st.SearchStrategy[Any]:
        keys = st.sampled_from([*fields_of(rule_class(name)), "odd"])
        return st.dictionaries(keys, value, max_size=4).map(lambda found: {"type": name, **found})

    return st.sampled_from([*RULES]).flatmap(of)


VALUES: dict[str, tuple[Value[Any], st.SearchStrategy[Any]]] = {
    "matcher": (MATCHER, documents(*fields_of(MatcherWords), "a")),
    "selectors": (SELECTORS, documents("tool", "args", "result", "failed")),
    "rule": (RULE, rules()),
    "arguments": (ARGUMENTS, documents(*fields_of(Argument))),
    "blocklist": (RecordOf(BuiltInKind("tool_blocklist").record), documents("blocklist")),
}
ACROSS_KEYS = ("can never", "means nothing", "says again", "is never closed")
"""What a JSON Schema does not say."""


@pytest.mark.parametrize("name", VALUES)
@settings(deadline=None)
@given(data=st.data())
def test_what_is_read_conforms_to_the_schema(name: str, data: st.DataObject) -> None:
    value, written = VALUES[name]
    document = data.draw(written)
    reader = Reader("s.json")
    value.read(reader, read_json(json.dumps(document), "s.json"), "here")
    definitions = Definitions()
    schema = {**value.schema(definitions), "$defs": definitions}
    accepted = jsonschema_rs.Draft202012Validator(schema).is_valid(document)
    if not reader.problems:
        assert accepted, document
    elif accepted:
        assert all(any(word in one.message for word in ACROSS_KEYS) for one in reader.problems), reader.problems


def test_everything_declared_is_described() -> None:
    records = [BuiltInKind(name).record for name in KINDS]
    for record in [*records, *map(rule_class, RULES), MatcherWords, Argument]:
        assert (record.__doc__ or "").partition("\n")[0].endswith("."), record
        for key, field in fields_of(record).items():
            assert field.key.description.endswith("."), (record, key)
