"""The metrics that a suite names for its gate: known ones, that something can feed.

A metric that nothing can feed is a mistake; one that this suite's scenarios leave without a value is a notice, for the
run will say so and fail.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from msgspec.structs import replace

from passmuster._problems import Problem, did_you_mean
from passmuster.suite._gate_model import Bound, Thresholds
from passmuster.suite._metric_names import BUILT_IN_CHECKS, METRICS, MetricName, known_metrics
from passmuster.suite._model import Suite
from passmuster.suite.grammar._reader import Reader
from passmuster.suite.text._nodes import Entry, Mapping, Node

__all__ = ["entries_of", "map_of", "metric_named", "noticed", "plain_bounds", "unusable", "without_value"]


def metric_named(reader: Reader, suite: Suite, name: str, place: Node | Entry, at: str) -> MetricName | None:
    """The metric of this name, or None with a problem noted."""
    known = known_metrics(suite.tests)
    if name not in known:
        hint = did_you_mean(name, known) or f"; known: {', '.join(known)}"
        reader.problem(place, f"{at}: no metric '{name}'{hint}")
    return known.get(name)


def unusable(suite: Suite) -> dict[str, str]:
    """The metrics that can never have a value in this suite, or not one value, each with the reason."""
    why = {}
    if suite.classification is None:
        for name in ("precision", "recall", "f1"):
            why[name] = f"nothing can feed '{name}' without 'classification'"
    if not suite.weights.metrics:
        why["weighted_score"] = "nothing can feed 'weighted_score' without 'weights.metrics'"
    if suite.latency_budget_ms is None and not any(map(_is_budget, plain_bounds(suite.thresholds))):
        budget = "'latency_budget_ms' or an upper bound on latency_p95 in 'thresholds'"
        why["normalized_latency"] = f"nothing can feed 'normalized_latency' without {budget}"
    for test in suite.tests:
        if test.id in METRICS and test.metric not in BUILT_IN_CHECKS:
            why[test.id] = f"'{test.id}' is also the score of the test on line {test.line}; give the test another id"
    return why


def _is_budget(bound: Bound) -> bool:
    return bound.metric == "latency_p95" and bound.operator in ("<", "<=", "=")


def plain_bounds(thresholds: Thresholds) -> Iterator[Bound]:
    """The bounds that hold for every version of the agent."""
    yield from thresholds.blocking
    yield from thresholds.warning
    yield from (entry.bound for entry in thresholds.risk)


def without_value(suite: Suite, name: str, line: int, column: int | None, at: str) -> Iterator[Problem]:
    """A notice where the scenarios of this suite cannot give the metric a value."""
    if name == "safety_rate" and not any(scenario.category == "adversarial" for scenario in suite.scenarios):
        message = f"{at}: 'safety_rate' has no value, for no scenario has the category 'adversarial'"
        yield Problem(message, suite.file, line, column)


def noticed(suite: Suite, notices: Iterable[Problem]) -> Suite:
    """The suite with these notices, each once."""
    return replace(suite, notices=tuple(dict.fromkeys((*suite.notices, *notices))))


def map_of(reader: Reader, node: Node, at: str, known: Collection[str] = ()) -> Mapping | None:
    """The node as a map, whose keys are all among `known` if these are this language's own."""
    return reader.mapping(node, at, (*known, "description") if known else ()) if _is_map(reader, node, at) else None


def _is_map(reader: Reader, node: Node, at: str) -> bool:
    if not isinstance(node, Mapping):
        reader.expected("a map", node, at)
    return isinstance(node, Mapping)


def entries_of(reader: Reader, map_: Mapping | None, at: str, *, named_by_user: bool = False) -> list[Entry]:
    """The entries that mean something to the gate: all but `description` and, unless users name them, `x-…` keys."""
    if map_ is None:
        return []
    reader.optional_text(map_, "description", at, empty=True)
    entries = [entry for entry in map_ if entry.key != "description"]
    if not named_by_user:
        entries = [entry for entry in entries if not entry.key.startswith("x-")]
    if not entries:
        reader.problem(map_, f"{at}: states nothing")
    return entries
