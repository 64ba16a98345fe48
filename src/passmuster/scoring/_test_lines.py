"""Gate lines about tests: how each ended, which rules no trace exercised, and which tools nobody has."""

from __future__ import annotations

from collections.abc import Iterator

from passmuster._problems import plural
from passmuster.checks import KnownTools, misspelt_tools, spec_of
from passmuster.scoring._report import GateLine, TestReport
from passmuster.suite import Suite


def test_lines(suite: Suite, tests: list[TestReport], tools: KnownTools) -> Iterator[GateLine]:
    for number, test in enumerate(tests):
        broken = test.status == "error"
        blocks = broken or test.status == "fail" or (test.severity == "block" and test.status == "pass")
        if not test.exercised and test.status in ("pass", "warn", "skip") and not test.may_stay_idle:
            named = [pattern for pattern, _, _ in spec_of(suite.tests[number]).named_tools()]
            yield _vacuous(suite, test.id, f"{_why_idle(test)}{tools.unknown(named)}", test.line)
            continue
        yield GateLine(
            kind="error" if test.outside_error else "test",
            id=test.id,
            level="blocking" if blocks else "warning",
            status="error" if broken else "fail" if test.status in ("fail", "warn") else "pass",
            message=_test_message(test),
            actual=test.violation_count,
            expected=0,
            file=suite.file,
            line=test.line,
        )
        if test.skipped_traces:
            message = f"{test.metric} was skipped on {_skips(test)}"
            yield _vacuous(suite, test.id, message, test.line, test.skipped_traces)


def _vacuous(suite: Suite, id_: str, message: str, line: int, actual: int = 0) -> GateLine:
    return GateLine("vacuous", id_, "warning", "fail", message, actual=actual, file=suite.file, line=line)


def idle_rule_lines(suite: Suite, tests: list[TestReport], tools: KnownTools) -> Iterator[GateLine]:
    """Rules that were never exercised in tests that were, one line each.

    Under `--strict` they block, or else one more rule that is exercised could turn a red gate green.
    """
    for place, test in enumerate(tests):
        stated = spec_of(suite.tests[place]).stated_rules()
        for number, rule in test.idle_rules():
            what = f" ({rule.description})" if rule.description else ""
            unknown = tools.unknown(stated[number].tools)
            message = f"the rule '{rule.type}' on line {rule.line}{what} was never exercised{unknown}"
            yield _vacuous(suite, f"{test.id}.rules[{number}]", message, rule.line)


def misspelt_lines(suite: Suite, tools: KnownTools) -> Iterator[GateLine]:
    """Tools that the suite names and nobody has, where a known one is spelt nearly so."""
    for named, meant in misspelt_tools(suite, tools):
        message = (
            f"{named.said} on line {named.line} names '{named.pattern}', which neither a policy nor any trace has; "
            f"did you mean '{meant}'?"
        )
        id_ = f"tool:{named.pattern}"
        yield GateLine("input", id_, "warning", "fail", message, file=suite.file, line=named.line)


def _why_idle(test: TestReport) -> str:
    if not test.traces:
        return f"{test.metric} ran on no trace: its scenarios and tags select none"
    if test.skipped_traces:
        return f"{test.metric} was never exercised on {plural(test.traces, 'trace')}; skipped on {_skips(test)}"
    return f"{test.metric} was never exercised on {plural(test.traces, 'trace')}: no call matches it"


def _skips(test: TestReport) -> str:
    return f"{test.skipped_traces} of {test.traces}: {test.skip_reason}"


def _test_message(test: TestReport) -> str:
    if test.status == "error":
        last = (test.error or "").strip().splitlines()
        why = "could not be decided" if test.outside_error else "broke"
        return f"{test.metric} {why}: {last[-1] if last else 'no reason given'}"
    if not test.violation_count:
        return f"{test.metric} held on {plural(test.traces, 'trace')}"
    text = f"{plural(test.violation_count, 'violation')} of {test.metric}"
    if test.failed_traces:
        text += f" on {test.failed_traces} of {plural(test.traces, 'trace')}"
    if test.waived_count:
        reasons = sorted({violation.waived for violation in test.violations if violation.waived})
        text += f"; {test.waived_count} waived: {'; '.join(reasons)}"
    return text
