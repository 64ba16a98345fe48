"""What the page shows besides the JSON report: how each case ended, and its figures in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from passmuster.reports._cases import Case, cases, line_endings
from passmuster.reports._last_line import closing_sentence
from passmuster.reports._reasons import reasons
from passmuster.reports._text import headline, skipped_runs
from passmuster.scoring import (
    CategoryRate,
    GateLine,
    Metric,
    Report,
    ScenarioReport,
    TestReport,
    between,
    category_rates,
    metric_named,
    number,
    written,
)

_REASON = 240
_DOTS = 60
"""Runs whose dots the table knows."""
_FEW = 100
_FIRST = 3
_COMPARED = 100
"""Violations of a test that are looked at for those that read alike."""


class CaseColumns(Struct):
    """The table of scenarios and tests, column by column: a row is an index."""

    kind: list[str]
    """`s` for a scenario, `t` for a test."""
    number: list[int]
    """Its index among the scenarios or the tests."""
    id: list[str]
    ending: list[str]
    category: list[str]
    """Of a test: its metric."""
    runs: list[int]
    """Of a test: the traces that it applied to."""
    dots: list[str]
    """One letter per run: the first letter of its status."""
    rate: list[float | None]
    """The fraction of runs that passed; of a test, of traces."""
    flaky: list[bool]
    reason: list[str]
    tools: list[list[int]]
    """Indexes into the names of the tools: those in violations and kept traces."""
    tool_names: list[str]


class Explained(Struct, frozen=True):
    """A figure with its unit, its interval, and what both say."""

    value: str
    interval: str
    words: str
    rate: bool
    falls: bool
    """Whether less is better."""
    description: str


class Page(Struct, frozen=True):
    """What the page says that the report does not say itself."""

    sentence: str
    skipped_runs: str | None
    """What a live run skipped, and why."""
    endings: list[str]
    """How each gate line ended, in the order of the report."""
    order: list[int]
    """Gate lines as they are shown: what blocks, worst first as on the console; values with a bound; the rest."""
    distances: list[str | None]
    """How far each gate line's value is from its bound."""
    metrics: dict[str, Explained]
    categories: list[CategoryRate]
    first: dict[str, list[str]]
    """The first violations of each test, in a line each."""
    chunk: int


def page_of(report: Report, chunk: int) -> tuple[Page, CaseColumns]:
    """What the page says about a report, and its table."""
    all_cases = cases(report)
    page = Page(
        sentence=closing_sentence(report, all_cases, rest="below"),
        skipped_runs=skipped_runs(report),
        endings=list(line_endings(report)),
        order=_order(report, all_cases),
        distances=[_distance(line) for line in report.gate],
        metrics={name: explained(name, metric) for name, metric in report.metrics.items()},
        categories=category_rates(report.scenarios),
        first={test.id: _first(test) for test in report.tests if test.violations},
        chunk=chunk,
    )
    return page, _columns(report, all_cases)


def _order(report: Report, all_cases: list[Case]) -> list[int]:
    places = {id(case.line): place for place, case in enumerate(reasons(report, all_cases))}

    def rank(index: int) -> tuple[int, bool]:
        line = report.gate[index]
        return places.get(id(line), len(places)), line.bound is None

    return sorted(range(len(report.gate)), key=rank)


def _first(test: TestReport) -> list[str]:
    """The first violations in a line each, those that read alike once."""
    times = Counter(headline(one) for one in test.violations[:_COMPARED])
    return [f"{text} (× {number})" if number > 1 else text for text, number in list(times.items())[:_FIRST]]


def explained(name: str, metric: Metric) -> Explained:
    """A metric in words: what it is over, and what its interval says."""
    declared = metric_named(name)
    value = "no value" if metric.value is None else written(name, metric.value)
    return Explained(
        value=value,
        interval=between(name, metric.ci95),
        words=_words(name, metric, declared.rate),
        rate=declared.rate,
        falls=declared.better == "down",
        description=declared.description.replace("`", ""),
    )


def _words(name: str, metric: Metric, rate: bool) -> str:
    if metric.value is None:
        return "Nothing to measure it on, so it has no value."
    told = f" of {metric.total} traces; the others do not state it" if metric.total is not None else ""
    if not rate:
        spread = between(name, metric.ci95).replace(" to ", " and ")
        likely = f"; the true value is likely between {spread}" if spread else ""
        return f"Over {metric.known if told else metric.n}{told}{likely}."
    whole = round(metric.value * metric.n)
    counted = f"{whole} of {metric.n}" if abs(whole - metric.value * metric.n) < 1e-6 else f"A mean over {metric.n}"
    if metric.ci95 is None:
        return f"{counted}."
    low, high = (f"{end * 100:.0f} %" for end in metric.ci95)
    amount = "With this few" if metric.n < _FEW else "With this many"
    return f"{counted}. {amount}, the true rate is likely between {low} and {high}."


def _distance(line: GateLine) -> str | None:
    """How far the value is from the bound, in the metric's own unit."""
    bound = line.bound
    if bound is None or not isinstance(line.actual, float | int) or isinstance(line.actual, bool):
        return None
    difference = line.actual - bound.value
    if abs(difference) <= 1e-9:
        return "exactly at the threshold"
    side = "above" if difference > 0 else "below"
    if metric_named(bound.metric).rate:
        return f"{abs(difference) * 100:.3g} points {side} the threshold"
    return f"{number(bound.metric, abs(difference))} {side} the threshold"


def _columns(report: Report, all_cases: list[Case]) -> CaseColumns:
    columns = CaseColumns([], [], [], [], [], [], [], [], [], [], [], [])
    tools: dict[str, int] = {}
    used = _kept_tools(report)
    numbers = {"s": 0, "t": 0}
    for case in all_cases:
        if case.source is None:
            continue
        kind = "s" if case.scenario else "t"
        columns.kind.append(kind)
        columns.number.append(numbers[kind])
        numbers[kind] += 1
        columns.id.append(case.id)
        columns.ending.append(case.ending)
        columns.reason.append(_cut(case.message))
        if case.scenario is not None:
            _add_scenario(columns, case.scenario)
        elif case.test is not None:
            test = case.test
            columns.category.append(test.metric)
            columns.runs.append(test.traces)
            columns.dots.append("")
            columns.rate.append(1 - test.failed_traces / test.traces if test.traces else None)
            columns.flaky.append(False)
        names = {*_violated_tools(case), *used.get(case.id if case.scenario else "", ())}
        columns.tools.append(sorted(tools.setdefault(name, len(tools)) for name in sorted(names)))
    columns.tool_names = list(tools)
    return columns


def _add_scenario(columns: CaseColumns, scenario: ScenarioReport) -> None:
    columns.category.append(scenario.category or "")
    columns.runs.append(scenario.runs)
    columns.dots.append("".join(attempt.status[0] for attempt in scenario.attempts[:_DOTS]))
    columns.rate.append(scenario.pass_rate)
    columns.flaky.append(scenario.pass_rate is not None and 0 < scenario.pass_rate < 1)


def _violated_tools(case: Case) -> Iterator[str]:
    violations: Any = case.test.violations if case.test else case.scenario.violations() if case.scenario else ()
    for violation in violations:
        if violation.tool is not None:
            yield violation.tool


def _kept_tools(report: Report) -> dict[str, set[str]]:
    """The tools in the kept traces of each scenario."""
    used: dict[str, set[str]] = {}
    for trace in report.evidence.traces if report.evidence else ():
        if trace.scenario is not None and trace.role == "run":
            used.setdefault(trace.scenario, set()).update(
                step.name or "" for step in trace.steps if step.kind == "tool"
            )
    return used


def _cut(text: str) -> str:
    return text if len(text) <= _REASON else f"{text[:_REASON]}…"
