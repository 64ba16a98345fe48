"""What the runs of a suite that are still to come can change about its gate.

The lines of the gate are made for the best and for the worst that these runs can come to, by the code that makes them
for a report. A line that blocks even at best blocks whatever they come to. The gate passes whatever they come to if no
line blocks at worst. That holds for lines of which best and worst are known: tests, scenarios, and bounds on monotone
metrics. Every other line stays open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from passmuster.checks import Status, Way
from passmuster.scoring._early_stop import SettledLine
from passmuster.scoring._gate import scenario_lines
from passmuster.scoring._metric import Sample
from passmuster.scoring._metrics import declared_metrics, metric_named
from passmuster.scoring._report import GateLine
from passmuster.scoring._scenario_report import scenario_report
from passmuster.scoring._scenario_runs import ScenarioRuns, scenario_runs
from passmuster.scoring._scenario_tally import Figures, ScenarioTally
from passmuster.scoring._settings import Settings
from passmuster.scoring._stats import Sum
from passmuster.scoring._suite_gate import blocking_bounds, named_metrics, stages_of, suite_lines
from passmuster.scoring._tally import Tally
from passmuster.scoring._tolerance import tolerances
from passmuster.suite import Scenario, Suite, Test

LineKey = tuple[str, str, str]
"""Kind and id of a gate line, and what it expects: two bounds on a metric have the same kind and id."""
Remaining = Mapping[str, int]
"""How many runs of each scenario are still to come."""

_LAYERS: frozenset[Way] = frozenset({"correctness", "path", "cost", "behaviors", "agent", "infra"})
"""The ways in which any run may fail."""


class Outlook(Struct, frozen=True):
    """What the runs to come leave open."""

    failures: tuple[GateLine, ...] = ()
    """Lines that block whatever they come to."""
    open_bounds: frozenset[LineKey] = frozenset()
    """Blocking lines about the suite as a whole that may end either way."""
    hazards: tuple[str, ...] = ()
    """What else could still block, in words."""

    @property
    def certain(self) -> bool:
        """Whether the exit code is the same whatever they come to."""
        return bool(self.failures) or not (self.open_bounds or self.hazards)


class Curtailment:
    """Tells what runs to come can change about a suite's gate. A scenario is looked at again only after a run of it."""

    def __init__(self, suite: Suite, settings: Settings, tally: Tally) -> None:
        self._suite, self._settings, self._tally = suite, settings, tally
        self._unknowable = _unknowable(suite, settings)
        self._staged = [] if settings.partial or self._unknowable else stages_of(suite, settings, tally)
        known = settings.partial or not suite.states_bounds
        self._known = [] if known else tolerances(suite, blocking_bounds(suite, self._staged))
        self._scenarios = [scenario for scenario in suite.scenarios if scenario.selected]
        self._seen: dict[str, tuple[tuple[int, int], _Sides]] = {}

    def outlook(self, remaining: Remaining, spared: Remaining) -> Outlook:
        """What the remaining runs leave open; of these only the `spared` ones may never take place.

        Runs that will take place in any case are no hazard to a verdict that is given after them.
        """
        if self._unknowable:
            return Outlook(hazards=self._unknowable)
        tally = self._tally
        sides = [self._sides(one, remaining.get(one.scenario.id, 0)) for one in self._with_runs()]
        best = [line for one in sides for line in one.at_best] + self._about_suite([one.best for one in sides])
        doomed = (line for line in best if _fails(line) and _is_bounded(line) and _keeps_failing(line, tally))
        failures = (*_failed_tests(self._suite, tally), *doomed)
        about_suite = self._about_suite([one.worst for one in sides])
        open_bounds = frozenset(line_key(line) for line in about_suite if _may_block(line))
        worst = [line for one in sides for line in one.at_worst]
        hazards = tuple(_hazards(self._suite, tally, self._settings, remaining, spared, worst))
        return Outlook(failures, open_bounds, hazards)

    def _with_runs(self) -> list[ScenarioRuns]:
        return scenario_runs(self._suite, self._scenarios, self._tally)

    def _sides(self, one: ScenarioRuns, remaining: int) -> _Sides:
        state = (one.tally.runs, remaining)
        id_ = one.scenario.id
        if id_ not in self._seen or self._seen[id_][0] != state:
            best, worst = (_completed(one, remaining, status) for status in _BEST_AND_WORST)
            self._seen[id_] = (state, _Sides(best, worst, self._lines(best), self._lines(worst)))
        return self._seen[id_][1]

    def _lines(self, one: ScenarioRuns) -> list[GateLine]:
        """The lines about a scenario that block, without `--strict`."""
        report = scenario_report(self._suite, one, {})
        lines = scenario_lines(self._suite, one, report, self._known)
        return [line for line in lines if line.level == "blocking" and line.status != "pass"]

    def _about_suite(self, chosen: list[ScenarioRuns]) -> list[GateLine]:
        if self._settings.partial or not self._suite.states_bounds:
            return []
        sample = Sample(self._suite, chosen, self._tally, Figures(), declared_metrics())
        names = [name for name in named_metrics(self._suite) if metric_named(name).monotone]
        # Only a bound with a confidence needs an interval, and such a bound stays open.
        measured = {name: replace(sample.metric(name), interval=None, more=None) for name in names}
        lines = suite_lines(self._suite, chosen, measured, self._staged)
        return [line for line in lines if line.kind in _ABOUT_SUITE]


class _Sides(Struct, frozen=True):
    """A scenario if all remaining runs pass, and if they fail in every way they can, with its lines that block."""

    best: ScenarioRuns
    worst: ScenarioRuns
    at_best: list[GateLine]
    at_worst: list[GateLine]


def line_key(line: GateLine | SettledLine) -> LineKey:
    """What tells a line of the gate from others."""
    return line.kind, line.id, str(line.expected)


_ABOUT_SUITE = ("threshold", "criteria", "composite")
_BEST_AND_WORST: tuple[Status, Status] = ("pass", "fail")


def _completed(one: ScenarioRuns, runs: int, status: Status) -> ScenarioRuns:
    """The scenario after its remaining runs, if each of them passed, or failed in every way it can."""
    return replace(one, tally=_with_runs(one.scenario, one.tally, runs, status))


def _with_runs(scenario: Scenario, tally: ScenarioTally, runs: int, status: Status) -> ScenarioTally:
    if not runs:
        return replace(tally, kept=[], shown=None, not_run=0)
    passed = status == "pass"
    scored = runs if scenario.expected_behaviors else 0
    points = scored if passed else 0
    return replace(
        tally,
        kept=[],
        shown=None,
        not_run=0,
        runs=tally.runs + runs,
        statuses=_plus(tally.statuses, status, runs),
        correct=_plus(tally.correct, status, runs) if scenario.states_correctness else tally.correct,
        ways=tally.ways if passed else {*tally.ways, *_ways(scenario)},
        scored=tally.scored + scored,
        score=_plus_points(tally.score, points),
        score_if=_plus_points(tally.score_if, points),
    )


def _plus(statuses: dict[Status, int], status: Status, runs: int) -> dict[Status, int]:
    return {**statuses, status: statuses.get(status, 0) + runs}


def _plus_points(score: Sum, points: int) -> Sum:
    more = replace(score)
    more.add(points)
    return more


def _ways(scenario: Scenario) -> Iterator[Way]:
    yield from _LAYERS
    if scenario.states_must_not:
        yield "must_not"
    if scenario.forbids_tools:
        yield "forbidden_tools"


def _failed_tests(suite: Suite, tally: Tally) -> Iterator[GateLine]:
    """Tests that some trace broke: no other trace makes up for it."""
    for test, counted in zip(suite.tests, tally.tests, strict=True):
        broken = counted.statuses.get("error", 0) > counted.undecided
        if broken or counted.statuses.get("fail"):
            message = f"{test.metric} broke" if broken else f"{test.metric} was violated"
            yield GateLine("test", test.id, "blocking", "fail", message, expected=0, file=suite.file)


def _fails(line: GateLine) -> bool:
    return line.level == "blocking" and line.status == "fail"


def _keeps_failing(line: GateLine, tally: Tally) -> bool:
    """Whether no further way of failing brings a bound into play that tolerates it: a failure without a way could."""
    return line.kind != "scenario" or bool(tally.scenarios[line.id].ways)


def _is_bounded(line: GateLine) -> bool:
    """Whether the best and the worst for this line are where all runs pass and where all fail."""
    if line.kind in ("scenario", "required"):
        return True
    bound = line.bound
    if bound is None or bound.confidence is not None or bound.operator not in (">=", ">"):
        return False
    return line.kind == "criteria" or metric_named(bound.metric).monotone


def _may_block(line: GateLine) -> bool:
    """Whether a line about the suite, as it is at worst, may block. One with a confidence warns while undecided."""
    if line.level == "warning" and line.status != "undecided":
        return False
    return not (_is_bounded(line) and line.status == "pass" and _above_nothing(line))


def _above_nothing(line: GateLine) -> bool:
    """Whether the metric is above 0, so that a scenario is in it for certain: else it may end without a value."""
    return isinstance(line.actual, float) and line.actual > 0


def _unknowable(suite: Suite, settings: Settings) -> tuple[str, ...]:
    """What only a trace can tell, and any further trace can change, so that nothing is certain before the last."""
    if suite.thresholds.progressive and settings.agent_version is None and suite.agent.version is None:
        return ("thresholds.progressive: the agent's version is known from traces alone",)
    known = {tag for scenario in suite.scenarios for tag in scenario.tags}
    idle = [test.id for test in suite.tests if test.tags and known.isdisjoint(test.tags)]
    return tuple(f"the test {id_}: no scenario has its tags" for id_ in idle)


def _hazards(
    suite: Suite, tally: Tally, settings: Settings, remaining: Remaining, spared: Remaining, worst: Sequence[GateLine]
) -> Iterator[str]:
    """What could block besides the bounds, where all remaining runs fail in every way they can."""
    to_come = {id_ for id_, runs in spared.items() if runs}
    if settings.strict and to_come:
        yield "--strict: a warning blocks"
    if settings.baseline is not None or suite.baseline is not None:
        yield "the baseline"
    for test, counted in zip(suite.tests, tally.tests, strict=True):
        if counted.statuses.get("error") or (to_come and _may_apply(test, to_come)):
            yield f"the test {test.id}"
    required = {listed.id for listed in suite.required}
    for id_ in sorted(to_come & required):
        yield f"the required scenario {id_}"
    for line in worst:
        if line.id in to_come or not remaining.get(line.id):
            yield f"the scenario {line.id}"


def _may_apply(test: Test, scenarios: set[str]) -> bool:
    return test.scenarios is None or not scenarios.isdisjoint(test.scenarios)
