"""Custom metrics: a team's own functions, written in a suite like the built-in checks.

A metric is a function `(trace, config) -> MetricResult` marked with `@metric("name")`. It is found in the modules
that `plugins:` lists (the suite's folder is importable) and in the entry-point group `passmuster.metrics`. A
metric that raises makes its test an `error`, with the traceback kept.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.metadata
import sys
import traceback
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, TypeVar, cast

from msgspec import Struct, field

from passmuster.checks.outcome import Outcome, Status, Violation
from passmuster.checks.spec import Check, CheckSpec
from passmuster.checks.view import ToolIndex, View
from passmuster.suite.model import CheckContext
from passmuster.suite.nodes import Mapping, Node, plain
from passmuster.suite.reading import Reader
from passmuster.traces.model import Trace

__all__ = ["GROUP", "MetricKind", "MetricResult", "find_metrics", "metric"]

GROUP = "passmuster.metrics"
_MARK = "__passmuster_metric__"
_STATUSES = ("pass", "warn", "fail", "skip", "error")


class MetricResult(Struct):
    """What a custom metric answers. Without a status it fails if there are violations."""

    status: str | None = None
    violations: list[Any] = field(default_factory=list)
    """Each a `Violation`, a map with its fields, or a string."""
    score: float | None = None
    """0 to 1; its mean over all traces becomes a suite metric under the test's id."""
    stats: dict[str, Any] = field(default_factory=dict)
    duration_ms: float | None = None


Metric = Callable[[Trace, dict[str, Any]], MetricResult]
F = TypeVar("F", bound=Callable[..., Any])


def metric(name: str) -> Callable[[F], F]:
    """Mark a function as the metric that suites name so."""
    if callable(name) or not name.strip():
        raise TypeError('a metric needs a name: @passmuster.metric("my_metric")')

    def mark(function: F) -> F:
        setattr(function, _MARK, name)
        return function

    return mark


class CustomMetric(CheckSpec, frozen=True):
    """One test's metric and its configuration."""

    function: Metric
    config: dict[str, Any]
    file: str
    line: int

    def compile(self, tools: ToolIndex) -> Check:
        """The check that runs the metric."""

        def check(view: View) -> Outcome:
            try:
                result = self.function(view.trace, self.config)
                return self._outcome(view, result)
            except Exception:
                return Outcome("error", True, message=traceback.format_exc())

        return check

    def _outcome(self, view: View, result: MetricResult) -> Outcome:
        if not isinstance(result, MetricResult):
            raise TypeError(f"the metric returned {type(result).__name__}, expected a passmuster.MetricResult")
        if result.status is not None and result.status not in _STATUSES:
            raise ValueError(f"the metric returned status {result.status!r}, expected one of {', '.join(_STATUSES)}")
        score = result.score
        if score is not None and not 0 <= score <= 1:
            raise ValueError(f"the metric returned score {score!r}, expected 0 to 1")
        violations = tuple(self._violation(view, one) for one in result.violations)
        status = cast("Status | None", result.status) or ("fail" if violations else "pass")
        message = "the metric itself reported an error" if status == "error" else None
        return Outcome(status, status != "skip", violations, stats=dict(result.stats), score=score, message=message)

    def _violation(self, view: View, given: object) -> Violation:
        if isinstance(given, str):
            given = {"message": given}
        if isinstance(given, Violation):
            given = {name: getattr(given, name) for name in Violation.__struct_fields__}
        if not isinstance(given, dict):
            raise TypeError(f"a violation is a Violation, a map or a string, not {type(given).__name__}")
        unknown = sorted(set(given) - set(Violation.__struct_fields__))
        if unknown:
            raise ValueError(f"a violation has no field {', '.join(unknown)}")
        fields = {name: value for name, value in given.items() if value is not None}
        if "value" in given:
            fields.setdefault("has_value", True)
        call = fields.pop("call_index", None)
        if call is not None and not 1 <= call <= len(view.names):
            raise ValueError(f"call_index {call} is not a call of this trace, which has {len(view.names)}")
        fields = {
            "message": "the metric reports a violation",
            "level": "block",
            "policy_file": self.file,
            "policy_line": self.line,
            **fields,
        }
        for placed in ("trace_id", "trace_file", "neighbours"):
            fields.pop(placed, None)
        return view.violation(call - 1 if call else None, **fields)


class MetricKind:
    """A custom metric as the loader sees it: a kind of check that takes a `config`."""

    keys = ("config",)

    def __init__(self, name: str, function: Metric) -> None:
        self.name = name
        self.function = function

    def read(self, context: CheckContext, node: Mapping, at: str) -> CustomMetric:
        """The metric with the test's configuration."""
        config = node.get("config")
        values = plain(context.reader.mapping(config, f"{at}.config")) if config is not None else {}
        return CustomMetric(self.function, values, context.reader.file, node.line)


def find_metrics(folder: str, plugins: list[tuple[str, Node]], reader: Reader) -> dict[str, MetricKind]:
    """The metrics of installed packages and of the suite's own plugins, by name."""
    found: dict[str, MetricKind] = {}
    owners: dict[str, str] = {}

    def add(name: str, function: Metric, owner: str, at: Node | None) -> None:
        if name in found and found[name].function is not function:
            message = f"plugins: both {owners[name]} and {owner} define a metric '{name}'"
            if at is not None:
                reader.problem(at, message)
            return
        found[name] = MetricKind(name, function)
        owners[name] = owner

    for name, node in plugins:
        module = _import(name, folder, node, reader)
        if module is None:
            continue
        marked = list(_marked(module))
        if not marked:
            reader.problem(
                node, f"plugins: the module '{name}' defines no metric; mark one with @passmuster.metric(\"name\")"
            )
        for metric_name, function in marked:
            add(metric_name, function, name, node)
    for entry in importlib.metadata.entry_points(group=GROUP):
        loaded = entry.load()
        if isinstance(loaded, ModuleType):
            for metric_name, function in _marked(loaded):
                add(metric_name, function, entry.value, None)
        else:
            add(getattr(loaded, _MARK, entry.name), loaded, entry.value, None)
    return found


def _marked(module: ModuleType) -> Iterator[tuple[str, Metric]]:
    for value in vars(module).values():
        name = getattr(value, _MARK, None) if callable(value) else None
        if isinstance(name, str):
            yield name, value


def _import(name: str, folder: str, node: Node, reader: Reader) -> ModuleType | None:
    """A plugin module. The suite's own folder comes first, and another suite's module of that name steps aside."""
    importlib.invalidate_caches()
    sys.path.insert(0, folder)
    try:
        spec = importlib.machinery.PathFinder.find_spec(name, [folder]) if "." not in name else None
        loaded = sys.modules.get(name)
        if spec and loaded and getattr(loaded, "__file__", None) != spec.origin:
            del sys.modules[name]
        return importlib.import_module(name)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and error.name == name:
            reader.problem(
                node, f"plugins: there is no module '{name}' (looked in {folder} and the installed packages)"
            )
        else:
            why = "".join(traceback.format_exception_only(error)).strip()
            reader.problem(node, f"plugins: importing '{name}' failed: {why}")
        return None
    finally:
        sys.path.remove(folder)
