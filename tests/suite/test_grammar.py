"""Declared keys: what a record reads, what it refuses and where, and that its JSON Schema says the same."""

import json
from collections.abc import Iterator
from typing import Annotated, Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passmuster.suite import (
    AMOUNT,
    ANYTHING,
    BOOLEAN,
    FRACTION,
    NUMBER,
    PROSE,
    REGEX,
    TEXT,
    TOOL_PATTERN,
    WHOLE,
    Choice,
    Custom,
    Definitions,
    Either,
    Key,
    ListOf,
    MapOf,
    Mapping,
    Mistake,
    OneOrMore,
    Reader,
    Record,
    RecordOf,
    Value,
    Whole,
    object_schema,
    read_record,
)
from passmuster.suite.grammar._records import reference_rows
from passmuster.suite.text._json import read_json


class Call(Record, frozen=True, kw_only=True):
    """A call that is expected."""

    tool: Annotated[str, TOOL_PATTERN, Key("Which tool.", example="refund")]
    from_: Annotated[str | None, TEXT, Key("Who calls it.", name="from")] = None
    least: Annotated[int | None, WHOLE, Key("At least this many.")] = None
    most: Annotated[int | None, Whole(1), Key("At most this many.")] = None
    strict: Annotated[bool, BOOLEAN, Key("No others between.", needs="least")] = False
    line: int = 0
    lines: dict[str, int]

    def mistakes(self, map_: Mapping) -> Iterator[Mistake]:
        if self.least is not None and self.most is not None and self.least > self.most:
            yield map_.entries["least"], f"least {self.least} is above most {self.most}"


def reading(text: str) -> tuple[Call | None, list[str]]:
    reader = Reader("s.json")
    found = read_record(Call, reader, read_json(text, "s.json"), "call")
    return found, [str(problem) for problem in reader.problems]


def test_a_record_is_read_with_its_places() -> None:
    found, problems = reading('{"tool": "pay_*",\n "from": "a", "least": 2, "x-note": 1}')
    assert problems == []
    assert found == Call(
        tool="pay_*", from_="a", least=2, line=1, lines={"tool": 1, "from": 2, "least": 2, "x-note": 2}
    )


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("[1]", ["s.json:1:1: call: expected a map, found a list"]),
        ("{}", ["s.json:1:1: call: 'tool' is missing"]),
        ('{"tool": "a", "leest": 1}', ["s.json:1:15: call: unknown key 'leest'; did you mean 'least'?"]),
        ('{"tool": "a", "strict": true}', ["s.json:1:15: call: 'strict' means nothing without 'least'"]),
        ('{"tool": "a", "least": 3, "most": 2}', ["s.json:1:15: call: least 3 is above most 2"]),
        (
            '{"tool": "", "most": 0, "from": []}',
            [
                "s.json:1:10: call.tool: a tool pattern cannot be empty",
                "s.json:1:33: call.from: expected a string, found a list",
                "s.json:1:22: call.most: expected a whole number of 1 or more, found a number ('0')",
            ],
        ),
    ],
)
def test_every_mistake_is_told_with_its_place(text: str, problems: list[str]) -> None:
    assert reading(text)[1] == problems


def test_the_schema_describes_each_key() -> None:
    definitions = Definitions()
    schema = object_schema(Call, definitions)
    assert schema["description"] == "A call that is expected."
    assert schema["required"] == ["tool"]
    assert schema["dependentRequired"] == {"strict": ["least"]}
    assert schema["properties"]["tool"]["description"] == "Which tool."
    assert schema["properties"]["tool"]["examples"] == ["refund"]
    assert list(schema["properties"]) == ["tool", "from", "least", "most", "strict"]
    assert next(reference_rows(Call)) == ("tool", "a tool name or pattern", "required", "Which tool.")


WORD = Choice("one", "two")
VALUES: dict[str, Value[Any]] = {
    "text": TEXT,
    "prose": PROSE,
    "number": NUMBER,
    "amount": AMOUNT,
    "fraction": FRACTION,
    "whole": WHOLE,
    "boolean": BOOLEAN,
    "tool": TOOL_PATTERN,
    "regex": REGEX,
    "anything": ANYTHING,
    "choice": WORD,
    "list": ListOf(WHOLE),
    "full list": ListOf(WHOLE, least=1),
    "one or more": OneOrMore(WORD),
    "map": MapOf(BOOLEAN),
    "either": Either("a word or a list", scalar=WORD, list=ListOf(WORD)),
    "referred to": Custom(
        "a word, or a list of these",
        OneOrMore(WORD).read,
        lambda definitions: definitions.ref("words", lambda: OneOrMore(WORD).schema(definitions)),
    ),
    "record": RecordOf(Call),
}
ATOMS = st.sampled_from([None, True, False, 0, 1, -1, 2, 0.5, 1.5, "", " ", "a", "one", "two", "pay_*", "a b"])
JSON = st.recursive(
    ATOMS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["tool", "least", "most", "strict", "from", "x-y", "odd"]), inner, max_size=4)
    ),
    max_leaves=6,
)


@pytest.mark.parametrize("name", VALUES)
@settings(deadline=None)
@given(data=st.data())
def test_what_is_read_conforms_to_the_schema(name: str, data: st.DataObject) -> None:
    """An editor never refuses what the program reads, and what the schema accepts is read, unless keys conflict."""
    value = VALUES[name]
    document = data.draw(JSON)
    reader = Reader("s.json")
    value.read(reader, read_json(json.dumps(document), "s.json"), "here")
    definitions = Definitions()
    schema = {**value.schema(definitions), "$defs": definitions}
    accepted = jsonschema_rs.Draft202012Validator(schema).is_valid(document)
    if not reader.problems:
        assert accepted
    elif accepted:
        assert all("is above" in problem.message for problem in reader.problems)
