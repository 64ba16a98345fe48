"""Which runs of a live run are still needed: none, once the verdict is known without them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from passmuster._problems import Problem, TraceError, UsageError
from passmuster.agents import FinishedRun, PlannedRun
from passmuster.checks import Status
from passmuster.engine._plan import Job
from passmuster.engine._run import prepared
from passmuster.scoring import (
    Curtailment,
    EarlyStop,
    Evaluation,
    GateLine,
    RateLine,
    ScenarioTally,
    Settings,
    SettledLine,
    Tally,
    line_key,
    rate_lines,
    settled_side,
)
from passmuster.suite import Suite, share
from passmuster.traces import Source, Trace, totals_of

if TYPE_CHECKING:
    from passmuster.scoring import Baseline

_CHECKS = 250
"""Of the runs to come, one in so many may take place before the gate is looked at again, which takes time in large
suites."""
_SURELY: tuple[Status, ...] = ("fail",)
_PERHAPS: tuple[Status, ...] = ("fail", "error", "skip")
"""What may lower a rate: what failed, what a judge or infrastructure left open, and what could not be decided."""


class StopEarly(Struct, frozen=True):
    """When runs are skipped.

    `repeats`: further repeats of a scenario, once no outcome of theirs can change the exit code. `certain`: any run,
    for that reason. With a chance: also once the exit code with all runs would be another with at most this chance.
    """

    rule: Literal["off", "repeats", "certain", "chance"] = "repeats"
    chance: float = 0.0

    @property
    def words(self) -> str:
        """As an option and a report write it."""
        return f"{self.chance * 100:.6g}%" if self.rule == "chance" else self.rule


def stop_early(text: str | None) -> StopEarly:
    """What `--stop-early` says; by default only repeats are skipped. Raises `UsageError`."""
    if text is None or text == "repeats":
        return StopEarly()
    if text in ("off", "certain"):
        return StopEarly("off" if text == "off" else "certain")
    try:
        chance = share(text)
    except ValueError:
        chance = 0.0
    if not 0 < chance <= 0.5:
        expected = "expected off, repeats, certain, or the chance of another verdict that you accept, such as 1%"
        raise UsageError(Problem(f"--stop-early: {expected} (50% at most), found '{text[:40]}'"))
    return StopEarly("chance", chance)


def needed_runs(
    suite: Suite,
    settings: Settings,
    baseline: Baseline | Sequence[Source],
    runs: Sequence[PlannedRun],
    stop: StopEarly,
    seed: int,
) -> NeededRuns:
    """The runs that a suite needs, evaluated as they will be for the report."""
    job, _ = prepared(suite, settings, baseline)
    return NeededRuns(job, runs, stop if not settings.some_traces else StopEarly("off"), seed)


class NeededRuns:
    """Tells which of the planned runs are still needed. The order of `runs` is the random one they take place in."""

    def __init__(self, job: Job, runs: Sequence[PlannedRun], stop: StopEarly, seed: int) -> None:
        self._job, self._stop, self._seed = job, stop, seed
        self._order = [run.name for run in runs]
        self._planned = Counter(run.scenario for run in runs)
        self._unknown = Counter(self._planned)
        """Runs of each scenario whose outcome is not known."""
        self._plan = job.plan()
        self._tally = self._plan.tally()
        self._curtailment = Curtailment(job.suite, job.settings, self._tally)
        self._skipped: dict[str, str] = {}
        self._begun: dict[str, str] = {}
        """The first run of each scenario that was needed."""
        self._reason: str | None = None
        self._until_check = 1
        self._protected = _protected(job) if stop.rule == "chance" else frozenset[str]()
        self._sequences = _Sequences(job, self._tally, self._planned, stop.chance) if stop.rule == "chance" else None
        curtailed = max(self._planned.values(), default=0) > 1 if stop.rule == "repeats" else stop.rule != "off"
        self._watches = curtailed and bool(runs)

    def finished(self, run: FinishedRun) -> None:
        """Take note of what a run came to."""
        if not self._watches or self._reason is not None:
            return
        found = self._evaluated(run.trace)
        if found is not None:
            self._tally.add(found)
            self._unknown[run.planned.scenario] -= 1
        if self._sequences is not None:
            self._sequences.add(run.planned, found, self._order)
        self._until_check -= 1
        if self._until_check <= 0:
            self._reason = self._known_verdict()
            self._until_check = max(1, self._unknown.total() // _CHECKS)

    def needless(self, run: PlannedRun) -> str | None:
        """Why this run need not take place any more; None where it has to."""
        if self._reason is None or run.scenario in self._protected:
            self._begun.setdefault(run.scenario, run.name)
            return None
        if self._stop.rule == "repeats" and self._begun.setdefault(run.scenario, run.name) == run.name:
            return None
        self._skipped[run.name] = run.scenario
        return self._reason

    def early_stop(self) -> EarlyStop:
        """What was skipped, as a report says it."""
        return EarlyStop(
            rule=self._stop.words,
            seed=self._seed,
            planned=self._planned.total(),
            skipped=dict(sorted(Counter(self._skipped.values()).items())),
            reason=self._reason if self._skipped else None,
            settled=self._sequences.settled() if self._sequences and self._skipped else (),
        )

    def fails(self, run: FinishedRun) -> bool:
        """Whether a run failed, as far as that is known without a judge."""
        if run.trace.error is not None:
            return True
        found = self._evaluated(run.trace)
        if found is None:
            return False
        statuses = [result.outcome.status for result in found.results]
        if found.seen is not None:
            statuses.append(found.seen.status)
        return "fail" in statuses or "error" in statuses

    def _evaluated(self, trace: Trace) -> Evaluation | None:
        """The outcome of a run; None where it waits for a judge, or cannot be read."""
        if trace.wrapped:
            from passmuster.engine._unwrapping import Unwrapper  # late, for few runs need it

            try:
                trace = Unwrapper(self._job.suite, self._job.settings.accept_loss)(trace, [])
            except TraceError:
                return None
        found = self._plan.begin(trace)
        return found if isinstance(found, Evaluation) else None

    def _known_verdict(self) -> str | None:
        """Why the exit code is known; None while it is not."""
        spared = {id_: runs for id_, runs in self._unknown.items() if id_ not in self._protected}
        seen = self._curtailment.outlook(self._unknown, spared)
        if seen.failures:
            return f"the gate fails whatever the remaining runs come to: {_words(seen.failures[0])}"
        if seen.certain:
            return "the gate passes whatever the remaining runs come to"
        settled = self._sequences.settled() if self._sequences else ()
        chance = f"all runs would give another verdict with at most {self._stop.words} chance"
        if failed := next((one for one in settled if one.status == "fail"), None):
            return f"{failed.id} {failed.expected} is settled as missed: {chance}"
        if settled and not seen.hazards and seen.open_bounds <= {line_key(one) for one in settled}:
            return f"{', '.join(f'{one.id} {one.expected}' for one in settled)} is settled as reached: {chance}"
        return None


def _words(line: GateLine) -> str:
    if line.kind in ("threshold", "criteria"):
        return f"{line.id} cannot reach {line.expected} any more"
    return f"the test {line.id} has failed" if line.kind == "test" else f"the scenario {line.id} has failed"


def _protected(job: Job) -> frozenset[str]:
    """The scenarios that run in full: those that are required, and those that forbid something."""
    required = {listed.id for listed in job.suite.required}
    barring = {one.id for one in job.suite.scenarios if one.states_must_not or one.forbids_tools}
    return frozenset(required | barring)


class _Sequences:
    """A confidence sequence for each line that is a share of runs.

    Runs count in the order in which they were drawn, not in that in which they finished: a run that fails may well take
    longer than one that passes.
    """

    def __init__(self, job: Job, tally: Tally, planned: Counter[str], chance: float) -> None:
        suite, settings = job.suite, job.settings
        known = settings.agent_version is not None or suite.agent.version is not None
        usable = known or not suite.thresholds.progressive
        lines = rate_lines(suite, tally, settings, planned) if usable else []
        self._chance = chance / max(1, len(lines))
        """So that all of them together are wrong with at most the chance that was accepted."""
        self._counts = [_Drawn(line) for line in lines]
        self._outcomes: dict[str, tuple[str, Status, Status]] = {}
        """Of runs that were drawn after one that has not finished."""
        self._next = 0

    def add(self, run: PlannedRun, found: Evaluation | None, order: Sequence[str]) -> None:
        """Count a run, once all that were drawn before it have finished."""
        self._outcomes[run.name] = (run.scenario, *(_statuses(found) if found else ("skip", "skip")))
        while self._next < len(order) and order[self._next] in self._outcomes:
            outcome = self._outcomes.pop(order[self._next])
            self._next += 1
            for count in self._counts:
                count.add(*outcome, self._chance)

    def settled(self) -> tuple[SettledLine, ...]:
        """The lines that are settled."""
        return tuple(one.settled for one in self._counts if one.settled is not None)


class _Drawn:
    """The runs drawn so far for one line."""

    def __init__(self, line: RateLine) -> None:
        self._line = line
        self._runs = self._surely = self._perhaps = 0
        self.settled: SettledLine | None = None

    def add(self, scenario: str, status: Status, correct: Status, chance: float) -> None:
        line = self._line
        if self.settled is not None or scenario not in line.scenarios:
            return
        counted = correct if line.correctness else status
        self._runs += 1
        self._surely += counted in _SURELY
        self._perhaps += counted in _PERHAPS
        missed = settled_side(self._runs, self._surely, line.runs, line.limit, chance) == "reached"
        reached = settled_side(self._runs, self._perhaps, line.runs, line.limit, chance) == "below"
        if missed or reached:
            ended: Literal["pass", "fail"] = "fail" if missed else "pass"
            self.settled = SettledLine(line.kind, line.id, line.expected, ended, self._runs, line.runs, chance)


def _statuses(found: Evaluation) -> tuple[Status, Status]:
    """What a run came to, and its correctness, as a tally counts them."""
    one = ScenarioTally()
    one.add(found.trace, totals_of(found.trace), found.seen, None)
    return next(iter(one.statuses)), next(iter(one.correct), "skip")
