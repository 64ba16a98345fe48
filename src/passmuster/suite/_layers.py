"""The three layers of a scenario: `correctness`, `path` and `cost`. This is their grammar.

A layer keeps the line of each of its keys, for the report names the line that was broken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

from msgspec import Struct

from passmuster.suite.grammar._reader import Reader
from passmuster.suite.text._nodes import Mapping, Node, Scalar, Sequence

if TYPE_CHECKING:
    from passmuster.suite._rubrics import Rubric

__all__ = [
    "LAYER_KEYS",
    "Correctness",
    "Cost",
    "ExpectedCall",
    "ExpectedCalls",
    "HandoffStep",
    "Path",
    "read_correctness",
    "read_cost",
    "read_path",
]

MatchMode = Literal["strict", "unordered", "subset", "superset"]
MATCH_MODES = ("strict", "unordered", "subset", "superset")


class Correctness(Struct, frozen=True, kw_only=True):
    """What the answer has to be."""

    lines: dict[str, int]
    expected_in_answer: tuple[str, ...] | None = None
    any_expected_in_answer: tuple[str, ...] | None = None
    not_in_answer: tuple[str, ...] | None = None
    exact_match: str | None = None
    regex_match: tuple[str, ...] | None = None
    json_schema: dict[str, Any] | bool | None = None
    label: str | None = None
    """The same as the scenario's own `label`."""
    llm_judge: tuple[Rubric, ...] | None = None
    safety_check: Rubric | None = None
    hallucination_check: Rubric | None = None

    @property
    def is_judged(self) -> bool:
        """Whether it asks what only a judge can say."""
        return bool(self.llm_judge or self.safety_check or self.hallucination_check)


class ExpectedCall(Struct, frozen=True):
    """One call that should be made, with the arguments that matter."""

    tool: str
    args: dict[str, Any] | None
    """None where any arguments will do."""
    line: int


class ExpectedCalls(Struct, frozen=True, kw_only=True):
    """Which calls should be made, and how strictly they are compared."""

    calls: tuple[ExpectedCall, ...]
    mode: Literal["any_order", "in_order", "exact"] = "any_order"
    extras: Literal["allow", "forbid"] = "allow"
    args: Literal["subset", "exact"] = "subset"
    scope: Literal["all", "effects"] = "all"
    failed: Literal["count", "ignore"] = "count"


class HandoffStep(Struct, frozen=True):
    """A handoff that should happen: to whom, and from whom where that matters."""

    to: str
    from_: str | None = None


class Path(Struct, frozen=True, kw_only=True):
    """Which tools the agent should use, and how."""

    lines: dict[str, int]
    expected_tools: tuple[str, ...] | None = None
    min_tool_recall: float | None = None
    min_tool_precision: float | None = None
    min_tool_f1: float | None = None
    expected_tool_sequence: tuple[str, ...] | None = None
    match_mode: MatchMode | None = None
    min_sequence_similarity: float | None = None
    similarity: Literal["lcs", "edit"] = "lcs"
    max_tool_calls: int | None = None
    max_loops: int | None = None
    expected_handoff: tuple[HandoffStep, ...] | None = None
    forbidden_tools: tuple[str, ...] | None = None
    expected_calls: ExpectedCalls | None = None


class Cost(Struct, frozen=True, kw_only=True):
    """What a run may use up."""

    lines: dict[str, int]
    max_cost_multiplier: float | None = None
    max_total_tokens: float | None = None
    max_llm_calls: float | None = None
    max_latency_ms: float | None = None
    max_cost_usd: float | None = None


def _keys(kind: type[Struct]) -> tuple[str, ...]:
    return tuple(name for name in kind.__struct_fields__ if name != "lines")


LAYER_KEYS = {"correctness": _keys(Correctness), "path": _keys(Path), "cost": _keys(Cost)}
"""What each layer may state."""


def _lines(map_: Mapping) -> dict[str, int]:
    return {entry.key: entry.line for entry in map_}


def _fraction(reader: Reader, node: Node, at: str) -> float:
    value = reader.number(node, at)
    if not 0 <= value <= 1:
        reader.expected("a number from 0 to 1", node, at)
        return 0.0
    return value


def read_correctness(reader: Reader, node: Node, at: str) -> Correctness:
    """What `correctness:` states."""
    map_ = reader.mapping(node, at, _keys(Correctness))
    fields: dict[str, Any] = {}
    for entry in map_:
        place = f"{at}.{entry.key}"
        match entry.key:
            case "expected_in_answer" | "any_expected_in_answer" | "not_in_answer":
                fields[entry.key] = _terms(reader, entry.value, place)
            case "exact_match":
                fields["exact_match"] = reader.text(entry.value, place, empty=True)
            case "regex_match":
                fields["regex_match"] = tuple(reader.regex(item, place) for item in reader.one_or_more(entry.value))
            case "json_schema":
                fields["json_schema"] = reader.vocabulary["json_schema"].read(reader, entry.value, place)
            case "label":
                fields["label"] = reader.text(entry.value, place)
            case "llm_judge":
                from passmuster.suite._rubrics import read_rubrics  # late, for most suites ask no judge

                fields["llm_judge"] = read_rubrics(reader, entry.value, place)
            case "safety_check" | "hallucination_check":
                from passmuster.suite._rubrics import read_one_rubric

                fields[entry.key] = read_one_rubric(reader, entry.value, place)
    _nothing_empty(reader, map_, fields, at)
    return Correctness(lines=_lines(map_), **fields)


def _terms(reader: Reader, node: Node, at: str) -> tuple[str, ...]:
    return tuple(reader.text(item, at) for item in reader.one_or_more(node))


def _nothing_empty(reader: Reader, map_: Mapping, fields: dict[str, Any], at: str) -> None:
    """An empty list of terms or patterns could never fail."""
    for key in ("expected_in_answer", "any_expected_in_answer", "not_in_answer", "regex_match"):
        if fields.get(key) == ():
            reader.problem(map_.entries[key], f"{at}.{key}: the list is empty, so nothing would be checked")


def read_path(reader: Reader, node: Node, at: str) -> Path:
    """What `path:` states."""
    map_ = reader.mapping(node, at, _keys(Path))
    fields: dict[str, Any] = {}
    for entry in map_:
        place, value = f"{at}.{entry.key}", entry.value
        match entry.key:
            case "expected_tools" | "expected_tool_sequence":
                fields[entry.key] = tuple(reader.text(item, place) for item in reader.one_or_more(value))
            case "forbidden_tools":
                fields["forbidden_tools"] = tuple(reader.pattern(item, place) for item in reader.one_or_more(value))
                if not fields["forbidden_tools"]:
                    reader.problem(entry, f"{place}: the list is empty, so nothing would be checked")
            case "min_tool_recall" | "min_tool_precision" | "min_tool_f1" | "min_sequence_similarity":
                fields[entry.key] = _fraction(reader, value, place)
            case "match_mode":
                fields["match_mode"] = reader.choice(value, place, MATCH_MODES)
            case "similarity":
                fields["similarity"] = reader.choice(value, place, ("lcs", "edit"))
            case "max_tool_calls" | "max_loops":
                fields[entry.key] = reader.whole(value, place)
            case "expected_handoff":
                fields["expected_handoff"] = tuple(_handoff(reader, item, place) for item in reader.one_or_more(value))
            case "expected_calls":
                fields["expected_calls"] = _expected_calls(reader, value, place)
    _refuse_unfed(reader, map_, at)
    return Path(lines=_lines(map_), **fields)


def _refuse_unfed(reader: Reader, map_: Mapping, at: str) -> None:
    """A limit that nothing can feed would never be checked."""
    for key, feeder in (
        ("min_tool_recall", "expected_tools"),
        ("min_tool_precision", "expected_tools"),
        ("min_tool_f1", "expected_tools"),
        ("similarity", "min_sequence_similarity"),
    ):
        if key in map_ and feeder not in map_:
            reader.problem(map_.entries[key], f"{at}: '{key}' means nothing without '{feeder}'")


def _handoff(reader: Reader, node: Node, at: str) -> HandoffStep:
    if not isinstance(node, Mapping):
        return HandoffStep(reader.text(node, at))
    map_ = reader.mapping(node, at, ("from", "to"))
    to = reader.required(map_, "to", at)
    return HandoffStep(reader.text(to, f"{at}.to") if to is not None else "", reader.optional_text(map_, "from", at))


_CALL_OPTIONS: dict[str, tuple[str, ...]] = {
    "mode": ("any_order", "in_order", "exact"),
    "extras": ("allow", "forbid"),
    "args": ("subset", "exact"),
    "scope": ("all", "effects"),
    "failed": ("count", "ignore"),
}
_NO_CALL = "no call is listed and extras are allowed, so nothing would be checked"


def _expected_calls(reader: Reader, node: Node, at: str) -> ExpectedCalls:
    if isinstance(node, Sequence):
        if not node.items:
            reader.problem(node, f"{at}: {_NO_CALL}")
        return ExpectedCalls(calls=_calls(reader, node, at))
    map_ = reader.mapping(node, at, ("calls", *_CALL_OPTIONS))
    calls = reader.required(map_, "calls", at)
    options = {
        key: reader.choice(cast("Node", map_.get(key)), f"{at}.{key}", words)
        for key, words in _CALL_OPTIONS.items()
        if key in map_
    }
    listed = _calls(reader, calls, f"{at}.calls") if calls is not None else ()
    if not listed and calls is not None and options.get("extras") != "forbid" and options.get("mode") != "exact":
        reader.problem(calls, f"{at}: {_NO_CALL}")
    return ExpectedCalls(calls=listed, **options)  # type: ignore[arg-type]


def _calls(reader: Reader, node: Node, at: str) -> tuple[ExpectedCall, ...]:
    return tuple(reader.each(node, at, lambda item, place: _call(reader, item, place)))


def _call(reader: Reader, node: Node, at: str) -> ExpectedCall:
    if isinstance(node, Scalar):
        return ExpectedCall(reader.pattern(node, at), None, node.line)
    map_ = reader.mapping(node, at, ("tool", "args"))
    tool, args = reader.required(map_, "tool", at), map_.get("args")
    return ExpectedCall(
        reader.pattern(tool, f"{at}.tool") if tool is not None else "",
        {
            entry.key: reader.vocabulary["matcher"].read(reader, entry.value, f"{at}.args.{entry.key}")
            for entry in reader.mapping(args, at)
        }
        if args is not None
        else None,
        node.line,
    )


def read_cost(reader: Reader, node: Node, at: str) -> Cost:
    """What `cost:` states."""
    map_ = reader.mapping(node, at, _keys(Cost))
    limits: dict[str, float] = {}
    for entry in map_:
        if entry.key in _keys(Cost):
            limits[entry.key] = reader.number(entry.value, f"{at}.{entry.key}")
            if limits[entry.key] < 0:
                reader.expected("a number of 0 or more", entry.value, f"{at}.{entry.key}")
    return Cost(lines=_lines(map_), **limits)
