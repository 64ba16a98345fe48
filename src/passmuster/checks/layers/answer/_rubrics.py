"""What a judge is asked about an answer, and how it is written."""

from typing import Annotated

from passmuster.checks._question import Example
from passmuster.suite import (
    FRACTION,
    TEXT,
    Custom,
    Definitions,
    JsonSchema,
    Key,
    Mapping,
    Node,
    OneOrMore,
    Reader,
    Record,
    RecordOf,
    Scalar,
)


class Rubric(Record, frozen=True, kw_only=True):
    """One question to a judge."""

    rule: Annotated[str, TEXT, Key("What the answer is measured by.", example="Apologizes for the delay.")] = ""
    threshold: Annotated[
        float, FRACTION, Key("The share of the scale from 1 to 5 from which the answer passes.", example=0.7)
    ] = 0.5
    examples: Annotated[
        tuple[Example, ...], OneOrMore(RecordOf(Example), empty=True), Key("Answers with the scores they deserve.")
    ] = ()
    context: Annotated[str | None, TEXT, Key("What the judge has to know besides.")] = None
    line: int


class BuiltInRubric(Rubric, frozen=True, kw_only=True):
    """A question that is asked by default, with what a suite adds to it."""

    threshold: Annotated[
        float, FRACTION, Key("The share of the scale from 1 to 5 from which the answer passes.", example=0.8)
    ] = 0.8


_RULED, _BUILT_IN = RecordOf(Rubric), RecordOf(BuiltInRubric)


def _read_rubric(reader: Reader, node: Node, at: str) -> Rubric:
    if isinstance(node, Scalar):
        return Rubric(rule=TEXT.read(reader, node, at), line=node.line)
    if isinstance(node, Mapping):
        reader.required(node, "rule", at)
    return _RULED.read(reader, node, at)


def _read_built_in(reader: Reader, node: Node, at: str) -> Rubric:
    if isinstance(node, Scalar) and isinstance(node.value, bool):
        if not node.value:
            reader.problem(node, f"{at}: expected true or a map; to do without what 'defaults' state, write null")
        return BuiltInRubric(line=node.line)
    if isinstance(node, Scalar):
        return BuiltInRubric(rule=TEXT.read(reader, node, at), line=node.line)
    return _BUILT_IN.read(reader, node, at)


def _rubric_schema(definitions: Definitions) -> JsonSchema:
    return {"anyOf": [TEXT.schema(definitions), {**_RULED.schema(definitions), "required": ["rule"]}]}


def _built_in_schema(definitions: Definitions) -> JsonSchema:
    return {"anyOf": [{"const": True}, TEXT.schema(definitions), _BUILT_IN.schema(definitions)]}


RUBRICS = OneOrMore(
    Custom("a rule, or a map", _read_rubric, _rubric_schema),
    why_not_empty="the list is empty, so nothing would be asked",
)
BUILT_IN_RUBRIC = Custom("true, a rule, or a map", _read_built_in, _built_in_schema)
