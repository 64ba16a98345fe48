"""What a judge is asked in `correctness`: `llm_judge`, `safety_check`, `hallucination_check`. This is their grammar."""

from __future__ import annotations

from msgspec import Struct

from passmuster.suite.grammar._reader import Reader
from passmuster.suite.text._nodes import Mapping, Node, Scalar

__all__ = ["Example", "Rubric", "read_one_rubric", "read_rubrics", "read_threshold"]

_KEYS = ("rule", "threshold", "examples", "context")
_JUDGE = 0.5
_CHECK = 0.8
"""Thresholds where none is written: of a rubric, and of the two built-in questions."""


class Example(Struct, frozen=True):
    """An answer with the score it deserves, to show a judge what is meant."""

    answer: str
    score: int
    reason: str = ""


class Rubric(Struct, frozen=True, kw_only=True):
    """One question to a judge, and the share of the scale from which its answer passes."""

    rule: str
    """In the suite's words; empty where the question is the built-in one."""
    threshold: float
    examples: tuple[Example, ...] = ()
    context: str | None = None
    line: int = 0


def read_rubrics(reader: Reader, node: Node, at: str) -> tuple[Rubric, ...]:
    """What `llm_judge` asks: a rule, a map, or a list of these."""
    items = reader.one_or_more(node)
    if not items:
        reader.problem(node, f"{at}: the list is empty, so nothing would be asked")
    return tuple(_rubric(reader, item, at, _JUDGE, required=True) for item in items)


def read_one_rubric(reader: Reader, node: Node, at: str) -> Rubric | None:
    """What `safety_check` and `hallucination_check` ask: `true`, a rule, or a map."""
    if isinstance(node, Scalar) and isinstance(node.value, bool):
        if not node.value:
            reader.problem(node, f"{at}: expected true or a map; to do without what 'defaults' state, write null")
        return Rubric(rule="", threshold=_CHECK, line=node.line)
    return _rubric(reader, node, at, _CHECK, required=False)


def read_threshold(reader: Reader, map_: Mapping, at: str, default: float) -> float:
    """The share of the scale from which a judge's score passes."""
    node = map_.get("threshold")
    if node is None:
        return default
    value = reader.number(node, f"{at}.threshold")
    if not 0 <= value <= 1:
        reader.expected("a number from 0 to 1", node, f"{at}.threshold")
        return default
    return value


def _rubric(reader: Reader, node: Node, at: str, default: float, *, required: bool) -> Rubric:
    if isinstance(node, Scalar):
        return Rubric(rule=reader.text(node, at), threshold=default, line=node.line)
    map_ = reader.mapping(node, at, _KEYS)
    if required and isinstance(node, Mapping):
        reader.required(map_, "rule", at)
    return Rubric(
        rule=reader.optional_text(map_, "rule", at) or "",
        threshold=read_threshold(reader, map_, at, default),
        examples=tuple(_example(reader, item, f"{at}.examples") for item in reader.listed(map_, "examples")),
        context=reader.optional_text(map_, "context", at),
        line=node.line,
    )


def _example(reader: Reader, node: Node, at: str) -> Example:
    map_ = reader.mapping(node, at, ("answer", "score", "reason"))
    answer, score = reader.required(map_, "answer", at), reader.required(map_, "score", at)
    number = reader.whole(score, f"{at}.score", 1) if score is not None else 1
    if score is not None and number > 5:
        reader.expected("a score from 1 to 5", score, f"{at}.score")
    return Example(
        reader.text(answer, f"{at}.answer", empty=True) if answer is not None else "",
        number,
        reader.optional_text(map_, "reason", at) or "",
    )
