"""A compiled suite: turns one trace into an evaluation. Compiled once per process."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from time import perf_counter_ns
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from passmuster.checks import (
    CALLS_UNKNOWN,
    CheckError,
    Golden,
    Outcome,
    RunShown,
    View,
    Viewer,
    golden_of,
    shown_by,
    spec_of,
)
from passmuster.engine._execution import PartFiles
from passmuster.engine._prices import price_list
from passmuster.scoring import (
    Evaluation,
    Figures,
    ScenarioTally,
    Settings,
    SeverityPolicy,
    Tally,
    TestResult,
    TestTally,
    groups_by,
)
from passmuster.suite import Scenario, Suite, Test
from passmuster.traces import Trace

if TYPE_CHECKING:
    from passmuster.checks import Inquiry, JudgeAnswer, Question, ScenarioCheck, ToolIndex

_CALLS_UNKNOWN = Outcome("skip", False, message=CALLS_UNKNOWN)
_REMEMBERED = 1_000
"""Outcomes of a test whose result is shared by all traces."""
_TIMED, _TIMED_THEN = 64, 16
"""The tests are timed on the first traces, and then on one in so many, which stands for all of these: reading the clock
for each test takes 0.4 µs of the 30 that a trace with three tests takes."""
_Evaluating = Generator[list["Question"], Sequence["JudgeAnswer"], Evaluation]


class Pending(Struct, frozen=True):
    """An evaluation that waits for a judge: what it asks, and how it goes on with the answers."""

    questions: list[Question]
    resume: Callable[[Sequence[JudgeAnswer]], Evaluation | Pending]


def _go_on(evaluating: _Evaluating, answers: Sequence[JudgeAnswer] | None) -> Evaluation | Pending:
    try:
        questions = next(evaluating) if answers is None else evaluating.send(answers)
    except StopIteration as end:
        evaluation: Evaluation = end.value
        return evaluation
    return Pending(questions, partial(_go_on, evaluating))


class Plan:
    """The compiled checks of a suite."""

    def __init__(
        self,
        suite: Suite,
        today: datetime.date,
        golden: Mapping[str, Golden] | None = None,
        *,
        judges_only_warn: bool = False,
        accept_loss: bool = False,
    ) -> None:
        """`golden` is what recorded runs did, per scenario. With `accept_loss` unknown arguments are skipped."""
        self.suite, self._accept_loss = suite, accept_loss
        self._priced = price_list(suite, today)
        self._viewer = Viewer(suite.failed_when, suite.redact.arguments)
        self._tests = [_PlannedTest(index, test, suite, self._viewer, today) for index, test in enumerate(suite.tests)]
        self._is_selective = any(test.is_selective for test in self._tests)
        self._evaluated = 0
        self._checks = _scenario_checks(suite, golden or {}, self._viewer, judges_only_warn)
        self._scenarios = {scenario.id: scenario for scenario in suite.scenarios}
        self._by_query: dict[str, list[Scenario]] = {}
        for scenario in suite.scenarios:
            if scenario.query is not None:
                self._by_query.setdefault(_folded(scenario.query), []).append(scenario)

    def tally(self, group_by: tuple[str, ...] = ()) -> Tally:
        """An empty tally for this plan's outcomes, and for groups of traces by these keys."""
        return Tally(
            tests=[TestTally(*_zeros(len(spec_of(test).stated_rules()))) for test in self.suite.tests],
            scenarios={id_: ScenarioTally() for id_ in self._scenarios},
            waivers_used=[0] * len(self.suite.waivers),
            figures=Figures() if self.suite.asks_figures else None,
            tools_seen=self._viewer.tools.seen,
            groups=groups_by(group_by) if group_by else None,
        )

    def forget_tools(self) -> None:
        """Begin anew with the tools that were called: the next tally has those of its own traces only."""
        self._viewer.tools.clear()
        self._viewer.tools.seen = set()

    @property
    def tools(self) -> ToolIndex:
        """The patterns that calls are told by."""
        return self._viewer.tools

    def view(self, trace: Trace) -> View:
        """The trace as the checks see it."""
        return self._viewer.view(trace)

    @property
    def may_ask(self) -> bool:
        """Whether evaluating a trace may need a judge."""
        return any(check.may_ask for check in self._checks.values())

    def evaluate(self, trace: Trace) -> Evaluation:
        """All outcomes of one trace, without asking a judge."""
        if self._priced is not None:
            trace = self._priced(trace)
        scenario, unknown, ambiguous = self._scenario_of(trace) if self._scenarios else (None, None, None)
        view = self._viewer.view(trace)
        seen, explain = None, None
        check = self._checks.get(scenario.id) if scenario else None
        if check is not None:
            seen = check.evaluate(view)
            explain = partial(check.explain, view, seen)
        results, durations = self._results(view, scenario)
        id_ = scenario.id if scenario else None
        return Evaluation(trace, results, id_, unknown, ambiguous, seen, explain, durations)

    def begin(self, trace: Trace) -> Evaluation | Pending:
        """The same where judges are asked: an evaluation, or the questions it waits for."""
        scenario = self._scenario_of(trace)[0] if self._scenarios else None
        check = self._checks.get(scenario.id) if scenario else None
        if scenario is None or check is None or not check.may_ask:
            return self.evaluate(trace)
        if self._priced is not None:
            trace = self._priced(trace)
        view = self._viewer.view(trace)
        return _go_on(self._judged(view, scenario, check), None)

    def inquire(self, trace: Trace) -> tuple[str | None, list[Inquiry], tuple[str, ...]]:
        """The scenario of a trace, all that judges could be asked about it, and the answer checks that failed."""
        scenario = self._scenario_of(trace)[0] if self._scenarios else None
        check = self._checks.get(scenario.id) if scenario else None
        if scenario is None or check is None:
            return scenario.id if scenario else None, [], ()
        return scenario.id, *check.inquiries(self._viewer.view(trace))

    def _judged(self, view: View, scenario: Scenario, check: ScenarioCheck) -> _Evaluating:
        results, durations = self._results(view, scenario)
        seen = yield from check.examine(view)
        explain = partial(check.explain, view, seen)
        return Evaluation(view.trace, results, scenario.id, None, None, seen, explain, durations)

    def _results(self, view: View, scenario: Scenario | None) -> tuple[tuple[TestResult, ...], Sequence[int]]:
        """The results of every test that applies to the trace, and how long each took, where they were timed."""
        tests = self._tests
        if self._is_selective:
            tests = [test for test in tests if test.applies(view.trace, scenario)]
        self._evaluated = evaluated = self._evaluated + 1
        clock = [perf_counter_ns()] if evaluated <= _TIMED or not evaluated % _TIMED_THEN else None
        calls_unknown = view.trace.calls_unknown
        results: list[TestResult] = []
        for test in tests:
            try:
                outcome = test.check(view)
            except Exception as error:
                outcome = _broken(error)
            result = test.passes.get(id(outcome))
            if result is None or calls_unknown:
                result = self._result(test, outcome, view, scenario)
            results.append(result)
            if clock is not None:
                clock.append(perf_counter_ns())
        if clock is None:
            return tuple(results), ()
        times = 1 if evaluated <= _TIMED else _TIMED_THEN
        return tuple(results), [(ended - started) * times for started, ended in pairwise(clock)]

    def _result(self, test: _PlannedTest, decided: Outcome, view: View, scenario: Scenario | None) -> TestResult:
        """What an outcome counts as on this trace. A plain pass is remembered, for all traces with this outcome."""
        outcome = decided
        if view.trace.calls_unknown and test.reads_calls and not (view.names and outcome.violations):
            outcome = _CALLS_UNKNOWN
        waivers: tuple[int, ...] = ()
        if outcome.violations or outcome.status != "pass":
            if outcome.cause == "unknown_arguments" and self._accept_loss:
                outcome = replace(outcome, status="skip")
            outcome, waivers = test.severity_policy.apply(outcome, scenario.id if scenario else None)
        result = TestResult(test.index, outcome, waivers)
        if outcome is decided and result.is_plain_pass:
            if len(test.passes) >= _REMEMBERED:
                test.passes.clear()
            test.passes[id(outcome)] = result
        return result

    def golden(self, traces: Iterable[Trace]) -> dict[str, Golden]:
        """What recorded runs did, per scenario."""
        runs: dict[str, list[RunShown]] = {}
        for trace in traces:
            scenario, _, _ = self._scenario_of(trace)
            if scenario is not None:
                runs.setdefault(scenario.id, []).append(shown_by(self._priced(trace) if self._priced else trace))
        return {id_: golden_of(recorded) for id_, recorded in runs.items()}

    def _scenario_of(self, trace: Trace) -> tuple[Scenario | None, str | None, str | None]:
        """The scenario of a trace, else an unknown scenario id, else the ids of several scenarios with its query."""
        if trace.scenario is not None:
            scenario = self._scenarios.get(trace.scenario)
            return scenario, None if scenario else trace.scenario, None
        if trace.query is None:
            return None, None, None
        matches = self._by_query.get(_folded(trace.query), [])
        if len(matches) > 1:
            return None, None, " / ".join(scenario.id for scenario in matches)
        return matches[0] if matches else None, None, None


def _scenario_checks(
    suite: Suite, golden: Mapping[str, Golden], viewer: Viewer, judges_only_warn: bool
) -> dict[str, ScenarioCheck]:
    stating = [scenario for scenario in suite.scenarios if scenario.selected and scenario.states_something]
    if not stating:
        return {}
    from passmuster.checks import ScenarioCheck  # late, for suites without scenarios do not need it

    return {
        one.id: ScenarioCheck(one, suite, golden.get(one.id), viewer.tools, judges_only_warn=judges_only_warn)
        for one in stating
    }


def _zeros(rules: int) -> tuple[list[int], list[int]]:
    return [0] * rules, [0] * rules


def _folded(query: str) -> str:
    return " ".join(query.split())


class _PlannedTest:
    """One test, compiled."""

    def __init__(self, index: int, test: Test, suite: Suite, viewer: Viewer, today: datetime.date) -> None:
        self.index = index
        self.check = spec_of(test).compile(viewer.tools)
        self.reads_calls = spec_of(test).reads_calls
        self.severity_policy = SeverityPolicy(test, suite, today)
        self._scenarios = None if test.scenarios is None else frozenset(test.scenarios)
        self._tags = None if test.tags is None else frozenset(test.tags)
        self.is_selective = self._scenarios is not None or self._tags is not None
        self.passes: dict[int, TestResult] = {}
        """By the identity of an outcome that is a plain pass, which checks share: its result, which has the outcome."""

    def applies(self, trace: Trace, scenario: Scenario | None) -> bool:
        """Whether the test applies to this trace."""
        if self._scenarios is not None and (scenario is None or scenario.id not in self._scenarios):
            return False
        if self._tags is None:
            return True
        return not self._tags.isdisjoint(trace.tags) or (
            scenario is not None and not self._tags.isdisjoint(scenario.tags)
        )


def _broken(error: Exception) -> Outcome:
    """The outcome of a check that raised."""
    if isinstance(error, CheckError | TimeoutError):
        return Outcome("error", True, message=str(error) or "a pattern took longer than a second")
    import traceback

    return Outcome("error", True, message="".join(traceback.format_exception(error)))


class Job(Struct, frozen=True):
    """What every executor is given besides the parts: a suite and the options it is run with.

    `suite.documents` are its bytes, for executors in other processes.
    """

    suite: Suite
    """Only what `--only` and `--tag` select."""
    settings: Settings
    golden: Mapping[str, Golden] = {}
    """What recorded runs did, per scenario."""
    plugins: bool = True
    files: PartFiles = PartFiles()
    before: Suite | None = None
    """Another suite, which the traces are evaluated by too, to tell what changes."""

    def plan(self) -> Plan:
        """The suite compiled for this process."""
        only_warn = self.settings.uncalibrated is not None
        accept = self.settings.accept_loss
        return Plan(self.suite, self.settings.today, self.golden, judges_only_warn=only_warn, accept_loss=accept)
