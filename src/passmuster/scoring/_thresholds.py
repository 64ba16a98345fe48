"""`thresholds:`, bounds on metrics that block or warn: for every run, by risk, or rising with the agent's version."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from passmuster._problems import Problem, did_you_mean
from passmuster.scoring._bound_text import read_bound
from passmuster.scoring._gate_metrics import entries_of, map_of, metric_at, noticed, unusable, without_value
from passmuster.scoring._metric import SuiteMetric
from passmuster.scoring._metrics import known_metrics
from passmuster.scoring._versions import VersionKey, version_key
from passmuster.suite import Bound, Entry, Node, Progressive, Reader, Risk, RiskBound, Stage, Suite, Thresholds

__all__ = ["read_thresholds"]

_RISKS: tuple[Risk, ...] = ("critical", "high", "medium", "low")


def read_thresholds(reader: Reader, suite: Suite, node: Node) -> Suite:
    """Bounds on metrics: those that block, those that warn, those by risk, and those that rise with the version."""
    map_ = map_of(reader, node, "thresholds")
    found: dict[str, Any] = {}
    for entry in entries_of(reader, map_, "thresholds"):
        at, value = f"thresholds.{entry.key}", entry.value
        match entry.key:
            case "blocking" | "warning":
                found[entry.key] = tuple(_bounds(reader, suite, value, at))
            case "risk":
                found["risk"] = tuple(_risks(reader, suite, value))
            case "progressive":
                found["progressive"] = tuple(_progressive(reader, suite, value))
            case key:
                known = Thresholds.__struct_fields__
                hint = did_you_mean(key, known) or f"; known: {', '.join(known)}"
                if key in known_metrics(suite.tests):
                    hint = "; put a bound on it under 'blocking' or 'warning'"
                reader.problem(entry, f"thresholds: unknown key '{key}'{hint}")
    suite = replace(suite, thresholds=Thresholds(**found))
    return _checked(reader, suite, _all_bounds(suite.thresholds))


def _all_bounds(thresholds: Thresholds) -> Iterator[Bound]:
    yield from thresholds.plain_bounds()
    for entry in thresholds.progressive:
        yield from (stage.bound for stage in entry.stages)
        if entry.target:
            yield entry.target


def _checked(reader: Reader, suite: Suite, bounds: Iterable[Bound]) -> Suite:
    """The suite with a problem or notice for each bound on what has no value; all of `thresholds` is known now."""
    why = unusable(suite)
    notices: list[Problem] = []
    for bound in bounds:
        if bound.metric in why:
            message = f"thresholds: {why[bound.metric]}"
            reader.problems.append(Problem(message, reader.file, bound.line, bound.column))
        notices += without_value(suite, bound.metric, bound.line, bound.column, "thresholds")
    return noticed(suite, notices)


def _bounds(reader: Reader, suite: Suite, node: Node, at: str) -> Iterator[Bound]:
    for entry in entries_of(reader, map_of(reader, node, at), at):
        metric = metric_at(reader, suite, entry.key, entry, at)
        bound = read_bound(reader, entry.value, f"{at}.{entry.key}", metric) if metric else None
        if bound:
            yield bound


def _risks(reader: Reader, suite: Suite, node: Node) -> Iterator[RiskBound]:
    for entry in entries_of(reader, map_of(reader, node, "thresholds.risk", _RISKS), "thresholds.risk"):
        risk = next((risk for risk in _RISKS if risk == entry.key), None)
        if risk:
            for bound in _bounds(reader, suite, entry.value, f"thresholds.risk.{risk}"):
                yield RiskBound(risk, bound)


def _progressive(reader: Reader, suite: Suite, node: Node) -> Iterator[Progressive]:
    for entry in entries_of(reader, map_of(reader, node, "thresholds.progressive"), "thresholds.progressive"):
        metric = metric_at(reader, suite, entry.key, entry, "thresholds.progressive")
        if metric:
            yield _stages(reader, entry, metric)


def _stages(reader: Reader, entry: Entry, metric: SuiteMetric) -> Progressive:
    at = f"thresholds.progressive.{metric.name}"
    stages: dict[VersionKey, Stage] = {}
    target = None
    written = entries_of(reader, map_of(reader, entry.value, at), at)
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
    ordered = tuple(stages[key] for key in sorted(stages))
    return Progressive(metric.name, ordered, target, entry.line)
