"""The value types of the gate: what the keys of `thresholds`, `weights`, `pass_criteria` and `baseline` may hold.

They depend on the suite: on its metrics, which include the scores of its custom ones, and on its scenarios.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, TypeVar

from passmuster._problems import Problem, did_you_mean
from passmuster.scoring._bound_text import BOUND, read_bound
from passmuster.scoring._metric import SuiteMetric
from passmuster.scoring._metrics import declared_metrics, known_metrics
from passmuster.scoring._versions import VersionKey, version_key
from passmuster.suite import (
    PROSE,
    TEXT,
    WEIGHT,
    Bound,
    Custom,
    Definitions,
    Entry,
    JsonSchema,
    Node,
    OneOrMore,
    Progressive,
    Reader,
    Risk,
    RiskBound,
    Sequence,
    Stage,
    Suite,
    Value,
)

T = TypeVar("T")
Schema = Callable[[Definitions], JsonSchema]
_RISKS: tuple[Risk, ...] = ("critical", "high", "medium", "low")
_JSON_STEP = r"\.(?P<name>[^\W\d][\w-]*)|\[(?P<index>[0-9]{1,9})\]|\[(?P<quote>['\"])(?P<key>.+?)(?P=quote)\]"


class GateValues:
    """The value types of one suite, and the notices that reading them gave. For JSON Schemas it needs no suite."""

    def __init__(self, suite: Suite | None = None) -> None:
        self._suite = suite
        self.notices: list[Problem] = []

    def vocabulary(self) -> dict[str, Value[Any]]:
        """The value types by the names of their slots."""
        pass_rate: Value[Bound | None] = Custom("", self._pass_rate_bound, BOUND.schema)
        words = {"type": "array", "items": TEXT.schema(Definitions()), "minItems": 2}
        return {
            "bounds": Custom("", self._bounds, _by_metric(BOUND.schema)),
            "risk_bounds": Custom("", self._risk_bounds, _map(_by_metric(BOUND.schema), _RISKS)),
            "progressive_bounds": Custom("", self._progressive_bounds, _by_metric(_map(BOUND.schema))),
            "pass_rate_bound": pass_rate,
            "category_bounds": self._by_scenario("category", pass_rate),
            "category_weights": self._by_scenario("category", WEIGHT),
            "capability_weights": self._by_scenario("capability", WEIGHT),
            "metric_weights": Custom("", self._metric_weights, _by_metric(WEIGHT.schema)),
            "compared_metrics": Custom("", self._compared_metrics, OneOrMore(TEXT).schema),
            "json_path": Custom("", _read_json_path, {"type": "string", "pattern": r"^\s*\$"}),
            "label_words": Custom("", _read_label_words, words),
        }

    @property
    def suite(self) -> Suite:
        """The suite as far as it is read."""
        assert self._suite is not None
        return self._suite

    # ── Metrics ─────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def metrics(self) -> dict[str, SuiteMetric]:
        """The metrics that the suite can name."""
        return known_metrics(self.suite.tests)

    @cached_property
    def unusable(self) -> dict[str, str]:
        """The metrics that can never have a value in the suite, each with the reason."""
        return unusable_metrics(self.suite)

    def _metric(self, reader: Reader, name: str, place: Node | Entry, at: str) -> SuiteMetric | None:
        """The metric of this name, or None with a problem noted."""
        if name not in self.metrics:
            hint = did_you_mean(name, self.metrics) or f"; known: {', '.join(self.metrics)}"
            reader.problem(place, f"{at}: no metric '{name}'{hint}")
        return self.metrics.get(name)

    def _by_name(self, reader: Reader, node: Node, at: str) -> list[tuple[Entry, SuiteMetric, str]]:
        """The entries of a map of metrics, each with its metric and its place."""
        found = [(entry, self._metric(reader, entry.key, entry, at)) for entry in stated(reader, node, at)]
        return [(entry, metric, f"{at}.{entry.key}") for entry, metric in found if metric]

    def notice_without_value(self, name: str, line: int, column: int | None, at: str) -> None:
        """Note where the scenarios of the suite cannot give the metric a value."""
        why = self.metrics[name].without_value(self.suite) if name in self.metrics else None
        if why:
            self.notices.append(Problem(f"{at}: {why}", self.suite.file, line, column))

    # ── Reading ─────────────────────────────────────────────────────────────────────────────────────────────

    def _bounds(self, reader: Reader, node: Node, at: str) -> tuple[Bound, ...]:
        entries = self._by_name(reader, node, at)
        bounds = [read_bound(reader, entry.value, place, metric) for entry, metric, place in entries]
        return tuple(bound for bound in bounds if bound)

    def _risk_bounds(self, reader: Reader, node: Node, at: str) -> tuple[RiskBound, ...]:
        risks: dict[str, Risk] = {risk: risk for risk in _RISKS}
        return tuple(
            RiskBound(risks[entry.key], bound)
            for entry in stated(reader, node, at, (*_RISKS, "description"))
            if entry.key in risks
            for bound in self._bounds(reader, entry.value, f"{at}.{entry.key}")
        )

    def _progressive_bounds(self, reader: Reader, node: Node, at: str) -> tuple[Progressive, ...]:
        return tuple(_stages(reader, *found) for found in self._by_name(reader, node, at))

    def _pass_rate_bound(self, reader: Reader, node: Node, at: str) -> Bound | None:
        return read_bound(reader, node, at, declared_metrics()["pass_rate"])

    def _by_scenario(self, kind: str, item: Value[T | None]) -> Value[dict[str, T]]:
        """A map of categories or capabilities; one that no scenario has is worth a notice."""

        def read(reader: Reader, node: Node, at: str) -> dict[str, T]:
            there = dict.fromkeys(value for one in self.suite.scenarios if (value := getattr(one, kind)) is not None)
            found = {}
            for entry in stated(reader, node, at, named_by_user=True):
                found[entry.key] = item.read(reader, entry.value, f"{at}.{entry.key}")
                if entry.key not in there:
                    message = f"{at}: no scenario has the {kind} '{entry.key}'{did_you_mean(entry.key, there)}"
                    self.notices.append(Problem(message, self.suite.file, entry.line, entry.column))
            return {name: value for name, value in found.items() if value is not None}

        return Custom("", read, _map(item.schema))

    def _metric_weights(self, reader: Reader, node: Node, at: str) -> dict[str, float]:
        """Weights of rates of which more is better: with others, a worse agent could score higher."""
        found = {}
        for entry, metric, place in self._by_name(reader, node, at):
            name = metric.name
            if name == "weighted_score":
                reader.problem(entry, f"{at}: 'weighted_score' is what these weights give, so it cannot be one of them")
            elif not metric.rate or metric.better == "down":
                problem = "is better when it is lower" if metric.rate else "is not a rate"
                reader.problem(entry, f"{at}: '{name}' {problem}, so it cannot be averaged with rates; use 'composite'")
            elif name in self.unusable:
                reader.problem(entry, f"{at}: {self.unusable[name]}")
            self.notice_without_value(name, entry.line, entry.column, at)
            found[name] = WEIGHT.read(reader, entry.value, place)
        return found

    def _compared_metrics(self, reader: Reader, node: Node, at: str) -> tuple[str, ...]:
        names: dict[str, None] = {}
        for item in reader.one_or_more(node):
            name = reader.text(item, at)
            if not name or self._metric(reader, name, item, at) is None:
                continue
            if name in self.unusable:
                reader.problem(item, f"{at}: {self.unusable[name]}")
            elif name in names:
                reader.problem(item, f"{at}: '{name}' is listed twice")
            self.notice_without_value(name, item.line, item.column, at)
            names[name] = None
        if isinstance(node, Sequence) and not node.items:
            reader.problem(node, f"{at}: the list is empty, so nothing would be compared")
        return tuple(names)


def unusable_metrics(suite: Suite) -> dict[str, str]:
    """The metrics that can never have a value in a suite, or not one value, each with the reason."""
    metrics = declared_metrics()
    why = {name: reason for name, metric in metrics.items() if (reason := metric.unusable(suite))}
    for test in suite.tests:
        if test.id in metrics and getattr(test.spec, "gives_score", True):
            why[test.id] = f"'{test.id}' is also the score of the test on line {test.line}; give the test another id"
    return why


def stated(
    reader: Reader, node: Node, at: str, known: tuple[str, ...] = (), *, named_by_user: bool = False
) -> list[Entry]:
    """The entries of a map that mean something: all but `description` and, unless users name them, `x-…` keys."""
    map_ = reader.mapping(node, at, known)
    if map_ is not node:
        return []
    reader.optional_text(map_, "description", at, empty=True)
    skipped = () if named_by_user else ("x-",)
    entries = [entry for entry in map_ if entry.key != "description" and not entry.key.startswith(skipped)]
    if not entries:
        reader.problem(map_, f"{at}: states nothing")
    return entries


def _stages(reader: Reader, entry: Entry, metric: SuiteMetric, at: str) -> Progressive:
    """The bounds of a metric by the agent's version, from the lowest version to the highest."""
    stages: dict[VersionKey, Stage] = {}
    target = None
    written = stated(reader, entry.value, at)
    for stage in written:
        bound = read_bound(reader, stage.value, f"{at}.{stage.key}", metric)
        key = version_key(stage.key)
        if stage.key == "target":
            target = bound
        elif key is None:
            hint = did_you_mean(stage.key, ["target"])
            reader.problem(stage, f"{at}: expected a version such as '2.0', or 'target', found '{stage.key}'{hint}")
        elif key in stages:
            reader.problem(stage, f"{at}: '{stage.key}' is the same version as '{stages[key].version}'")
        elif bound:
            stages[key] = Stage(stage.key, bound)
    if written and all(stage.key == "target" for stage in written):
        reader.problem(entry, f"{at}: a target needs at least one stage, such as '\"1.0\": 80'")
    return Progressive(metric.name, tuple(stages[key] for key in sorted(stages)), target, entry.line)


def _read_json_path(reader: Reader, node: Node, at: str) -> tuple[str | int, ...]:
    """The steps of a path such as `$.result.labels[0]`."""
    text = reader.text(node, at).strip()
    steps: list[str | int] = []
    place = 1
    while text.startswith("$") and place < len(text) and (found := re.compile(_JSON_STEP).match(text, place)):
        steps.append(int(found["index"]) if found["index"] else found["name"] or found["key"])
        place = found.end()
    if text and (not text.startswith("$") or place < len(text)):
        reader.expected("a path such as $.label or $.labels[0]", node, at)
    return tuple(steps)


def _read_label_words(reader: Reader, node: Node, at: str) -> tuple[str, ...]:
    words = tuple(reader.text(item, at).strip() for item in reader.one_or_more(node))
    if len(words) < 2:
        reader.problem(node, f"{at}: needs at least two words, because one label distinguishes nothing")
    if len({word.casefold() for word in words}) < len(words):
        reader.problem(node, f"{at}: a word is listed twice; case is ignored")
    return words


# ── JSON Schema ─────────────────────────────────────────────────────────────────────────────────────────────


def _map(item: Schema, names: Iterable[str] | None = None) -> Schema:
    """The schema of a map with these names, or with any."""

    def schema(definitions: Definitions) -> JsonSchema:
        of_item = item(definitions)
        return {
            "type": "object",
            "properties": {**dict.fromkeys(names or (), of_item), "description": PROSE.schema(definitions)},
            "patternProperties": {"^x-": {}},
            "additionalProperties": of_item if names is None else False,
            "minProperties": 1,
        }

    return schema


def _by_metric(item: Schema) -> Schema:
    """The schema of a map of metrics. A name that is not declared may be the score of a custom metric."""

    def schema(definitions: Definitions) -> JsonSchema:
        found, of_item = _map(item)(definitions), item(definitions)
        for name, metric in declared_metrics().items():
            found["properties"][name] = {**of_item, "description": metric.description}
        return found

    return schema
