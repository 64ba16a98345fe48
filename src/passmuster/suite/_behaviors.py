"""What a scenario should show and must not: `expected_behaviors`, `must_not`, and the suite's `behaviors`.

A behavior is a name or a check. A name stands for the check of that name in the suite's `behaviors`; where there is
none, for what the trace recorded under that name, and else for a question to the judge.
"""

from __future__ import annotations

from collections.abc import Mapping as MappingOf
from typing import Any

from msgspec import Struct

from passmuster._problems import did_you_mean
from passmuster.suite._rubrics import read_threshold
from passmuster.suite.grammar._reader import Reader
from passmuster.suite.text._nodes import Mapping, Node, Scalar

__all__ = [
    "AnswerContains",
    "AnswerMatches",
    "Asked",
    "Behavior",
    "Named",
    "RuleHolds",
    "ToolCalled",
    "read_behaviors",
    "read_library",
]

_ASKED = 0.5
"""The threshold of a question where none is written."""


class ToolCalled(Struct, frozen=True):
    """Some call that one of these selectors means was made, or none was."""

    selectors: tuple[Any, ...]
    called: bool


class AnswerContains(Struct, frozen=True):
    """The answer has one of these texts, in any case."""

    texts: tuple[str, ...]


class AnswerMatches(Struct, frozen=True):
    """One of these patterns is found in the answer."""

    patterns: tuple[str, ...]


class RuleHolds(Struct, frozen=True):
    """A sequence rule holds."""

    rule: Any


class Asked(Struct, frozen=True):
    """A judge says so."""

    rule: str
    threshold: float = _ASKED


class Named(Struct, frozen=True):
    """The trace says so, or else a judge."""


class Behavior(Struct, frozen=True):
    """Something a run can show."""

    name: str
    check: ToolCalled | AnswerContains | AnswerMatches | RuleHolds | Asked | Named
    line: int

    @property
    def is_named(self) -> bool:
        """Whether it is a bare name that the suite does not define."""
        return isinstance(self.check, Named)

    @property
    def may_ask(self) -> bool:
        """Whether a judge may have to say."""
        return isinstance(self.check, Asked | Named)


_CHECKS = ("tool_called", "tool_not_called", "answer_contains", "answer_matches", "type", "judge")


def read_library(reader: Reader, node: Node) -> dict[str, Behavior]:
    """The suite's `behaviors`: checks by name."""
    found: dict[str, Behavior] = {}
    for entry in reader.mapping(node, "behaviors"):
        behavior = _checked(reader, entry.value, f"behaviors.{entry.key}", entry.key)
        if behavior is not None:
            found[entry.key] = behavior
    return found


def read_behaviors(reader: Reader, node: Node, at: str, library: MappingOf[str, Behavior]) -> tuple[Behavior, ...]:
    """What a scenario lists: names and checks. An empty list is refused, for it would ask nothing."""
    found: dict[str, Behavior] = {}
    items = reader.one_or_more(node)
    if not items:
        reader.problem(node, f"{at}: the list is empty, so nothing would be checked")
    for item in items:
        behavior = _behavior(reader, item, at, library)
        if behavior is None:
            continue
        if behavior.name in found:
            reader.problem(item, f"{at}: '{behavior.name}' is listed on line {found[behavior.name].line} already")
        found.setdefault(behavior.name, behavior)
    return tuple(found.values())


def _behavior(reader: Reader, node: Node, at: str, library: MappingOf[str, Behavior]) -> Behavior | None:
    if not isinstance(node, Scalar):
        return _checked(reader, node, at, None)
    name = reader.text(node, at)
    known = library.get(name)
    return Behavior(name, known.check if known else Named(), node.line) if name else None


def _checked(reader: Reader, node: Node, at: str, name: str | None) -> Behavior | None:
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
    own_name = () if name else ("name",)
    told = name or reader.optional_text(node, "name", at)
    kind = kinds[0]
    if kind == "type":
        rule = reader.vocabulary["named_rule" if own_name else "rule"].read(reader, node, at)
        return Behavior(told or f"{rule.type} rule on line {rule.line}", RuleHolds(rule), node.line) if rule else None
    also = ("threshold",) if kind == "judge" else ()
    reader.mapping(node, at, (kind, *own_name, *also))
    value = node.entries[kind].value
    place = f"{at}.{kind}"
    match kind:
        case "tool_called" | "tool_not_called":
            selectors = reader.vocabulary["selectors"].read(reader, value, place)
            words = " or ".join(selector.name for selector in selectors)
            return Behavior(told or f"{kind}: {words}", ToolCalled(selectors, kind == "tool_called"), node.line)
        case "answer_contains":
            texts = tuple(reader.text(item, place) for item in _some(reader, value, place))
            return Behavior(told or f"{kind}: {' or '.join(texts)}", AnswerContains(texts), node.line)
        case "answer_matches":
            patterns = tuple(reader.regex(item, place) for item in _some(reader, value, place))
            return Behavior(told or f"{kind}: {' or '.join(patterns)}", AnswerMatches(patterns), node.line)
        case _:
            question = reader.text(value, place)
            return Behavior(told or question, Asked(question, read_threshold(reader, node, at, _ASKED)), node.line)


def _some(reader: Reader, node: Node, at: str) -> list[Node]:
    items = reader.one_or_more(node)
    if not items:
        reader.problem(node, f"{at}: the list is empty, so nothing would be checked")
    return items
