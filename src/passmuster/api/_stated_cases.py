"""What a suite will have an answer to, before it is run."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from passmuster.suite import Suite


class StatedCase(Struct, frozen=True):
    """A test, a scenario, or a line of the gate that every full run has, by the group and id that reports give it."""

    group: str
    id: str
    line: int


def stated_cases(suite: Suite) -> list[StatedCase]:
    """Tests, scenarios and lines of the gate, in the order of reports."""
    return [
        *(StatedCase("tests", test.id, test.line) for test in suite.tests),
        *(StatedCase("scenarios", scenario.id, scenario.line) for scenario in suite.scenarios),
        *_lines(suite),
    ]


def _lines(suite: Suite) -> Iterator[StatedCase]:
    for listed in suite.required:
        yield StatedCase("required", listed.id, listed.line)
    for _, bound in suite.thresholds.plain_bounds():
        yield StatedCase("threshold", bound.metric, bound.line)
    for progressive in suite.thresholds.progressive:
        yield StatedCase("threshold", progressive.metric, progressive.line)
    if suite.criteria.overall is not None:
        yield StatedCase("criteria", "overall", suite.criteria.overall.line)
    for category, bound in suite.criteria.by_category.items():
        yield StatedCase("criteria", f"by_category.{category}", bound.line)
    for formula in suite.composite:
        if formula.name == "pass":
            yield StatedCase("composite", "pass", formula.line)
