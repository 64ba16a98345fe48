"""The gate: one line for every reason the verdict has, and the exit code that follows from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec.structs import replace

from passmuster.problems import did_you_mean
from passmuster.scoring.report import GateLine, ScenarioReport, TestReport
from passmuster.scoring.settings import Settings
from passmuster.scoring.tally import Tally
from passmuster.suite.model import Scenario, Suite

__all__ = ["exit_code_of", "gate_lines"]


def gate_lines(
    suite: Suite,
    tests: list[TestReport],
    chosen: list[Scenario],
    scenarios: list[ScenarioReport],
    tally: Tally,
    settings: Settings,
) -> list[GateLine]:
    """Every line: of the tests, of the scenarios chosen, and of what was odd about the input."""
    gate = [
        *_test_lines(suite, tests),
        *(_idle_rule_lines(suite, tests) if settings.strict else ()),
        *_scenario_lines(suite, chosen, scenarios, tally),
        *([] if settings.partial else _input_lines(suite, tally, settings)),
    ]
    return [_tightened(line) for line in gate] if settings.strict else gate


def exit_code_of(gate: list[GateLine]) -> int:
    """1 for a blocking failure, 3 where only outside parts failed, else 0."""
    blocking = [line for line in gate if line.level == "blocking" and line.status != "pass"]
    outside = [line for line in blocking if line.status == "error" and line.kind != "test"]
    if len(outside) < len(blocking):
        return 1
    return 3 if outside else 0


def _test_lines(suite: Suite, tests: list[TestReport]) -> Iterator[GateLine]:
    for test in tests:
        broken = test.status == "error"
        blocks = broken or test.status == "fail" or (test.severity == "block" and test.status == "pass")
        place = {"file": suite.file, "line": test.line}
        if not test.exercised and test.status in ("pass", "warn", "skip"):
            yield GateLine("vacuous", test.id, "warning", "fail", _why_idle(test), actual=0, **place)  # type: ignore[arg-type]
            continue
        yield GateLine(
            kind="test",
            id=test.id,
            level="blocking" if blocks else "warning",
            status="error" if broken else "fail" if test.status in ("fail", "warn") else "pass",
            message=_test_message(test),
            actual=test.violation_count,
            expected=0,
            file=suite.file,
            line=test.line,
        )


def _idle_rule_lines(suite: Suite, tests: list[TestReport]) -> Iterator[GateLine]:
    """The rules that never fired in tests that did: only listed, but under `--strict` no more a pass than such a test.

    Were they let off, one more rule that fires would turn the gate of a strict run green.
    """
    for test in tests:
        for number, rule in enumerate(test.rules if test.exercised else ()):
            if not rule.exercised_on:
                message = f"the rule '{rule.type}' on line {rule.line} was never exercised"
                id_ = f"{test.id}.rules[{number}]"
                yield GateLine("vacuous", id_, "warning", "fail", message, actual=0, file=suite.file, line=rule.line)


def _why_idle(test: TestReport) -> str:
    if not test.traces:
        return f"{test.metric} met no trace: none belongs to what its scenarios and tags select"
    return f"{test.metric} was never exercised on {_many(test.traces, 'trace')}: nothing in them is what it looks at"


def _test_message(test: TestReport) -> str:
    if test.status == "error":
        last = (test.error or "").strip().splitlines()
        return f"{test.metric} broke: {last[-1] if last else 'no reason given'}"
    if not test.violation_count:
        return f"{test.metric} held on {_many(test.traces, 'trace')}"
    text = f"{_many(test.violation_count, 'violation')} of {test.metric}"
    if test.failed_traces:
        text += f" on {test.failed_traces} of {_many(test.traces, 'trace')}"
    if test.waived_count:
        reasons = sorted({violation.waived for violation in test.violations if violation.waived})
        text += f"; {test.waived_count} waived: {'; '.join(reasons)}"
    return text


def _scenario_lines(
    suite: Suite, scenarios: list[Scenario], reports: list[ScenarioReport], tally: Tally
) -> Iterator[GateLine]:
    for scenario, report in zip(scenarios, reports, strict=True):
        status: Literal["pass", "fail", "error"] = "pass"
        level: Literal["blocking", "warning"] = "blocking"
        message = f"{_many(report.runs, 'run')}"
        if report.status == "missing":
            status, message = "fail", "no trace belongs to this scenario: it never ran"
        elif report.status == "error":
            status, message = "error", f"did not finish: {_fault(report, 'error')}"
        elif report.status == "fail":
            status, message = "fail", _why(report, "fail") or f"the agent failed: {_fault(report, 'fail')}"
        elif report.status in ("warn", "skip"):
            status, level, message = "fail", "warning", _why(report, report.status)
        yield GateLine(
            kind="scenario",
            id=report.id,
            level=level,
            status=status,
            message=message,
            actual=report.status,
            expected="pass",
            file=suite.file,
            line=report.line,
        )
        skipped = tally.scenarios[report.id].skipped
        if skipped and report.status != "skip":
            reasons = _why(report, "skip") or "not on the run shown"
            message = f"checks were skipped on {skipped} of {_many(report.runs, 'run')}: {reasons}"
            yield GateLine("vacuous", report.id, "warning", "fail", message, file=suite.file, line=report.line)
        if not scenario.states_something:  # a test that names it changes nothing: one more test never gives less
            message = "asks nothing: it states no expectation of its own"
            yield GateLine("vacuous", report.id, "warning", "fail", message, file=suite.file, line=report.line)


def _why(report: ScenarioReport, status: str) -> str:
    """The checks of the run shown that ended so, each with its reason; a check that broke is a failure too."""
    wanted = (status, "error") if status == "fail" else (status,)
    told = [
        f"{check['name']}: {check['message']}"
        for layer in report.layers.values()
        for check in layer["checks"]
        if check["status"] in wanted
    ]
    return "; ".join(told)


def _fault(report: ScenarioReport, status: str) -> str:
    return next((run.message for run in report.attempts if run.status == status and run.message), "no reason recorded")


def _input_lines(suite: Suite, tally: Tally, settings: Settings) -> Iterator[GateLine]:
    def line(id_: str, message: str, at: int | None = None) -> GateLine:
        return GateLine("input", id_, "warning", "fail", message, file=suite.file if at else None, line=at)

    if tally.bad_lines:
        yield line("bad_lines", f"{_many(tally.bad_lines, 'line')} could not be read and were skipped")
    for name in sorted(tally.unknown_scenarios):
        hint = did_you_mean(name, [scenario.id for scenario in suite.scenarios])
        yield line(
            name, f"{_many(tally.unknown_scenarios[name], 'trace')} name a scenario the suite does not have{hint}"
        )
    for query in sorted(tally.ambiguous_queries):
        yield line(
            query, f"{_many(tally.ambiguous_queries[query], 'trace')} fit several scenarios by query; state 'scenario'"
        )
    if tally.stray_faults:
        yield line(
            "agent_errors", f"on {_many(tally.stray_faults, 'trace')} without a scenario the agent itself failed"
        )
    for waiver, used in zip(suite.waivers, tally.waivers_used, strict=True):
        id_ = f"waiver:{waiver.test}"
        if waiver.expires < settings.today:
            yield line(id_, f"the waiver '{waiver.reason}' expired on {waiver.expires.isoformat()}", waiver.line)
        elif not used:
            yield line(id_, f"the waiver '{waiver.reason}' matched no violation: remove it", waiver.line)


def _tightened(line: GateLine) -> GateLine:
    """Under `--strict` a warning blocks, unless something tolerates it."""
    if line.level == "warning" and line.status != "pass" and line.tolerated_by is None:
        return replace(line, level="blocking")
    return line


def _many(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
