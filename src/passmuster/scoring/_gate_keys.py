"""The keys that speak of the suite as a whole, one function each: `thresholds`, `weights`, `composite` and their like.

They are read after tests and scenarios, and in an order in which what feeds a metric comes before what names it. The
longer ones have a module of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from passmuster._problems import Problem, did_you_mean
from passmuster.scoring._bound_text import read_bound
from passmuster.scoring._classification import read_classification
from passmuster.scoring._gate_metrics import entries_of, map_of, metric_at, noticed, unusable, without_value
from passmuster.scoring._metrics import declared_metrics, known_metrics
from passmuster.scoring._thresholds import read_thresholds
from passmuster.suite import (
    BaselineSpec,
    Bound,
    Criteria,
    Entry,
    Listed,
    Mapping,
    Node,
    Reader,
    Suite,
    Weights,
    finite,
    read_confidence,
    read_share,
    read_weight,
)
from passmuster.suite import Sequence as SequenceNode
from passmuster.suite import read_repeat_policy as repeat_policy_of

__all__ = ["GATE_KEYS"]


# ── weights ─────────────────────────────────────────────────────────────────────────────────────────────────


def read_weights(reader: Reader, suite: Suite, node: Node) -> Suite:
    """How much scenarios count by category and capability, and metrics in `weighted_score`."""
    found: dict[str, dict[str, float]] = {"by_category": {}, "by_capability": {}, "metrics": {}}
    notices: list[Problem] = []
    for kind in entries_of(reader, map_of(reader, node, "weights", found), "weights"):
        at = f"weights.{kind.key}"
        if kind.key not in found:
            continue
        is_metric = kind.key == "metrics"
        for entry in entries_of(reader, map_of(reader, kind.value, at), at, named_by_user=not is_metric):
            found[kind.key][entry.key] = read_weight(reader, entry.value, f"{at}.{entry.key}")
            if is_metric:
                notices += _weighed_metric(reader, suite, entry)
            else:
                notices += _unused(suite, kind.key.removeprefix("by_"), entry, at)
        if found[kind.key] and not any(found[kind.key].values()):
            reader.problem(kind, f"{at}: every weight is 0, so nothing would count")
    return noticed(replace(suite, weights=Weights(**found)), notices)


def _weighed_metric(reader: Reader, suite: Suite, entry: Entry) -> Iterator[Problem]:
    """What `weighted_score` is made of: rates of which more is better, for else a worse agent could score higher."""
    at, name, why = "weights.metrics", entry.key, unusable(suite)
    metric = metric_at(reader, suite, name, entry, at)
    if metric is None:
        return
    if name == "weighted_score":
        reader.problem(entry, f"{at}: 'weighted_score' is what these weights give, so it cannot be one of them")
    elif not metric.rate or metric.better == "down":
        problem = "is better when it is lower" if metric.rate else "is no rate"
        reader.problem(entry, f"{at}: '{name}' {problem}, so it cannot be averaged with rates; use 'composite'")
    elif name in why:
        reader.problem(entry, f"{at}: {why[name]}")
    yield from without_value(suite, name, entry.line, entry.column, at)


def _unused(suite: Suite, kind: str, entry: Entry, at: str) -> Iterator[Problem]:
    """A notice where no scenario has this category or capability."""
    there = dict.fromkeys(value for scenario in suite.scenarios if (value := getattr(scenario, kind)) is not None)
    if entry.key not in there:
        message = f"{at}: no scenario has the {kind} '{entry.key}'{did_you_mean(entry.key, there)}"
        yield Problem(message, suite.file, entry.line, entry.column)


# ── required_scenarios, optional_scenarios, pass_criteria ───────────────────────────────────────────────────


def read_required(reader: Reader, suite: Suite, node: Node) -> Suite:
    """The scenarios without which nothing passes."""
    listed = _listed(reader, suite, node, "required_scenarios", ())
    return replace(suite, required=listed)


def read_optional(reader: Reader, suite: Suite, node: Node) -> Suite:
    """The scenarios that count and never block."""
    listed = _listed(reader, suite, node, "optional_scenarios", suite.required)
    return replace(suite, optional=listed)


def _listed(reader: Reader, suite: Suite, node: Node, at: str, required: Sequence[Listed]) -> tuple[Listed, ...]:
    ids: Node | None = node
    if isinstance(node, Mapping):
        map_ = reader.mapping(node, at, ("description", "ids"))
        reader.optional_text(map_, "description", at, empty=True)
        ids = reader.required(map_, "ids", at)
    if ids is None:
        return ()
    known = {scenario.id: None for scenario in suite.scenarios}
    elsewhere = {one.id: one.line for one in required}
    found: dict[str, Listed] = {}
    for item in reader.one_or_more(ids):
        id_ = reader.text(item, at)
        if id_ and id_ not in known:
            reader.problem(item, f"{at}: no scenario '{id_}'{did_you_mean(id_, known)}")
        elif id_ in elsewhere:
            reader.problem(
                item, f"{at}: '{id_}' is in 'required_scenarios' on line {elsewhere[id_]}; it cannot be both"
            )
        elif id_ in found:
            reader.problem(item, f"{at}: '{id_}' is already listed on line {found[id_].line}")
        elif id_:
            found[id_] = Listed(id_, item.line)
    if isinstance(ids, SequenceNode) and not ids.items and at == "required_scenarios":
        reader.problem(ids, f"{at}: the list is empty, so nothing would be required")
    return tuple(found.values())


def read_criteria(reader: Reader, suite: Suite, node: Node) -> Suite:
    """The pass rates asked of all scenarios and of each category."""
    rate = declared_metrics()["pass_rate"]
    overall: Bound | None = None
    by_category: dict[str, Bound] = {}
    notices: list[Problem] = []
    map_ = map_of(reader, node, "pass_criteria", ("overall", "by_category"))
    for entry in entries_of(reader, map_, "pass_criteria"):
        at = f"pass_criteria.{entry.key}"
        if entry.key == "overall":
            overall = read_bound(reader, entry.value, at, rate)
        elif entry.key == "by_category":
            for category in entries_of(reader, map_of(reader, entry.value, at), at, named_by_user=True):
                bound = read_bound(reader, category.value, f"{at}.{category.key}", rate)
                if bound:
                    by_category[category.key] = bound
                notices += _unused(suite, "category", category, at)
    return noticed(replace(suite, criteria=Criteria(overall, by_category)), notices)


# ── composite, latency_budget_ms, repeat_policy, baseline ───────────────────────────────────────────────────


def read_composite(reader: Reader, suite: Suite, node: Node) -> Suite:
    """Formulas over metrics, of which `pass` decides."""
    from passmuster.scoring import _composite as formulas

    lines = re.split(r"\r\n?|\n", suite.documents.get(str(suite.path), b"").decode("utf-8", "replace"))
    found = formulas.read_composite(reader, node, known_metrics(suite.tests), unusable(suite), lines)
    notices = [
        notice
        for formula in found
        for name in sorted(formulas.names_in(formula))
        for notice in without_value(suite, name, formula.line, None, f"composite.{formula.name}")
    ]
    return noticed(replace(suite, composite=found), notices)


def read_latency_budget(reader: Reader, suite: Suite, node: Node) -> Suite:
    """The latency that counts as all of the budget, for `normalized_latency`."""
    budget = finite(node)
    if budget is None or budget <= 0:
        reader.expected("a number of milliseconds above 0", node, "latency_budget_ms")
    return replace(suite, latency_budget_ms=budget or 1.0)


def read_repeat_policy(reader: Reader, suite: Suite, node: Node) -> Suite:
    """How many runs of a scenario have to pass, where it does not say so itself."""
    return replace(suite, repeat_policy=repeat_policy_of(reader, node, "repeat_policy"))


def read_baseline(reader: Reader, suite: Suite, node: Node) -> Suite:
    """What a recorded run is compared by."""
    keys = ("file", "max_drop", "confidence", "metrics", "on_regression", "description")
    map_ = reader.mapping(node, "baseline", keys)
    reader.optional_text(map_, "description", "baseline", empty=True)
    found: dict[str, Any] = {"file": reader.optional_text(map_, "file", "baseline")}
    notices: list[Problem] = []
    if (drop := map_.get("max_drop")) is not None:
        found["max_drop"] = read_share(reader, drop, "baseline.max_drop")
        if found["max_drop"] >= 1:
            reader.problem(drop, "baseline.max_drop: a drop of 100% could never fail")
    if (sure := map_.get("confidence")) is not None:
        found["confidence"] = read_confidence(reader, sure, "baseline.confidence")
    if (word := map_.get("on_regression")) is not None:
        found["on_regression"] = reader.choice(word, "baseline.on_regression", ("warn", "block"))
    if (metrics := map_.get("metrics")) is not None:
        found["metrics"] = tuple(_compared(reader, suite, metrics, notices))
    return noticed(replace(suite, baseline=BaselineSpec(**found, line=node.line)), notices)


def _compared(reader: Reader, suite: Suite, node: Node, notices: list[Problem]) -> dict[str, None]:
    at, why = "baseline.metrics", unusable(suite)
    names: dict[str, None] = {}
    for item in reader.one_or_more(node):
        name = reader.text(item, at)
        if not name or metric_at(reader, suite, name, item, at) is None:
            continue
        if name in why:
            reader.problem(item, f"{at}: {why[name]}")
        elif name in names:
            reader.problem(item, f"{at}: '{name}' is listed twice")
        notices += without_value(suite, name, item.line, item.column, at)
        names[name] = None
    if isinstance(node, SequenceNode) and not node.items:
        reader.problem(node, f"{at}: the list is empty, so nothing would be compared")
    return names


GATE_KEYS: dict[str, Callable[[Reader, Suite, Node], Suite]] = {
    "classification": read_classification,
    "latency_budget_ms": read_latency_budget,
    "repeat_policy": read_repeat_policy,
    "weights": read_weights,
    "thresholds": read_thresholds,
    "required_scenarios": read_required,
    "optional_scenarios": read_optional,
    "pass_criteria": read_criteria,
    "composite": read_composite,
    "baseline": read_baseline,
}
"""The reader of each key; in what order they are called is `load`'s affair."""
