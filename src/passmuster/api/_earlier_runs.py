"""Earlier runs of a suite next to a new one: their metrics, how each case ended then, and what changed since."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct

from passmuster._problems import InputError
from passmuster.history import Run, cases_of, read_history
from passmuster.scoring import (
    Baseline,
    Changes,
    MetricShift,
    PastMetric,
    PastRun,
    Report,
    change,
    metric_named,
    written,
)

_RUNS = 30
"""Earlier runs in plots."""
_ALL = 1_000
_TRAILS = 12
"""Earlier runs whose cases are shown one by one."""
_FAILED = ("fail", "error", "missing")
_PASSED = ("pass", "warn")


class EarlierRuns(Struct, frozen=True):
    """What the history says beside a report."""

    runs: tuple[PastRun, ...] = ()
    trails: list[str] | None = None
    """For each row of the page's table, tests first: a letter per run, the oldest first, `-` where it was not there."""
    changes: Changes | None = None
    against: int | None = None
    """The run that `changes` is about."""


def earlier_runs(report: Report, *, before: int | None = None, against: int | None = None) -> EarlierRuns:
    """What the history says; nothing of a partial run, or where there is no history or it cannot be read.

    Of a stored run, `before` is its number: runs from there on are left out. `against` is the run to compare with, by
    default the last one.
    """
    if report.partial or not report.root:
        return EarlierRuns()
    root = Path(report.root)
    try:
        listed = read_history(root, report.suite_file, _RUNS if before is None else _ALL).runs
        runs = [run for run in listed if before is None or run.id < before][-_RUNS:]
        other = next((run for run in listed if run.id == against), runs[-1] if runs else None)
        stored = [cases_of(root, run.id) for run in runs[-_TRAILS:]]
        last = cases_of(root, other.id) if other else None
    except InputError:
        return EarlierRuns()
    known = [cases for cases in stored if cases is not None]
    return EarlierRuns(
        (*(_past(run.metrics, run_label(run), run.verdict) for run in runs), _now(report)) if runs else (),
        [_trail(key, known) for key in _keys(report)] if known else None,
        _since(report, other, last) if other and last is not None else None,
        other.id if other else None,
    )


def _since(report: Report, run: Run, last: Mapping[str, str]) -> Changes:
    metrics = {name: one.value for name, one in run.metrics.items()}
    return _changes(report, f"run {run.id} ({run.time[:10]})", metrics, last)


def run_label(run: Run) -> str:
    """The run in a line: its number, its time, the agent's version."""
    version = f", version {run.agent_version}" if run.agent_version else ""
    return f"run {run.id}, {run.time.replace('T', ' ').replace('Z', ' UTC')}{version}"


def _past(metrics: Mapping[str, object], label: str, verdict: str) -> PastRun:
    return PastRun(label, verdict, {name: _metric(name, one) for name, one in metrics.items()})


def _metric(name: str, one: object) -> PastMetric:
    value = getattr(one, "value", None)
    return PastMetric(value, getattr(one, "ci95", None), "no value" if value is None else written(name, value))


def _now(report: Report) -> PastRun:
    return PastRun("this run", report.verdict, {name: _metric(name, one) for name, one in report.metrics.items()}, True)


def _keys(report: Report) -> list[str]:
    """The rows of the page's table: tests, then scenarios."""
    return [*(f"t:{test.id}" for test in report.tests), *(f"s:{scenario.id}" for scenario in report.scenarios)]


def _trail(key: str, before: list[dict[str, str]]) -> str:
    return "".join(cases[key][0] if key in cases else "-" for cases in before)


def changes_since_baseline(report: Report, baseline: Baseline) -> Changes:
    """What is different from a recorded run."""
    last: dict[str, str] = {f"t:{id_}": test.status for id_, test in baseline.tests.items()}
    last |= {f"s:{id_}": scenario.status for id_, scenario in baseline.scenarios.items()}
    told = [part for part in (baseline.agent_version and f"version {baseline.agent_version}", baseline.day) if part]
    since = f"the baseline ({', '.join(told)})" if told else "the baseline"
    return _changes(report, since, {name: one.value for name, one in baseline.metrics.items()}, last)


def _changes(report: Report, since: str, metrics: Mapping[str, float | None], last: Mapping[str, str]) -> Changes:
    now = {f"t:{test.id}": test.status for test in report.tests}
    now |= {f"s:{scenario.id}": scenario.status for scenario in report.scenarios}
    worse = [key for key, status in now.items() if status in _FAILED and last.get(key) in _PASSED]
    fixed = [key for key, status in now.items() if status in _PASSED and last.get(key) in _FAILED]
    shifts = []
    for name, metric in report.metrics.items():
        was = metrics.get(name)
        if was is None or metric.value is None or was == metric.value:
            continue
        if name.startswith("weighted_") and metric == report.metrics.get(name.removeprefix("weighted_")):
            continue  # the weights make no difference
        better = (metric.value > was) == (metric_named(name).better == "up")
        tone: Literal["good", "bad"] = "good" if better else "bad"
        shifts.append(MetricShift(name, change(name, was, metric.value), tone))
    return Changes(since, worse, fixed, shifts)
