"""Each trace evaluated by two suites at once: what only one of them blocks."""

from __future__ import annotations

from collections.abc import Callable

from passmuster.checks import Violation
from passmuster.engine._plan import Plan
from passmuster.scoring import Direction, Evaluation, Example, PolicyChanges, RuleChange, bounded, bounded_violation
from passmuster.suite import Suite
from passmuster.traces import Trace, spot_of_call, spot_of_trace

_Blocked = dict[int, list[tuple[str, Violation]]]
"""The violations that block, each with its test, by the call (from 1; 0: the trace as a whole)."""


def counting_changes(before: Plan, after: Suite, changes: PolicyChanges) -> Callable[[Evaluation], None]:
    """A function that counts what changes from the plan `before` to an evaluation by the suite `after`."""
    old_tests, new_tests = ([test.id for test in suite.tests] for suite in (before.suite, after))

    def count(evaluation: Evaluation) -> None:
        earlier = before.evaluate(evaluation.trace)
        old, new = _verdict(earlier), _verdict(evaluation)
        name = f"{old}>{new}"
        changes.traces[name] = changes.traces.get(name, 0) + 1
        if old == new != "blocked":
            return
        was, now = _blocked(earlier, old_tests), _blocked(evaluation, new_tests)
        if was.keys() != now.keys():
            newly = {call: now[call] for call in now.keys() - was.keys()}
            no_longer = {call: was[call] for call in was.keys() - now.keys()}
            changes.calls_blocked += len(newly)
            changes.calls_allowed += len(no_longer)
            _count(changes, "newly_blocked", newly, evaluation.trace)
            _count(changes, "newly_allowed", no_longer, evaluation.trace)
            changes.cut()

    return count


def _verdict(evaluation: Evaluation) -> str:
    statuses = {result.outcome.status for result in evaluation.results}
    if evaluation.seen is not None:
        statuses.add(evaluation.seen.status)
    return "blocked" if "fail" in statuses else "undecided" if "error" in statuses else "allowed"


def _blocked(evaluation: Evaluation, tests: list[str]) -> _Blocked:
    found: _Blocked = {}
    for result in evaluation.results:
        if result.outcome.status == "fail":
            for violation in result.outcome.violations:
                if violation.level == "block" and violation.waived is None:
                    for call in _calls(violation, evaluation.trace):
                        found.setdefault(call, []).append((tests[result.test], violation))
    seen = evaluation.seen
    if seen is not None and seen.status == "fail" and evaluation.explain is not None:
        name = f"scenario {evaluation.scenario}"
        report = evaluation.explain()
        checks = [*(check for layer in report.layers.values() for check in layer.checks), *report.behaviors.checks]
        for check in checks:
            for violation in check.violations:
                if check.status == "fail" and violation.level == "block":
                    for call in _calls(violation, evaluation.trace):
                        found.setdefault(call, []).append((name, violation))
    return found


def _calls(violation: Violation, trace: Trace) -> list[int]:
    """The calls that a violation is about: some checks tell of all calls of a tool in one."""
    first = violation.call_index or 0
    if not first or (violation.calls_found or 1) == 1:
        return [first]
    calls = [place for place, call in enumerate(trace.tool_calls, 1) if place >= first and call.tool == violation.tool]
    return calls if len(calls) == violation.calls_found else [first]


def _count(changes: PolicyChanges, direction: Direction, blocked: _Blocked, trace: Trace) -> None:
    met: set[str] = set()
    for call, violations in sorted(blocked.items()):
        spot = spot_of_call(trace, call - 1) if 0 < call <= len(trace.tool_calls) else spot_of_trace(trace)
        counted: set[str] = set()
        for test, violation in violations:
            rule, tool = bounded(_rule(violation)), bounded(violation.tool)
            name = ascii((direction, test, rule, tool))
            if name in counted:
                continue
            counted.add(name)
            change = changes.rules.get(name)
            if change is None:
                change = changes.rules[name] = RuleChange(direction, test, rule, tool)
            change.calls += 1
            change.traces += name not in met
            met.add(name)
            change.keep([Example(spot, call, bounded_violation(violation))])


def _rule(violation: Violation) -> str:
    """What was broken, in the words of the policy."""
    if violation.constraint is not None:
        return f"{violation.argument}: {violation.constraint}" if violation.argument else violation.constraint
    if violation.rule is not None:
        return violation.rule
    return f"blocklist '{violation.pattern}'" if violation.pattern is not None else violation.message
