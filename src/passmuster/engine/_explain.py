"""Why each test and the scenario came out as they did on one trace, by the plan that a run evaluates it with."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from passmuster.checks import Outcome, Reasoning, RunReport, Status, spec_of
from passmuster.engine._plan import Job
from passmuster.engine._run import prepared
from passmuster.scoring import Baseline, Settings
from passmuster.suite import Suite, Test
from passmuster.traces import Source, Trace


class ExplainedTest(Struct, frozen=True):
    """One test on one trace."""

    test: Test
    outcome: Outcome
    """After severity and waivers."""
    reasons: tuple[Reasoning, ...]


class ExplainedTrace(Struct, frozen=True):
    """One trace by a suite: every test that applies to it, and its scenario."""

    trace: Trace
    tests: tuple[ExplainedTest, ...]
    scenario: str | None
    scenario_status: Status | None
    run: RunReport | None
    """The scenario's checks on this trace."""
    failed: tuple[bool, ...]
    """For each call, whether it counts as failed."""


class Explainer:
    """Explains traces by one suite. Judges are not asked."""

    def __init__(
        self, suite: Suite, settings: Settings, baseline: Baseline | Sequence[Source] = (), *, plugins: bool = True
    ) -> None:
        job, _ = prepared(suite, settings, baseline, plugins=plugins)
        self._job: Job = job
        self._plan = job.plan()
        # Made before the first trace is looked at: they add patterns to those that calls are told by.
        self._reasons = [spec_of(test).reasons(self._plan.tools) for test in job.suite.tests]

    def explain(self, trace: Trace) -> ExplainedTrace:
        """The trace evaluated, with the reasons."""
        found = self._plan.evaluate(trace)
        view = self._plan.view(found.trace)
        tests = []
        for result in found.results:
            try:
                reasons = tuple(self._reasons[result.test](view, result.outcome))
            except Exception:  # a check that breaks on this trace; its outcome says why
                reasons = ()
            tests.append(ExplainedTest(self._job.suite.tests[result.test], result.outcome, reasons))
        failed = tuple(bool(view.failed and view.failed[call]) for call in range(len(view.names)))
        return ExplainedTrace(
            found.trace,
            tuple(tests),
            found.scenario,
            found.seen.status if found.seen is not None else None,
            found.explain() if found.explain is not None else None,
            failed,
        )
