"""Schemas that nothing fits: arguments that can never be given, tools that can never be called, impossible answers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from passmuster.api._lint_finding import LintFinding
from passmuster.checks import fits_nothing, impossible_parts, may_overlap, nearest_anchor, spec_of
from passmuster.suite import Suite, is_literal


def schema_findings(suite: Suite) -> Iterator[LintFinding]:
    """All findings about schemas."""
    seen: set[int] = set()
    for test in suite.tests:
        policy: Any = getattr(spec_of(test), "effective_policy", None)
        if policy is not None and id(policy) not in seen:
            seen.add(id(policy))
            yield from _of_policy(policy)
    for scenario in suite.scenarios:
        for layer in (scenario.correctness, *(turn.correctness for turn in scenario.turns)):
            schema = layer.values.get("json_schema") if layer is not None else None
            if layer is not None and any(True for _ in impossible_parts(getattr(schema, "schema", schema))):
                message = f"scenario '{scenario.id}': no answer fits 'json_schema'"
                yield LintFinding("impossible_schema", "error", message, suite.file, layer.lines["json_schema"])


def _of_policy(policy: Any) -> Iterator[LintFinding]:
    for tool in policy.tools:
        for path in impossible_parts(tool.arguments.schema):
            anchor = nearest_anchor(tool.arguments.anchors, path)
            what = ".".join(str(step) for step in path if step != "properties")
            told = f"'{what}' of '{tool.pattern}'" if what else f"the arguments of '{tool.pattern}'"
            line = anchor.line if anchor is not None and path else tool.line
            yield LintFinding("impossible_schema", "error", f"no value fits {told}", policy.file, line)
    globs = [tool for tool in policy.tools if not is_literal(tool.pattern)]
    for one, other in combinations(globs, 2):
        schemas = one.arguments.schema, other.arguments.schema
        if may_overlap(one.pattern, other.pattern) and not any(map(fits_nothing, schemas)) and fits_nothing(*schemas):
            message = f"no arguments fit both '{one.pattern}' and '{other.pattern}', and a tool may fit both"
            yield LintFinding("impossible_schema", "error", message, policy.file, other.line)
