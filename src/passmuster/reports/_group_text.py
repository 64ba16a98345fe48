"""Groups of traces and estimates from a sample in words, as console, JUnit and other text reports show them."""

from __future__ import annotations

from collections.abc import Iterator

from passmuster._problems import plural
from passmuster.reports._text import aligned, one_line
from passmuster.scoring import GroupReport, Metric, Report, between, written

_GROUPS = 30
"""Groups that text shows, those with the highest rates; the JSON report has all of them."""
_SHOWN = ("violation_rate", "pass_rate", "latency_p95", "mean_cost_usd")


def sweep_lines(report: Report) -> list[str]:
    """The estimates from a sample and the groups, each under a title; nothing where there are none."""
    return [*_estimates(report), *_groups(report)]


def _estimates(report: Report) -> Iterator[str]:
    sample = report.sample
    if sample is None or not sample.tests:
        return
    drawn = f"{sample.evaluated} of {plural(sample.traces, 'trace')} drawn"
    yield f"Estimates from a sample of {sample.share * 100:g}% ({drawn}; failing traces, 95 % CI, number)"
    rows = []
    for name, one in sample.tests.items():
        number = ""
        if one.failed_traces is not None and one.failed_traces_ci95 is not None:
            low, high = one.failed_traces_ci95
            number = f"about {one.failed_traces:.0f} ({low:.0f} to {high:.0f})"
        rows.append((one_line(name), *_cells("violation_rate", one.violation_rate), number))
    yield from (f"   {line}" for line in aligned(rows))


def _groups(report: Report) -> Iterator[str]:
    if not report.groups:
        return
    ordered = report.groups
    if len(ordered) > _GROUPS:
        ordered = sorted(ordered, key=lambda one: -(one.metrics["violation_rate"].value or 0))[:_GROUPS]
    keys = [one_line(key) for key in report.groups[0].by]
    shown = [name for name in _SHOWN if any(name in one.metrics for one in ordered)]
    titles = {
        "violation_rate": ("failing", "95 % CI"),
        "latency_p95": ("latency_p95", ""),
        "mean_cost_usd": ("cost", ""),
    }
    head = (*keys, "traces", *(title for name in shown for title in titles.get(name, (name, "95 % CI"))))
    yield f"Groups by {' and '.join(keys)}"
    yield from (f"   {line}" for line in aligned([head, *(_row(one, shown) for one in ordered)]))
    if len(ordered) < len(report.groups):
        yield f"   … and {len(report.groups) - len(ordered)} more groups (all of them are in the JSON report)"


def _row(group: GroupReport, shown: list[str]) -> tuple[str, ...]:
    values = ("none" if value is None else one_line(value) for value in group.by.values())
    cells = (cell for name in shown for cell in _cells(name, group.metrics.get(name)))
    return (*values, str(group.traces), *cells)


def _cells(name: str, metric: Metric | None) -> tuple[str, str]:
    if metric is None or metric.value is None:
        return "", ""
    return written(name, metric.value), between(name, metric.ci95)
