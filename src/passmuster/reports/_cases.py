"""Each test, each scenario and each suite-level line, with how it ended for the gate.

Reports that count or colour cases take the answer from here, so that they agree with the exit code.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from passmuster.scoring import GateLine, Report, ScenarioReport, TestReport

Ending = Literal["pass", "fail", "error", "warning", "tolerated", "never", "skip"]


class Case(Struct, frozen=True):
    """One thing that was asked, how it ended, and the gate line that decided."""

    id: str
    ending: Ending
    line: GateLine | None = None
    source: TestReport | ScenarioReport | None = None
    """What it is about; None for a suite-level line."""

    @property
    def test(self) -> TestReport | None:
        return self.source if isinstance(self.source, TestReport) else None

    @property
    def scenario(self) -> ScenarioReport | None:
        return self.source if isinstance(self.source, ScenarioReport) else None

    @property
    def group(self) -> str:
        """`tests`, `scenarios`, or the kind of a suite-level line."""
        if self.source is not None:
            return "tests" if self.test else "scenarios"
        return self.line.kind if self.line is not None else "gate"

    @property
    def message(self) -> str:
        return self.line.message if self.line is not None else ""


def cases(report: Report) -> list[Case]:
    """All cases: tests, then scenarios, then every gate line that belongs to neither."""
    by_test: dict[str, list[GateLine]] = {test.id: [] for test in report.tests}
    by_scenario: dict[str, list[GateLine]] = {scenario.id: [] for scenario in report.scenarios}
    idle = {test.id for test in report.tests if not test.exercised and not test.may_stay_idle}
    others: list[GateLine] = []
    for line in report.gate:
        if line.id in by_test and (line.kind in ("test", "error") or (line.kind == "vacuous" and line.id in idle)):
            by_test[line.id].append(line)
        elif line.id in by_scenario and line.kind in ("scenario", "vacuous"):
            by_scenario[line.id].append(line)
        else:
            others.append(line)
    stuck = report.exit_code == 3
    return [
        *(_case(test, by_test[test.id], stuck) for test in report.tests),
        *(_case(scenario, by_scenario[scenario.id], stuck) for scenario in report.scenarios),
        *(Case(line.id, _line_ending(line, stuck), line) for line in others),
    ]


def line_endings(report: Report) -> Iterator[Ending]:
    """How each gate line ended, in the order of the report."""
    stuck = report.exit_code == 3
    return (_line_ending(line, stuck) for line in report.gate)


def _case(source: TestReport | ScenarioReport, lines: list[GateLine], stuck: bool) -> Case:
    line = _gravest(lines, stuck)
    test = source if isinstance(source, TestReport) else None
    blocks = test is None or test.severity == "block"
    ending = _line_ending(line, stuck) if line else _status_ending(source.status, blocks)
    if test and ending in ("pass", "warning") and not test.exercised and test.status in ("pass", "warn", "skip"):
        ending = "pass" if test.may_stay_idle and test.status == "pass" else "never"
    elif ending == "pass" and source.status == "skip":
        ending = "skip"
    return Case(source.id, ending, line, source)


def _gravest(lines: list[GateLine], stuck: bool) -> GateLine | None:
    order: tuple[Ending, ...] = ("error", "fail", "tolerated", "warning", "pass")
    return min(lines, key=lambda line: order.index(_line_ending(line, stuck)), default=None)


def _line_ending(line: GateLine, stuck: bool) -> Ending:
    if line.status == "pass":
        return "pass"
    if line.tolerated_by is not None:
        return "tolerated"
    if line.level == "warning":
        return "warning"
    if line.status == "undecided":
        return "error" if stuck else "fail"
    return line.status


def _status_ending(status: str, blocks: bool) -> Ending:
    """The ending of a case without a gate line."""
    if status in ("fail", "missing", "error"):
        return ("error" if status == "error" else "fail") if blocks else "warning"
    return "warning" if status == "warn" else "skip" if status in ("skip", "not_run") else "pass"
