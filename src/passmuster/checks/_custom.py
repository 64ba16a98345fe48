"""Custom metrics: Python functions of the user, named in a suite like the built-in checks.

A metric is a function `(trace, config) -> MetricResult` marked with `@metric("name")`. It is found in the modules
that `plugins:` lists (the suite's folder is importable) and in the entry-point group `passmuster.metrics`. A
metric that raises makes its test an `error`, with the traceback kept.
"""

import importlib.metadata
import re
import traceback
from collections.abc import Callable, Iterator, Set
from copy import deepcopy
from dataclasses import fields, is_dataclass
from types import ModuleType
from typing import Annotated, Any, ClassVar, TypeVar, cast

import msgspec
from msgspec import Struct, field

from passmuster._foreign_code import foreign_code
from passmuster.checks._outcome import Outcome, Status, Violation, status_of
from passmuster.checks._plugins import PluginError, describe_error, import_plugin
from passmuster.checks._spec import Check, CheckSpec
from passmuster.checks._view import ToolIndex, View
from passmuster.suite import CheckKind, Custom, Key, Mapping, Node, Reader, Record, plain, read_record
from passmuster.traces import Trace

GROUP = "passmuster.metrics"
_MARK = "__passmuster_metric__"
_STATUSES = ("pass", "warn", "fail", "skip", "error")
_REASONS = {"error": "the metric itself reported an error", "skip": "the metric returned 'skip'"}


class MetricResult(Struct):
    """The result of a custom metric. Without a status it fails if there are violations."""

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
    """Register a function as a metric under this name."""
    if callable(name) or not name.strip():
        raise TypeError('a metric needs a name: @passmuster.metric("my_metric")')

    def mark(function: F) -> F:
        setattr(function, _MARK, name)
        return function

    return mark


def _told(error: BaseException) -> str:
    """The traceback from the metric on: the call of it is nobody's mistake."""
    raised = error.__traceback__
    told = traceback.TracebackException(type(error), error, raised.tb_next or raised if raised else None)
    return "".join(told.format())


class CustomMetric(CheckSpec, frozen=True, kw_only=True):
    """One test's metric and its configuration."""

    function: Metric
    config: dict[str, Any]
    file: str
    line: int
    reads_calls = False
    gives_score = True

    def compile(self, tools: ToolIndex) -> Check:
        """The check that runs the metric."""

        def check(view: View) -> Outcome:
            try:
                with foreign_code():  # the result may hold objects with code of their own
                    return self._outcome(view, self.function(_copy(view.trace), deepcopy(self.config)))
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # also `sys.exit()`: a metric must not end the run
                return Outcome("error", True, message=_told(error))

        return check

    def _outcome(self, view: View, result: MetricResult) -> Outcome:
        if not isinstance(result, MetricResult):
            raise TypeError(f"the metric returned {type(result).__name__}, expected a passmuster.MetricResult")
        if result.status is not None and result.status not in _STATUSES:
            raise ValueError(f"the metric returned status {result.status!r}, expected one of {', '.join(_STATUSES)}")
        score = result.score
        if score is not None and not 0 <= score <= 1:
            raise ValueError(f"the metric returned score {score!r}, expected 0 to 1")
        if not isinstance(result.violations, list | tuple):
            raise TypeError(f"violations are a list, not {type(result.violations).__name__}")
        if not isinstance(result.stats, dict):
            raise TypeError(f"stats are a map, not {type(result.stats).__name__}")
        violations = tuple(self._violation(view, one) for one in result.violations)
        status = cast("Status | None", result.status) or status_of(violations)
        return Outcome(
            status,
            exercised=status != "skip",
            violations=violations,
            stats=_values(result.stats),
            score=None if score is None else float(score),
            message=_REASONS.get(status),
        )

    def _violation(self, view: View, given: object) -> Violation:
        if isinstance(given, str):
            given = {"message": given}
        if isinstance(given, Violation):
            given = {
                name: getattr(given, name) for name in Violation.__struct_fields__ if getattr(given, name) is not None
            }
        if not isinstance(given, dict):
            raise TypeError(f"a violation is a Violation, a map or a string, not {type(given).__name__}")
        unknown = sorted(str(name) for name in given if name not in _FIELDS)
        if unknown:
            raise ValueError(f"a violation has no field {', '.join(unknown)}")
        stated = {name: value for name, value in given.items() if value is not None and name not in _PLACED}
        checked = msgspec.convert({"message": "the metric reports a violation", **stated}, Violation)
        call = checked.call_index
        if call is not None and not 1 <= call <= len(view.names):
            raise ValueError(f"call_index {call} is not a call of this trace, which has {len(view.names)}")
        fields = {name: getattr(checked, name) for name in stated} | {
            "message": checked.message,
            "value": _values(checked.value),
            "has_value": "value" in given,
            "policy_file": checked.policy_file or self.file,
            "policy_line": checked.policy_line or self.line,
        }
        fields.pop("call_index", None)
        return view.violation(None if call is None else call - 1, **fields)


_FIELDS = frozenset(Violation.__struct_fields__)
_PLACED = frozenset({"has_value", "neighbours", "scenario", "trace_file", "trace_id", "trace_line", "waived"})
"""Fields of a violation that the program fills in."""


def _copy(trace: Trace) -> Trace:
    """A copy for the metric that shares nothing with the trace but what cannot be changed."""
    return Trace(**{name: _copied(getattr(trace, name)) for name in Trace.__struct_fields__})


def _copied(value: Any) -> Any:
    """A copy of a part of a trace, to any depth that a trace can have."""
    if isinstance(value, Struct):
        return type(value)(*(_copied(getattr(value, name)) for name in value.__struct_fields__))
    if isinstance(value, tuple):
        return tuple(map(_copied, value))
    return msgspec.to_builtins(value) if isinstance(value, list | dict) else value


def _values(foreign: Any) -> Any:
    """Any object as JSON values; what JSON cannot express becomes text.

    The same in every run: sets are sorted, and an object's text is told without its address.
    """
    return msgspec.to_builtins(_sorted_sets(foreign), str_keys=True, enc_hook=_described)


def _sorted_sets(value: Any) -> Any:
    if isinstance(value, Set):
        return sorted(map(_sorted_sets, value), key=lambda item: (type(item).__name__, _described(item)))
    if isinstance(value, dict):
        return {key: _sorted_sets(item) for key, item in value.items()}
    if isinstance(value, Struct):
        return {name: _sorted_sets(getattr(value, name)) for name in value.__struct_fields__}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _sorted_sets(getattr(value, field.name)) for field in fields(value)}
    return [_sorted_sets(item) for item in value] if isinstance(value, list | tuple) else value


def _described(value: object) -> str:
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


def _read_config(reader: Reader, node: Node, at: str) -> dict[str, Any]:
    values: dict[str, Any] = plain(reader.mapping(node, at))
    return values


class MetricKeys(Record, frozen=True, kw_only=True):
    """A custom metric: a function `(trace, config) -> MetricResult`."""

    config: Annotated[
        dict[str, Any],
        Custom("a map", _read_config, {"type": "object"}),
        Key("A map, passed to the function unchanged.", example={"most": 3}),
    ] = {}  # noqa: RUF012 - copied per instance
    file: str
    line: int


class MetricKind(Struct, frozen=True):
    """A custom metric as a kind of check, which takes a `config`."""

    name: str
    function: Metric
    record: ClassVar[type[Record]] = MetricKeys

    def read(self, reader: Reader, node: Mapping, at: str) -> CustomMetric | None:
        """The metric with the test's configuration."""
        keys = read_record(MetricKeys, reader, node, at, also=node.entries)
        if keys is None:
            return None
        return CustomMetric(function=self.function, config=keys.config, file=keys.file, line=keys.line)


class BrokenKind(Struct, frozen=True):
    """A metric that cannot be imported. It is a problem where a test names it, for other suites do not need it."""

    name: str
    why: str
    record: ClassVar[type[Record]] = MetricKeys

    def read(self, reader: Reader, node: Mapping, at: str) -> None:
        """Nothing but a problem."""
        reader.problem(node, f"{at}: the metric '{self.name}' cannot be loaded: {self.why}")


def find_metrics(folder: str, plugins: list[tuple[str, Node]], reader: Reader) -> dict[str, CheckKind]:
    """The metrics of the suite's own plugins and of installed packages, by name. The suite's own come first."""
    found: dict[str, CheckKind] = {}
    owners: dict[str, str] = {}
    for name, node in plugins:
        try:
            module = import_plugin(name, folder)
        except PluginError as error:
            reader.problem(node, f"plugins: {error}")
            continue
        marked = list(_marked(module))
        if not marked:
            reader.problem(
                node, f"plugins: the module '{name}' defines no metric; mark one with @passmuster.metric(\"name\")"
            )
        for metric_name, function in marked:
            known = found.get(metric_name)
            if isinstance(known, MetricKind) and known.function is not function:
                reader.problem(node, f"plugins: both {owners[metric_name]} and {name} define a metric '{metric_name}'")
            found[metric_name] = MetricKind(metric_name, function)
            owners[metric_name] = name
    return _installed() | found


def _installed() -> dict[str, CheckKind]:
    """The metrics of installed packages. A name that two packages define is an error where a test uses it."""
    found: dict[str, CheckKind] = {}
    for entry in sorted(importlib.metadata.entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)):
        for kind in _of_entry(entry):
            known = found.get(kind.name)
            if known is None or (isinstance(known, MetricKind) and known.function is getattr(kind, "function", None)):
                found[kind.name] = kind
            else:
                found[kind.name] = BrokenKind(kind.name, "several installed packages define it")
    return found


def _of_entry(entry: importlib.metadata.EntryPoint) -> list[CheckKind]:
    try:
        with foreign_code():
            loaded = entry.load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return [BrokenKind(entry.name, f"importing '{entry.value}' failed: {describe_error(error)}")]
    if isinstance(loaded, ModuleType):
        return [MetricKind(name, function) for name, function in _marked(loaded)]
    if not callable(loaded):
        return [BrokenKind(entry.name, f"'{entry.value}' is not a function")]
    return [MetricKind(getattr(loaded, _MARK, entry.name), loaded)]


def _marked(module: ModuleType) -> Iterator[tuple[str, Metric]]:
    for value in vars(module).values():
        name = getattr(value, _MARK, None) if callable(value) else None
        if isinstance(name, str):
            yield name, value
