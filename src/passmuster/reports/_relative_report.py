"""A report with its files named from where the reader stands; reports name them from the root."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial

from msgspec.structs import replace

from passmuster.checks import CheckReport, Violation
from passmuster.scoring import Report, ScenarioReport


def relative_report(report: Report, here: str) -> Report:
    """The report as it reads in the folder `here`."""
    if not report.root or os.path.realpath(here) == os.path.realpath(report.root):
        return report
    paths = PathsFrom(report.root, here)
    return replace(
        report,
        suite_file=paths[report.suite_file],
        gate=[replace(line, file=paths[line.file]) if line.file else line for line in report.gate],
        tests=[
            replace(test, file=paths[test.file], violations=[_violation(one, paths) for one in test.violations])
            for test in report.tests
        ],
        scenarios=[_scenario(one, paths) for one in report.scenarios],
    )


class PathsFrom(dict[str, str]):
    """The name of a file from the folder `here`, by its name from the root."""

    def __init__(self, root: str, here: str) -> None:
        super().__init__()
        self.root, self.here = os.path.realpath(root), os.path.realpath(here)
        self.inside = os.path.commonpath([self.root, self.here]) == self.root

    def __missing__(self, file: str) -> str:
        self[file] = found = self._found(file)
        return found

    def _found(self, file: str) -> str:
        if not file or file.startswith("<") or "://" in file:
            return file
        whole = os.path.join(self.root, file)
        near = os.path.relpath(whole, self.here)
        return near if self.inside or not near.startswith(os.pardir) else whole


def _scenario(scenario: ScenarioReport, paths: PathsFrom) -> ScenarioReport:
    change = partial(_check, paths=paths)
    run = scenario.worst_run
    return replace(
        scenario,
        file=paths[scenario.file],
        layers={
            name: replace(layer, checks=[change(one) for one in layer.checks])
            for name, layer in scenario.layers.items()
        },
        behaviors=replace(scenario.behaviors, checks=[change(one) for one in scenario.behaviors.checks]),
        worst_run=replace(run, file=paths[run.file], trace_id=_name(run.trace_id, run.file, paths))
        if run and run.file
        else run,
    )


def _check(check: CheckReport, paths: PathsFrom) -> CheckReport:
    moved: Iterable[Violation] = (_violation(one, paths) for one in check.violations)
    return replace(check, violations=tuple(moved))


def _violation(violation: Violation, paths: PathsFrom) -> Violation:
    policy, trace = violation.policy_file, violation.trace_file
    return replace(
        violation,
        policy_file=paths[policy] if policy else policy,
        trace_file=paths[trace] if trace else trace,
        trace_id=_name(violation.trace_id, trace, paths) if violation.trace_id and trace else violation.trace_id,
    )


def _name(trace_id: str, file: str, paths: PathsFrom) -> str:
    """The id of a trace; one without an id is called by its place."""
    return paths[file] + trace_id.removeprefix(file) if trace_id.startswith(f"{file}:") else trace_id
