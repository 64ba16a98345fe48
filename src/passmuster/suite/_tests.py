"""`tests:`, the checks that every trace meets, or those that a test's `scenarios:` and `tags:` name."""

from __future__ import annotations

from typing import Literal, cast

from msgspec.structs import replace

from passmuster._problems import did_you_mean
from passmuster.suite._context import Context
from passmuster.suite._model import Suite, Test
from passmuster.suite.grammar import _globs as globs
from passmuster.suite.grammar._reader import Reader
from passmuster.suite.text._nodes import Mapping, Node

__all__ = ["KEYS", "read_tests"]

KEYS = ("id", "metric", "description", "tags", "scenarios", "severity")
"""What every test may say; the kind of check adds its own."""

_LEVELS = ("block", "warn", "log")
_Level = Literal["block", "warn", "log"]


def read_tests(context: Context, suite: Suite, node: Node) -> Suite:
    """The tests in their order, each read by the kind of check that its `metric:` names."""
    reader = context.reader
    ids = [scenario.id for scenario in suite.scenarios]
    tests: dict[str, Test] = {}
    for place, item in enumerate(reader.items(node, "tests")):
        at = f"tests[{place}]"
        if not isinstance(item, Mapping):
            reader.expected("a map", item, at)
            continue
        test = _test(context, item, at, ids)
        if test.id and test.id in tests:
            reader.problem(item.get("id") or item, f"{at}: the id '{test.id}' is taken on line {tests[test.id].line}")
        tests.setdefault(test.id or at, test)
    return replace(suite, tests=tuple(tests.values()))


def _test(context: Context, node: Mapping, at: str, scenarios: list[str]) -> Test:
    reader = context.reader
    id_node = reader.required(node, "id", at)
    id_ = reader.text(id_node, f"{at}.id") if id_node is not None else ""
    at = f"tests.{id_}" if id_ else at
    metric_node = reader.required(node, "metric", at)
    metric = reader.text(metric_node, f"{at}.metric") if metric_node is not None else ""
    severity = node.get("severity")
    reader.optional_text(node, "description", at, empty=True)
    return Test(
        id=id_,
        metric=metric,
        severity=cast("_Level", reader.choice(severity, f"{at}.severity", _LEVELS)) if severity else "block",
        scenarios=_selected(reader, node.get("scenarios"), f"{at}.scenarios", scenarios),
        tags=_tags(reader, node.get("tags"), f"{at}.tags"),
        spec=_spec(context, node, at, metric),
        line=node.line,
    )


def _spec(context: Context, node: Mapping, at: str, metric: str) -> object:
    """The test's own part, as its kind of check reads it; None, with a problem noted, where no kind is known."""
    reader = context.reader
    metric_node = node.get("metric")
    if metric_node is None or not metric:
        return None
    kind = context.kinds.get(metric)
    if kind is None:
        hint = did_you_mean(metric, context.kinds) or f"; known: {', '.join(sorted(context.kinds))}"
        reader.problem(metric_node, f"{at}: unknown metric '{metric}'{hint}")
        return None
    reader.mapping(node, f"{at} ({metric})", (*KEYS, *kind.keys))
    return kind.read(context, node, at)


def _tags(reader: Reader, node: Node | None, at: str) -> tuple[str, ...] | None:
    if node is None:
        return None
    tags = reader.texts(node, at)
    if not tags:
        reader.problem(node, f"{at}: an empty list selects nothing")
    return tuple(tags)


def _selected(reader: Reader, node: Node | None, at: str, ids: list[str]) -> tuple[str, ...] | None:
    """The ids of the scenarios that a test names, by id or glob."""
    if node is None:
        return None
    chosen: list[str] = []
    items = reader.one_or_more(node)
    for item in items:
        pattern = reader.text(item, at)
        matches = [pattern] if pattern in ids else [id_ for id_ in ids if globs.glob_matcher(pattern)(id_)]
        if pattern and not matches:
            why = globs.why_bad(pattern) or f"'{pattern}' selects no scenario{did_you_mean(pattern, ids)}"
            reader.problem(item, f"{at}: {why}")
        chosen += matches
    if not items:
        reader.problem(node, f"{at}: an empty list selects no scenario")
    return tuple(dict.fromkeys(chosen))
