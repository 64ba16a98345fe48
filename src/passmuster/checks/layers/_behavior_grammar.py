"""How `behaviors`, `expected_behaviors` and `must_not` are written.

A behavior is a name or a check. A name stands for the check of that name in the suite's `behaviors`; where there is
none, for what the trace recorded under that name, and else for a question to the judge.
"""

from typing import Annotated, Any

from passmuster._problems import did_you_mean
from passmuster.checks._selectors import SELECTORS, Selectors
from passmuster.checks.rules import AnyRule, Rule
from passmuster.suite import (
    FRACTION,
    PHRASE,
    REGEX,
    TEXT,
    Behavior,
    Custom,
    Definitions,
    JsonSchema,
    Key,
    Mapping,
    Node,
    OneOrMore,
    Reader,
    Record,
    Scalar,
    Value,
    object_schema,
    read_record,
)


class ToolCalled(Record, frozen=True, kw_only=True):
    """A call was made and succeeded."""

    tool_called: Annotated[Selectors, SELECTORS, Key("Which call; of a list, any.", example="verify_identity")]


class ToolNotCalled(Record, frozen=True, kw_only=True):
    """No such call was made, not even one that failed."""

    tool_not_called: Annotated[Selectors, SELECTORS, Key("Which call; of a list, any.", example="delete_*")]


class AnswerContains(Record, frozen=True, kw_only=True):
    """The answer has one of these texts, in any case."""

    answer_contains: Annotated[tuple[str, ...], OneOrMore(PHRASE), Key("A text; of a list, any.", example="refund")]


class AnswerMatches(Record, frozen=True, kw_only=True):
    """One of these patterns is found in the answer."""

    answer_matches: Annotated[tuple[str, ...], OneOrMore(REGEX), Key("A pattern; of a list, any.", example="[0-9]+")]


class Asked(Record, frozen=True, kw_only=True):
    """A judge says so."""

    judge: Annotated[str, TEXT, Key("The question for the judge.", example="Is the answer polite?")]
    threshold: Annotated[
        float, FRACTION, Key("The fraction of the scale from 1 to 5 at which it counts as observed.", example=0.8)
    ] = 0.5


Check = ToolCalled | ToolNotCalled | AnswerContains | AnswerMatches | Asked | Rule | None
"""How a behavior is decided; None where the trace or a judge has to tell."""

_RECORDS: dict[str, type[ToolCalled | ToolNotCalled | AnswerContains | AnswerMatches | Asked]] = {
    "tool_called": ToolCalled,
    "tool_not_called": ToolNotCalled,
    "answer_contains": AnswerContains,
    "answer_matches": AnswerMatches,
    "judge": Asked,
}
_CHECKS = ("tool_called", "tool_not_called", "answer_contains", "answer_matches", "type", "judge")


def _read_check(reader: Reader, node: Node, at: str, name: str | None) -> Behavior | None:
    """The behavior that a map spells; one in the suite's `behaviors` has its name already."""
    if not isinstance(node, Mapping):
        reader.expected(f"a map with one of {', '.join(_CHECKS)}", node, at)
        return None
    kinds = [key for key in _CHECKS if key in node]
    if len(kinds) != 1:
        strange = [entry.key for entry in node if entry.key not in (*_CHECKS, "name", "threshold")]
        hint = did_you_mean(strange[0], _CHECKS) if strange else ""
        found = f"found {' and '.join(kinds)}" if kinds else f"found {', '.join(strange) or 'none'}{hint}"
        reader.problem(node, f"{at}: expected one of {', '.join(_CHECKS)}; {found}")
        return None
    own = {} if name else _NAME
    told = name or reader.optional_text(node, "name", at)
    if kinds[0] == "type":
        rule: Rule | None = AnyRule(**own).read(reader, node, at)
        return Behavior(told or f"{rule.type} rule on line {rule.line}", rule, node.line) if rule else None
    check = read_record(_RECORDS[kinds[0]], reader, node, at, also=own)
    if check is None or isinstance(check, Asked):
        return Behavior(told or check.judge, check, node.line, may_ask=True) if check else None
    words = " or ".join(getattr(one, "name", one) for one in getattr(check, kinds[0]))
    return Behavior(told or f"{kinds[0]}: {words}", check, node.line)


_NAME: dict[str, Value[Any]] = {"name": TEXT}


def _read_one(reader: Reader, node: Node, at: str) -> Behavior | None:
    if not isinstance(node, Scalar):
        return _read_check(reader, node, at, None)
    name = reader.text(node, at)
    return Behavior(name, None, node.line, may_ask=True) if name else None


def _read_list(reader: Reader, node: Node, at: str) -> tuple[Behavior, ...]:
    """What a scenario lists. An empty list is refused, for it would ask nothing; so is a name that comes twice."""
    found: dict[str, Behavior] = {}
    items = reader.one_or_more(node)
    if not items:
        reader.problem(node, f"{at}: the list is empty, so nothing would be checked")
    for item in items:
        behavior = _read_one(reader, item, at)
        if behavior is not None and behavior.name in found:
            reader.problem(item, f"{at}: '{behavior.name}' is listed on line {found[behavior.name].line} already")
        elif behavior is not None:
            found[behavior.name] = behavior
    return tuple(found.values())


def _read_library(reader: Reader, node: Node, at: str) -> dict[str, Behavior]:
    entries = reader.mapping(node, at)
    found = {entry.key: _read_check(reader, entry.value, f"{at}.{entry.key}", entry.key) for entry in entries}
    return {name: behavior for name, behavior in found.items() if behavior is not None}


def _check_schema(definitions: Definitions, *, named: bool) -> JsonSchema:
    """One of the checks; with `named`, it may carry a name."""
    own = {key: value.schema(definitions) for key, value in _NAME.items()} if named else {}
    cases = []
    for record in _RECORDS.values():
        schema = object_schema(record, definitions)
        cases.append({**schema, "properties": {**schema["properties"], **own}})
    return {"oneOf": [*cases, AnyRule(**(_NAME if named else {})).schema(definitions)]}


def _list_schema(definitions: Definitions) -> JsonSchema:
    one = definitions.ref(
        "behavior",
        lambda: {"anyOf": [TEXT.schema(definitions), _check_schema(definitions, named=True)]},
    )
    return {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]}


def _library_schema(definitions: Definitions) -> JsonSchema:
    check = definitions.ref("behavior_check", lambda: _check_schema(definitions, named=False))
    return {"type": "object", "additionalProperties": check}


BEHAVIOR_LIST = Custom("a behavior, or a list of these", _read_list, _list_schema)
BEHAVIORS = Custom("a map of names to checks", _read_library, _library_schema)
