"""Counts of a scenario's runs, and of what the traces used up; both merge in any order."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Literal

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from passmuster.checks import CheckReport, Quadrant, RunReport, ScenarioOutcome, Status, Violation, Way, worst
from passmuster.scoring._bounds import bounded, bounded_violation
from passmuster.scoring._durations import Durations
from passmuster.scoring._stats import Sum, count, merge_fields
from passmuster.traces import Spot, Totals, Trace, spot_of_call, spot_of_trace

FORBIDDEN: frozenset[Way] = frozenset({"forbidden_tools", "must_not"})
"""The ways to fail that no `repeat_policy` forgives."""
RUNS = 1_000
"""Runs kept per scenario."""


class Run(Struct, frozen=True):
    """One trace of a scenario."""

    spot: Spot
    trace_id: str | None
    status: Status
    score: float | None = None
    message: str | None = None
    fingerprint: int = 0
    """Of the calls and the answer: runs with the same one differ only in their judge verdicts."""
    has_verdict: bool = False
    """A judge had a verdict on it."""
    infra: bool = False
    """The run itself broke, from the outside."""
    duration_ms: float | None = None
    cost_usd: float | None = None
    tokens: float | None = None


class ShownRun(Struct, frozen=True):
    """The run of a scenario that a report shows."""

    status: Status
    spot: Spot
    report: RunReport
    forbidden: bool = False
    """Something was done that must not be: no other failure is as grave."""
    undecided: bool = False
    """Some check could not be decided: of runs that passed, such a one is shown."""
    calls: dict[int, Spot] = {}
    """Where the calls stand that its violations name, by their index from 1."""
    trace_id: str | None = None


class Figure(Struct):
    """A figure over several traces: how many tell it, and its exact sum."""

    known: int = 0
    total: Sum = field(default_factory=Sum)

    def add(self, value: float | None) -> None:
        if value is not None:
            self.known += 1
            self.total.add(value)

    def merge(self, other: Figure) -> None:
        merge_fields(self, other)

    def mean(self) -> float | None:
        """None where no trace has the figure."""
        return self.total.mean(self.known) if self.known else None


class Figures(Struct):
    """What all traces used up."""

    traces: int = 0
    durations: Durations = field(default_factory=Durations)
    tokens: Figure = field(default_factory=Figure)
    cost: Figure = field(default_factory=Figure)
    tools: dict[str, int] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)

    def add(self, trace: Trace, used: Totals) -> None:
        self.traces += 1
        if used.duration_ms is not None:
            self.durations.add(used.duration_ms)
        self.tokens.add(used.tokens)
        self.cost.add(used.cost_usd)
        for call in trace.tool_calls:
            if call.tool in self.tools:
                self.tools[call.tool] += 1
            else:
                count(self.tools, [(bounded(call.tool), 1)])
        if trace.agent_version is not None:
            count(self.versions, [(bounded(trace.agent_version), 1)])

    def merge(self, other: Figures) -> None:
        merge_fields(self, other)

    def ordered_durations(self) -> Sequence[float]:
        """Every known duration in milliseconds, from the shortest."""
        return self.durations.ordered()


class ScenarioTally(Struct):
    """One scenario over its runs."""

    runs: int = 0
    statuses: dict[Status, int] = field(default_factory=dict)
    correct: dict[Status, int] = field(default_factory=dict)
    """Correctness by run; `error` where infrastructure or a judge failed."""
    ways: set[Way] = field(default_factory=set)
    """In which ways runs failed."""
    open_ways: set[Way] = field(default_factory=set)
    """In which further ways runs may have failed, where a judge had no verdict."""
    scored: int = 0
    """Runs on which behaviors were decided."""
    score: Sum = field(default_factory=Sum)
    score_if: Sum = field(default_factory=Sum)
    """The same if every run with an infrastructure or judge error had passed."""
    labels: dict[Quadrant, int] = field(default_factory=dict)
    infra: int = 0
    """Runs that broke from the outside."""
    duration: Figure = field(default_factory=Figure)
    cost: Figure = field(default_factory=Figure)
    tokens: Figure = field(default_factory=Figure)
    quality: Sum = field(default_factory=Sum)
    """Over the runs with known tokens."""
    warned: int = 0
    """Runs on which some check warned, those that failed besides among them: the failure may be tolerated."""
    skipped: int = 0
    """Runs on which some check could not be decided."""
    undecided: dict[str, int] = field(default_factory=dict)
    """The checks that could not be decided, and on how many runs."""
    unsettled: dict[Status, int] = field(default_factory=dict)
    """Runs by status that would have failed, had such a check been violated."""
    open_barred: int = 0
    """Runs on which a `must_not` or `forbidden_tools` could not be decided."""
    spared: int = 0
    """Runs on which a judge was not asked because an earlier check had failed."""
    idle: dict[str, int] = field(default_factory=dict)
    """Behaviors that held only because nothing put them to the test, and on how many runs."""
    unheard: dict[str, int] = field(default_factory=dict)
    """Why judges had no verdict, and how often."""
    kept: list[Run] = field(default_factory=list)
    not_run: int = 0
    """Runs that did not take place, because the verdict was known without them."""
    shown: ShownRun | None = None
    """The worst run, the first of several; one that failed before one that could not be decided."""

    def add(
        self,
        trace: Trace,
        used: Totals,
        seen: ScenarioOutcome | None,
        explain: Callable[[], RunReport] | None,
    ) -> None:
        fault = trace.error
        infra = fault is not None and fault.kind == "infra"
        status: Status = seen.status if seen else "pass"
        if fault is not None:
            status = "error" if infra else "fail"
        self.runs += 1
        self.infra += infra
        self.statuses[status] = self.statuses.get(status, 0) + 1
        score = self._add_seen(seen, infra) if seen else None
        if seen is not None and seen.undecided:
            self._add_undecided(seen, status)
        if status in ("fail", "error"):
            self._add_ways(seen, status, infra)
            if fault is not None:
                self.ways.add("infra" if infra else "agent")
        if fault is None and seen is not None and status != "pass":
            self.warned += seen.warned
        self.tokens.add(used.tokens)
        if used.tokens is not None:
            self.quality.add(score if score is not None else float(status in ("pass", "warn")))
        self.duration.add(used.duration_ms)
        self.cost.add(used.cost_usd)
        spot = spot_of_trace(trace)
        if explain is not None and seen is not None:
            forbidden = bool(seen.ways) and not FORBIDDEN.isdisjoint(seen.ways)
            undecided = bool(seen.undecided)
            if _is_worse(status, forbidden, undecided, spot, self.shown):
                shown = _shown(status, forbidden, spot, explain(), trace)
                self.shown = replace(shown, undecided=undecided, trace_id=bounded(trace.trace_id))
        message = None if fault is None else bounded(fault.message)
        has_verdict = seen is not None and seen.has_verdict
        name = bounded(trace.trace_id)
        spent = map(_as_double, (used.duration_ms, used.cost_usd, used.tokens))
        self.kept.append(Run(spot, name, status, score, message, _fingerprint(trace), has_verdict, infra, *spent))
        if len(self.kept) >= 2 * RUNS:
            self.cut()

    def _add_ways(self, seen: ScenarioOutcome | None, status: Status, infra: bool) -> None:
        if seen is None:
            return
        if status == "error" and not infra:
            self.open_ways.update(seen.ways)
            return
        # What broke from the outside explains whatever is missing, but not that something forbidden was done.
        self.ways.update(way for way in seen.ways if not infra or way in FORBIDDEN)
        if status == "fail":
            self.open_ways.update(seen.open_ways)

    def _add_undecided(self, seen: ScenarioOutcome, status: Status) -> None:
        self.skipped += 1
        self.open_barred += seen.open_barred
        count(self.undecided, [(name, 1) for name in seen.undecided])
        if seen.unsettled:
            self.unsettled[status] = self.unsettled.get(status, 0) + 1

    def _add_seen(self, seen: ScenarioOutcome, infra: bool) -> float | None:
        """Count what the checks said; the score of a run on which behaviors were decided."""
        if seen.correct is not None:
            correct: Status = "error" if infra else _judged_error(seen)
            self.correct[correct] = self.correct.get(correct, 0) + 1
        if seen.label is not None:
            self.labels[seen.label] = self.labels.get(seen.label, 0) + 1
        if seen.judged:
            self.spared += seen.not_needed
            unheard = (outcome.message for outcome in seen.judged if outcome.cause == "no_verdict")
            count(self.unheard, [(bounded(message), 1) for message in unheard])
        behaviors = seen.behaviors
        if behaviors is None:
            return None
        if behaviors.failures:
            count(self.unheard, [(bounded(reason), 1) for reason in behaviors.failures])
        if behaviors.idle:
            count(self.idle, [(name, 1) for name in behaviors.idle])
        if behaviors.score is None or behaviors.score_if is None:
            return None
        self.scored += 1
        self.score.add(0.0 if infra else behaviors.score)
        self.score_if.add(1.0 if infra else behaviors.score_if)
        return behaviors.score

    def run_figures(self, name: Literal["duration_ms", "cost_usd", "tokens"]) -> list[float]:
        """A figure of each run that has it, in the order of the traces; of more than 1,000 runs, the first."""
        self.cut()
        return [value for run in self.kept if (value := getattr(run, name)) is not None]

    def cut(self) -> None:
        """Keep the first runs by where they stand."""
        self.kept.sort(key=lambda run: run.spot)
        del self.kept[RUNS:]

    def merge(self, other: ScenarioTally) -> None:
        merge_fields(self, other)
        shown = other.shown
        if shown is not None and _is_worse(shown.status, shown.forbidden, shown.undecided, shown.spot, self.shown):
            self.shown = shown
        self.cut()


def _as_double(number: float | None) -> float | None:
    """The number as a double; None where none can hold it, for traces may state any."""
    try:
        return None if number is None else float(number)
    except OverflowError:
        return None


def _judged_error(seen: ScenarioOutcome) -> Status:
    """Correctness of a run; a deterministic check that broke is a failure, only a judge's silence is an error."""
    assert seen.correct is not None
    broken = seen.correct == "error" and not any(outcome.status == "error" for outcome in seen.judged)
    return "fail" if broken else seen.correct


def map_checks(report: RunReport, change: Callable[[CheckReport], CheckReport]) -> RunReport:
    """The report with every check of its layers and behaviors changed."""
    behaviors = report.behaviors
    return replace(
        report,
        layers={
            name: replace(layer, checks=[change(check) for check in layer.checks])
            for name, layer in report.layers.items()
        },
        behaviors=replace(behaviors, checks=[change(check) for check in behaviors.checks]),
    )


def _shown(status: Status, forbidden: bool, spot: Spot, report: RunReport, trace: Trace) -> ShownRun:
    calls: dict[int, Spot] = {}

    def kept(violation: Violation) -> Violation:
        if violation.call_index and trace.tool_calls:
            # A missing call may stand behind the last one.
            calls[violation.call_index] = spot_of_call(trace, min(violation.call_index, len(trace.tool_calls)) - 1)
        return bounded_violation(violation)

    def bound(check: CheckReport) -> CheckReport:
        return replace(check, message=bounded(check.message), violations=tuple(map(kept, check.violations)))

    return ShownRun(status, spot, map_checks(report, bound), forbidden, calls=calls)


def _is_worse(status: Status, forbidden: bool, undecided: bool, spot: Spot, shown: ShownRun | None) -> bool:
    if shown is None:
        return True
    if forbidden != shown.forbidden:
        return forbidden
    if undecided != shown.undecided and {status, shown.status} <= {"pass", "skip"}:
        return undecided
    if status == shown.status:
        return spot < shown.spot
    if "fail" in (status, shown.status):
        return status == "fail"
    return worst(status, shown.status) == status


def _fingerprint(trace: Trace) -> int:
    told: object = [trace.answer, [[call.tool, call.arguments] for call in trace.tool_calls], trace.behaviors]
    try:
        return zlib.crc32(msgspec.json.encode(told))
    except (OverflowError, ValueError, TypeError, RecursionError):  # a number or a depth that this encoder refuses
        return zlib.crc32(repr(told).encode("utf-8", "backslashreplace"))
