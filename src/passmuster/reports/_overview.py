"""The figures of a run in tables: categories, metrics, repeats, tools without a policy, stages and judges."""

from __future__ import annotations

from collections.abc import Iterator

from passmuster._problems import plural
from passmuster.reports._text import aligned, one_line, rate_and_count, skipped_runs
from passmuster.scoring import CAPTURE, GateLine, Metric, Report, ScenarioReport

_NAMED = 5


def category_rows(report: Report, most: int | None = None) -> list[str]:
    """The table of categories as lines."""
    table = category_cells(report)
    if not table:
        return []
    shown = aligned(table[: None if most is None else most + 1], right=(1, 2, 3))
    more = len(table) - len(shown)
    return [*shown, f"… and {more} more"] if more else shown


def metric_rows(report: Report, most: int | None = None) -> list[str]:
    """The table of metrics as lines; of many, those that something is required of first."""
    table = metric_cells(report)
    if not table:
        return []
    kept, hidden = table, 0
    if most is not None and len(table) > most + 2:
        first = sorted(table[1:], key=lambda row: not row[5])[:most]
        kept, hidden = [table[0], *(row for row in table[1:] if row in first)], len(table) - 1 - most
    shown = aligned(kept, right=(1, 3, 4))
    return [*shown, f"… and {plural(hidden, 'more metric')}"] if hidden else shown


def category_cells(report: Report) -> list[tuple[str, ...]]:
    """How many scenarios of each category passed, those with the lowest share first; none where there is only one."""
    by_category: dict[str, list[ScenarioReport]] = {}
    for scenario in report.scenarios:
        by_category.setdefault(scenario.category or "", []).append(scenario)
    if len(by_category) < 2:
        return []
    from passmuster.scoring import between, category_rates, written  # late: few suites have categories

    rates = {one.category: one for one in category_rates(report.scenarios)}
    rows = []
    for category, scenarios in sorted(by_category.items(), key=lambda one: _passed(one[1]) / len(one[1])):
        rate = rates[category]
        value = "no value" if rate.value is None else written("pass_rate", rate.value)
        count = f"{_passed(scenarios)} of {len(scenarios)}"
        rows.append((one_line(category) or "(none)", count, value, between("pass_rate", rate.ci95)))
    return [("category", "passed", "pass_rate", "95 % CI" if any(row[3] for row in rows) else ""), *rows]


def metric_cells(report: Report) -> list[tuple[str, ...]]:
    """Each metric with its bound, its interval and what it is over; a weighted one only where weights matter."""
    shown = {
        name: metric
        for name, metric in report.metrics.items()
        if metric != report.metrics.get(name.removeprefix("weighted_")) or not name.startswith("weighted_")
    }
    if not shown:
        return []
    bounds = {line.bound.metric: line for line in reversed(report.gate) if line.bound and line.kind != "criteria"}
    rows = [_metric_row(name, metric, bounds.get(name)) for name, metric in shown.items()]
    interval = "95 % CI" if any(row[3] for row in rows) else ""
    return [("metric", "value", "", interval, "n", "required" if bounds else ""), *rows]


def fact_lines(report: Report) -> Iterator[str]:
    """What else a reader should know, one line each."""
    if relation := rate_and_count(report):
        yield relation
    if skipped := skipped_runs(report):
        yield f"Not run: {skipped}"
    flaky = [one for one in report.scenarios if one.pass_rate is not None and 0 < one.pass_rate < 1]
    if flaky:
        told = [f"{one_line(one.id)} {_fraction(one)}" for one in sorted(flaky, key=lambda one: one.pass_rate or 0)]
        yield f"Flaky (runs that passed): {_first(told)}"
    if report.uncovered_tools:
        yield f"Tools that no policy covers: {_first([one_line(name) for name in report.uncovered_tools])}"
    yield from _stage_lines(report)
    if report.judging is not None:
        use = report.judging
        spent = "" if not use.calls else ", at unknown cost" if use.spent_usd is None else f", {use.spent_usd:.4f} USD"
        yield f"Judges: {plural(use.questions, 'question')}, {plural(use.calls, 'call')}{spent}"
    if report.live is not None and report.verdict != "pass":
        yield from (f"Capture: {one_line(line.message)}" for line in report.gate if line.id == CAPTURE)


def _stage_lines(report: Report) -> Iterator[str]:
    if not report.stages:
        return
    from passmuster.scoring import written  # late: few suites have stages

    version = f"version {one_line(report.agent_version)}" if report.agent_version else "unknown version"
    for stage in report.stages:
        value = "no value" if stage.value is None else written(stage.metric, stage.value)
        asked = f"requires {one_line(stage.expected)}" if stage.expected else "is below the first stage"
        target = f", target {one_line(stage.target)}" if stage.target else ""
        yield f"Stage: {version} {asked} for {one_line(stage.metric)}{target} (now {value})"


def _metric_row(name: str, metric: Metric, line: GateLine | None) -> tuple[str, ...]:
    from passmuster.scoring import between, written  # late: suites of tests alone have no metrics

    value, _, unit = ("none", "", "") if metric.value is None else written(name, metric.value).partition(" ")
    known = f"{metric.n} of {metric.total}" if metric.total is not None else str(metric.n)
    required = ""
    if line is not None:
        mark = "✓" if line.status == "pass" else "❌" if line.level == "blocking" else "⚠"
        required = f"{one_line(str(line.expected))} {mark}"
    return one_line(name), value, unit, between(name, metric.ci95), known, required


def _passed(scenarios: list[ScenarioReport]) -> int:
    return sum(one.status in ("pass", "warn") for one in scenarios)


def _fraction(scenario: ScenarioReport) -> str:
    decided = [attempt for attempt in scenario.attempts if attempt.status != "skip"]
    if len(scenario.attempts) < scenario.runs or scenario.pass_rate is None:  # only the first runs are kept
        return f"{(scenario.pass_rate or 0) * 100:.3g}% of {scenario.runs}"
    return f"{round(scenario.pass_rate * len(decided))}/{len(decided)}"


def _first(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"
