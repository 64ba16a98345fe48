"""The metrics that a suite names for its gate: known ones, that something can feed.

A metric that nothing can feed is a mistake; one that this suite's scenarios leave without a value is a notice, for the
run will say so and fail.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from msgspec.structs import replace

from passmuster._problems import Problem, did_you_mean
from passmuster.scoring._metric import SuiteMetric
from passmuster.scoring._metrics import declared_metrics, known_metrics, metric_named
from passmuster.suite import Entry, Mapping, Node, Reader, Suite

__all__ = ["entries_of", "map_of", "metric_at", "noticed", "unusable", "without_value"]


def metric_at(reader: Reader, suite: Suite, name: str, place: Node | Entry, at: str) -> SuiteMetric | None:
    """The metric of this name, or None with a problem noted."""
    known = known_metrics(suite.tests)
    if name not in known:
        hint = did_you_mean(name, known) or f"; known: {', '.join(known)}"
        reader.problem(place, f"{at}: no metric '{name}'{hint}")
    return known.get(name)


def unusable(suite: Suite) -> dict[str, str]:
    """The metrics that can never have a value in this suite, or not one value, each with the reason."""
    metrics = declared_metrics()
    why = {name: reason for name, metric in metrics.items() if (reason := metric.unusable(suite))}
    for test in suite.tests:
        if test.id in metrics and getattr(test.spec, "gives_score", True):
            why[test.id] = f"'{test.id}' is also the score of the test on line {test.line}; give the test another id"
    return why


def without_value(suite: Suite, name: str, line: int, column: int | None, at: str) -> Iterator[Problem]:
    """A notice where the scenarios of this suite cannot give the metric a value."""
    if why := metric_named(name).without_value(suite):
        yield Problem(f"{at}: {why}", suite.file, line, column)


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
