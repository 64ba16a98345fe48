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
    Node,
    OneOrMore,
    Reader,
    Record,
    RecordOf,
    Scalar,
)


class Rubric(Record, frozen=True, kw_only=True):
    """One question to a judge."""

    rule: Annotated[str, TEXT, Key("What the answer is measured by.", example="Apologizes for the delay.")]
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

    rule: Annotated[str, TEXT, Key("What the answer is measured by.", example="Apologizes for the delay.")] = ""
    threshold: Annotated[
        float, FRACTION, Key("The share of the scale from 1 to 5 from which the answer passes.", example=0.8)
    ] = 0.8


_BUILT_IN = RecordOf(BuiltInRubric, short="rule")


def _read_built_in(reader: Reader, node: Node, at: str) -> Rubric:
    if not isinstance(node, Scalar) or not isinstance(node.value, bool):
        return _BUILT_IN.read(reader, node, at)
    if not node.value:
        reader.problem(node, f"{at}: expected true or a map; to do without what 'defaults' state, write null")
    return BuiltInRubric(line=node.line)


def _built_in_schema(definitions: Definitions) -> JsonSchema:
    return {"anyOf": [{"const": True}, _BUILT_IN.schema(definitions)]}


RUBRICS = OneOrMore(
    RecordOf(Rubric, "a rule, or a map", short="rule"), why_not_empty="the list is empty, so nothing would be asked"
)
BUILT_IN_RUBRIC = Custom("true, a rule, or a map", _read_built_in, _built_in_schema)
