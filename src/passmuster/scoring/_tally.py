"""What the verdict needs from many outcomes, in bounded memory, whatever way the traces were split.

`merge` is associative and commutative: counts are whole numbers, scores are summed exactly, and of the violations
the first K by (file, offset, call, rule) are kept beside their exact number.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct, field

from passmuster.checks import Outcome, RunReport, ScenarioOutcome, Status, Violation
from passmuster.scoring._bounds import bounded, bounded_violation
from passmuster.scoring._group_tally import Groups
from passmuster.scoring._left_out import LeftOut
from passmuster.scoring._losses import LossTally
from passmuster.scoring._policy_changes import PolicyChanges
from passmuster.scoring._report import JudgeUse
from passmuster.scoring._scenario_tally import Figures, ScenarioTally
from passmuster.scoring._stats import Stat, Sum, add_stats, count, merge_fields, merge_stats
from passmuster.traces import PartLines, Spot, Trace, spot_of_call, spot_of_trace, totals_of

KEPT = 5_000
"""Violations kept per test."""
_TOOLS = 2_000
"""Tools remembered by name, to tell a misspelt one."""
_REPEATED = 1_000
"""Combinations of passes counted by identity, before they are added up."""


class TestResult(Struct, frozen=True, gc=False, eq=False):
    """One test on one trace, after severity and waivers. Equal only to itself: traces may share a pass."""

    __test__ = False

    test: int
    outcome: Outcome
    waivers: tuple[int, ...] = ()
    """The waivers that turned violations of this outcome into warnings."""

    @property
    def is_plain_pass(self) -> bool:
        """Whether there is nothing to count but that the test passed."""
        outcome = self.outcome
        return outcome.status == "pass" and not (outcome.violations or outcome.stats or outcome.score is not None)


class Evaluation(Struct, frozen=True):
    """Everything found out about one trace."""

    trace: Trace
    results: tuple[TestResult, ...]
    scenario: str | None = None
    unknown_scenario: str | None = None
    """The scenario id the trace states, where the suite has none such."""
    ambiguous_query: str | None = None
    seen: ScenarioOutcome | None = None
    """The scenario on this trace."""
    explain: Callable[[], RunReport] | None = None
    """The same in words; asked for only where a report will show it."""
    durations_ns: Sequence[int] = ()
    """How long each of the tests took; nothing where they were not timed."""


class Found(Struct, frozen=True, order=True):
    """A violation and its place in the order of all of them."""

    spot: Spot
    call: int
    rule: int
    violation: Violation

    @property
    def key(self) -> tuple[str, int, int, int]:
        return (self.spot.file, self.spot.offset, self.call, self.rule)


class Broken(Struct, frozen=True):
    """A check that broke on a trace, and why."""

    spot: Spot
    message: str


class PartRead(Struct, frozen=True, order=True):
    """A part of a file that was read in one go, and how many lines it has."""

    file: str
    start: int
    lines: int


class ViolationFile(Struct, frozen=True, order=True):
    """A file with all violations of one part."""

    source: str
    start: int
    end: int | None
    file: str
    violations: int


class JudgeTally(Struct):
    """What judges were asked."""

    questions: int = 0
    calls: int = 0
    spent: Sum = field(default_factory=Sum)
    unpriced: int = 0
    """Requests whose price is not known."""

    def merge(self, other: JudgeTally) -> None:
        merge_fields(self, other)

    def reported(self) -> JudgeUse | None:
        """The same as a report shows it; None where nothing was asked."""
        if not self.questions:
            return None
        return JudgeUse(self.questions, self.calls, None if self.unpriced else self.spent.mean(1))


class TestTally(Struct):
    """One test over many traces."""

    __test__ = False

    exercised_rules: list[int]
    """For each rule, on how many traces it was exercised."""
    violated: list[int]
    """For each rule, on how many traces it was violated."""
    traces: int = 0
    exercised: int = 0
    checked: int = 0
    statuses: dict[Status, int] = field(default_factory=dict)
    violations: int = 0
    waived: int = 0
    found: list[Found] = field(default_factory=list)
    stats: dict[str, Stat] = field(default_factory=dict)
    scores: int = 0
    score_sum: Sum = field(default_factory=Sum)
    packed_scores: bytearray = field(default_factory=bytearray)
    """Eight bytes each, for the interval of their mean."""
    broken: Broken | None = None
    undecided: int = 0
    """Traces on which it could not be decided because arguments are not recorded; they count as errors."""
    skipped: dict[str, int] = field(default_factory=dict)
    """Why traces were skipped, and how many."""
    duration_ns: int = 0

    def add(self, trace: Trace, outcome: Outcome) -> None:
        """Count the outcome of one trace."""
        self.add_passes(outcome, 1)
        self._add_rest(trace, outcome)

    def add_passes(self, outcome: Outcome, times: int) -> None:
        """Count a plain pass of so many traces; of other outcomes, what they have in common with one."""
        self.traces += times
        self.checked += outcome.checked * times
        self.exercised += times if outcome.exercised else 0
        self.statuses[outcome.status] = self.statuses.get(outcome.status, 0) + times
        for rule in range(len(self.exercised_rules)):
            if outcome.rules_exercised >> rule & 1:
                self.exercised_rules[rule] += times

    def _add_rest(self, trace: Trace, outcome: Outcome) -> None:
        """What most outcomes do not have."""
        for rule, times in enumerate(self.violated):
            self.violated[rule] = times + (outcome.rules_violated >> rule & 1)
        if outcome.stats:
            add_stats(self.stats, outcome.stats)
        if outcome.score is not None:
            self.scores += 1
            self.score_sum.add(outcome.score)
            self.packed_scores += struct.pack("<d", outcome.score)
        self.undecided += outcome.status == "error" and outcome.cause == "unknown_arguments"
        if outcome.message is not None and outcome.status == "error":
            self.broken = _first(self.broken, Broken(spot_of_trace(trace), outcome.message))
        if outcome.status == "skip":
            count(self.skipped, [(bounded(outcome.message or "it could not apply"), 1)])
        if outcome.violations:
            self._keep(trace, outcome.violations)

    def _keep(self, trace: Trace, violations: tuple[Violation, ...]) -> None:
        settled = self.violations >= 2 * KEPT  # so `found` was cut: it begins with the first ones, in order
        self.violations += len(violations)
        for rule, violation in enumerate(violations):
            self.waived += violation.waived is not None
            call = violation.call_index or 0
            spot = spot_of_call(trace, call - 1) if call else spot_of_trace(trace)
            if settled and (spot.file, spot.offset, call, rule) > self.found[KEPT - 1].key:
                continue
            self.found.append(Found(spot, call, rule, bounded_violation(violation)))
        if len(self.found) >= 2 * KEPT:
            self._cut()

    def ordered_scores(self) -> list[float]:
        """Every score, from the lowest."""
        return sorted(value for (value,) in struct.iter_unpack("<d", self.packed_scores))

    def _cut(self) -> None:
        self.found.sort(key=lambda found: found.key)
        del self.found[KEPT:]

    def merge(self, other: TestTally) -> None:
        self.traces += other.traces
        self.exercised += other.exercised
        self.duration_ns += other.duration_ns
        for status, number in other.statuses.items():
            self.statuses[status] = self.statuses.get(status, 0) + number
        self.checked += other.checked
        self.undecided += other.undecided
        self.exercised_rules = [a + b for a, b in zip(self.exercised_rules, other.exercised_rules, strict=True)]
        self.violated = [a + b for a, b in zip(self.violated, other.violated, strict=True)]
        merge_stats(self.stats, other.stats)
        self.scores += other.scores
        self.score_sum.merge(other.score_sum)
        self.packed_scores += other.packed_scores
        if other.broken:
            self.broken = _first(self.broken, other.broken)
        count(self.skipped, other.skipped.items())
        self.violations += other.violations
        self.waived += other.waived
        self.found += other.found
        self._cut()


def _first(a: Broken | None, b: Broken) -> Broken:
    return b if a is None or (b.spot, b.message) < (a.spot, a.message) else a


class _Passes(Struct, gc=False):
    """Results of all tests of a trace that are plain passes, and on how many traces they were the results."""

    results: tuple[TestResult, ...]
    times: int = 1


class Tally(Struct):
    """One suite over many traces. Call `settle` before reading the counts of tests."""

    tests: list[TestTally]
    scenarios: dict[str, ScenarioTally]
    waivers_used: list[int]
    passes: dict[int, _Passes] = field(default_factory=dict)
    """Traces on which all tests simply passed, by the hash of their results, not yet added up. Most traces do, and
    share the results, so that one look-up counts a trace, however many tests there are."""
    read: int = 0
    unmatched: int = 0
    bad_lines: int = 0
    losses: LossTally = field(default_factory=LossTally)
    unknown_scenarios: dict[str, int] = field(default_factory=dict)
    ambiguous_queries: dict[str, int] = field(default_factory=dict)
    parts: list[PartRead] = field(default_factory=list)
    unmatched_agent_errors: int = 0
    """Traces without a scenario on which the agent itself failed."""
    figures: Figures | None = None
    """What the traces used up, where the suite asks about it."""
    tools_seen: set[str] = field(default_factory=set)
    """The tools that were called, so many only; the plan of this process fills it."""
    left_out: LeftOut = field(default_factory=LeftOut)
    """Traces that were read and not evaluated; `read` does not count them."""
    written: list[ViolationFile] = field(default_factory=list)
    changes: PolicyChanges | None = None
    """What another suite says about the same traces, where two are compared."""
    groups: Groups | None = None
    """The same counts by group, where that is asked for."""
    judging: JudgeTally = field(default_factory=JudgeTally)

    def add(self, evaluation: Evaluation) -> None:
        """Count one trace."""
        trace, results = evaluation.trace, evaluation.results
        self.read += 1
        same = self.passes.get(hash(results))
        if same is not None and same.results == results:
            same.times += 1
        else:
            self._add_results(trace, results)
        if evaluation.durations_ns:
            for result, duration in zip(results, evaluation.durations_ns, strict=True):
                self.tests[result.test].duration_ns += duration
        spent = None
        if self.figures is not None:
            spent = totals_of(trace)
            self.figures.add(trace, spent)
        if self.groups is not None:
            self.groups.add(evaluation, spent)
        if spent is not None and evaluation.scenario is not None:
            self.scenarios[evaluation.scenario].add(trace, spent, evaluation.seen, evaluation.explain)
            return
        self.unmatched += bool(self.scenarios)
        self.unmatched_agent_errors += trace.error is not None
        if evaluation.unknown_scenario is not None:
            count(self.unknown_scenarios, [(bounded(evaluation.unknown_scenario), 1)])
        if evaluation.ambiguous_query is not None:
            count(self.ambiguous_queries, [(evaluation.ambiguous_query, 1)])

    def _add_results(self, trace: Trace, results: tuple[TestResult, ...]) -> None:
        key = hash(results)
        if key not in self.passes and all(result.is_plain_pass for result in results):
            if len(self.passes) >= _REPEATED:
                self.settle()
            self.passes[key] = _Passes(results)
            return
        for result in results:
            self.tests[result.test].add(trace, result.outcome)
            for waiver in result.waivers:
                self.waivers_used[waiver] += 1

    def merge(self, other: Tally) -> None:
        """Take in what another part of the traces gave."""
        self.settle()
        other.settle()
        for mine, theirs in zip(self.tests, other.tests, strict=True):
            mine.merge(theirs)
        for name, scenario in other.scenarios.items():
            self.scenarios[name].merge(scenario)
        self.waivers_used = [a + b for a, b in zip(self.waivers_used, other.waivers_used, strict=True)]
        self.tools_seen = set(sorted(self.tools_seen | other.tools_seen)[:_TOOLS])
        self.read += other.read
        self.unmatched += other.unmatched
        self.bad_lines += other.bad_lines
        self.losses.merge(other.losses)
        self.judging.merge(other.judging)
        self.unmatched_agent_errors += other.unmatched_agent_errors
        self.parts = sorted(self.parts + other.parts)
        if self.figures is not None and other.figures is not None:
            self.figures.merge(other.figures)
        self.written += other.written
        if self.changes is not None and other.changes is not None:
            self.changes.merge(other.changes)
        self.left_out.merge(other.left_out)
        if self.groups is not None and other.groups is not None:
            self.groups.merge(other.groups)
        count(self.unknown_scenarios, other.unknown_scenarios.items())
        count(self.ambiguous_queries, other.ambiguous_queries.items())

    def settle(self) -> None:
        """Add up what is counted by identity, which means nothing in another process."""
        for same in self.passes.values():
            for result in same.results:
                self.tests[result.test].add_passes(result.outcome, same.times)
        self.passes.clear()

    def part_lines(self) -> PartLines:
        """How many lines each part has."""
        return {(part.file, part.start): part.lines for part in self.parts}

    def spots(self) -> Iterator[Spot]:
        """The places whose lines a report will name."""
        for loss in self.losses.counts:
            yield loss.spot
        for test in self.tests:
            test._cut()
            for found in test.found:
                yield found.spot
            if test.broken:
                yield test.broken.spot
        for scenario in self.scenarios.values():
            scenario.cut()
            for run in scenario.kept:
                yield run.spot
            if scenario.shown:
                yield scenario.shown.spot
                yield from scenario.shown.calls.values()


def merge(tallies: Iterable[Tally]) -> Tally:
    """One tally of several, in any order."""
    first, *rest = tallies
    for other in rest:
        first.merge(other)
    return first
