"""Gate lines that compare a run with a baseline: metrics, scenarios that got worse, and scenarios that are gone.

A drop that is significantly larger than `max_drop` blocks; any other warns and says why it does not. The scenarios that
passed and now fail are named one by one, and so are those that vanished or that nothing exercises any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from passmuster._problems import plural
from passmuster.scoring._baseline import Baseline, RecordedScenario, recorded_scenarios
from passmuster.scoring._baseline_pairs import Pairs, pairs_of
from passmuster.scoring._drops import holm
from passmuster.scoring._gate import status_reason
from passmuster.scoring._metric import NOT_MEASURED, Measured, SuiteMetric
from passmuster.scoring._metric_words import first_names, written
from passmuster.scoring._metrics import metric_named
from passmuster.scoring._pool import Pool
from passmuster.scoring._report import GateLine, ScenarioReport, TestReport
from passmuster.scoring._scenario_runs import ScenarioRuns
from passmuster.scoring._tolerance import OPTIONAL
from passmuster.suite import BaselineSpec, Suite

Level = Literal["blocking", "warning"]
_EPSILON = 1e-9
_NAMED = 10
"""Scenarios named in one line."""


class _Compared(Struct, frozen=True):
    """One metric before and after, and the scenarios it was paired over, if any."""

    metric: SuiteMetric
    before: float
    after: float
    pairs: Pairs | None

    @property
    def name(self) -> str:
        return self.metric.name

    @property
    def falls(self) -> bool:
        """Whether falling is the bad direction."""
        return self.metric.better == "up"

    @property
    def drop(self) -> float:
        """How much worse it is: in points, or relative to what it was; below 0 where it is better."""
        worse = self.before - self.after if self.falls else self.after - self.before
        if self.metric.rate or not worse:
            return worse
        return worse / self.before if self.before else float("inf") if worse > 0 else float("-inf")


def baseline_lines(
    suite: Suite,
    baseline: Baseline,
    chosen: Sequence[ScenarioRuns],
    scenarios: Sequence[ScenarioReport],
    tests: Sequence[TestReport],
    measured: Mapping[str, Measured],
) -> Iterator[GateLine]:
    """Lines about metrics, then scenarios in the order of the suite, then tests."""
    now = recorded_scenarios(suite, chosen, scenarios)
    spec = suite.baseline or BaselineSpec(metrics=("pass_rate",) if suite.scenarios else ())
    then = {name: recorded.value for name, recorded in baseline.metrics.items()}
    yield from _metric_lines(suite, spec, _Earlier(baseline.scenarios, then), chosen, now, measured)
    yield from _scenario_lines(suite, baseline, scenarios, now)
    yield from _vanished_lines(suite, baseline, now)
    for test in tests:
        was = baseline.tests.get(test.id)
        if was is not None and was.exercised and not test.exercised:
            message = "no trace exercises this test any more; in the baseline some did"
            yield _line(suite, test.id, "warning", "fail", message, at=test.line)
    new = [id_ for id_ in now if id_ not in baseline.scenarios]
    if new:
        message = f"{plural(len(new), 'scenario')} that the baseline does not have: {first_names(new, _NAMED)}"
        yield _line(suite, "new_scenarios", "warning", "pass", message, actual=len(new))


def pool_lines(
    suite: Suite,
    pool: Pool,
    chosen: Sequence[ScenarioRuns],
    scenarios: Sequence[ScenarioReport],
    measured: Mapping[str, Measured],
) -> Iterator[GateLine]:
    """Lines about metrics next to the last runs that were not blocked; one undecided line where they are too few."""
    spec = suite.baseline
    assert spec is not None
    if pool.runs < pool.wanted:
        message = (
            f"the history has {plural(pool.runs, 'run')} that passed, and {pool.wanted} are needed to compare with"
        )
        place = (suite.file, spec.line)
        yield GateLine(
            "baseline", "pool", "warning", "undecided", message, pool.runs, pool.wanted, file=place[0], line=place[1]
        )
        return
    now = recorded_scenarios(suite, chosen, scenarios)
    yield from _metric_lines(suite, spec, _Earlier(pool.scenarios, pool.metrics, pool.runs), chosen, now, measured)


def _line(
    suite: Suite,
    id_: str,
    level: Level,
    status: Literal["pass", "fail"],
    message: str,
    *,
    at: int | None = None,
    actual: Any = None,
    expected: Any = None,
    tolerated_by: str | None = None,
    values: dict[str, Any] | None = None,
) -> GateLine:
    place = at or (suite.baseline.line if suite.baseline else None)
    return GateLine("baseline", id_, level, status, message, actual, expected, tolerated_by, suite.file, place, values)


# ── Metrics ─────────────────────────────────────────────────────────────────────────────────────────────────


class _Earlier(Struct, frozen=True):
    """What a run is compared with: recorded scenarios and metrics, of one run or of several."""

    scenarios: Mapping[str, RecordedScenario]
    metrics: Mapping[str, float]
    runs: int = 0
    """How many runs of the history they are; 0 for a baseline."""

    @property
    def name(self) -> str:
        return f"the last {self.runs} runs" if self.runs else "the baseline"

    def line_id(self, metric: str) -> str:
        return f"pool.{metric}" if self.runs else metric


def _metric_lines(
    suite: Suite,
    spec: BaselineSpec,
    earlier: _Earlier,
    chosen: Sequence[ScenarioRuns],
    now: Mapping[str, RecordedScenario],
    measured: Mapping[str, Measured],
) -> Iterator[GateLine]:
    weights = {one.scenario.id: one.weight for one in chosen}
    found: dict[str, _Compared | GateLine] = {}
    for name in spec.metrics:
        recorded, present = earlier.metrics.get(name), measured.get(name, NOT_MEASURED)
        id_ = earlier.line_id(name)
        if recorded is None:
            remedy = "" if earlier.runs else "; save it again"
            message = f"{earlier.name} has no value of {name} to compare with{remedy}"
            found[name] = _line(suite, id_, "warning", "fail", message, actual=present.value)
        elif present.value is None:
            message = f"{name} was {written(name, recorded)} in {earlier.name} and has no value now: {present.why}"
            found[name] = _line(suite, id_, "blocking", "fail", message, expected=written(name, recorded))
        else:
            metric = metric_named(name)
            pairs = pairs_of(metric, earlier.scenarios, now, weights, spec.max_drop, spec.method)
            values = (pairs.before, pairs.after) if pairs else (recorded, present.value)
            found[name] = _Compared(metric, *values, pairs)
    tested = [one for one in found.values() if isinstance(one, _Compared) and one.pairs]
    names = [one.name for one in tested]
    adjusted = dict(zip(names, holm([one.pairs.p_value for one in tested if one.pairs]), strict=True))
    then = earlier.scenarios
    broken = [id_ for id_, one in now.items() if id_ in then and _is_broken(one, then[id_])]
    for name, one in found.items():
        yield one if isinstance(one, GateLine) else _metric_line(suite, spec, earlier, one, adjusted.get(name), broken)


def _is_broken(now: RecordedScenario, then: RecordedScenario) -> bool:
    return "error" in (now.status, then.status)


def _metric_line(
    suite: Suite,
    spec: BaselineSpec,
    earlier: _Earlier,
    one: _Compared,
    p_value: float | None,
    broken: Sequence[str],
) -> GateLine:
    dropped = one.drop > _EPSILON
    beyond = one.drop > spec.max_drop + _EPSILON
    # Looking again and again finds something by chance: over as many looks as runs are compared with, it is shared out.
    level = round((1 - spec.confidence) / (earlier.runs or 1), 12)
    blocks = beyond and p_value is not None and p_value < level
    why = _why(spec, one.metric, beyond, p_value, level) if dropped else ""
    left_out = (
        f"; left out because of infrastructure or judge errors: {first_names(broken, _NAMED)}"
        if broken and one.metric.pairing
        else ""
    )
    return _line(
        suite,
        earlier.line_id(one.name),
        "blocking" if blocks or not dropped else "warning",
        "fail" if dropped else "pass",
        f"{_change(one, earlier)}{why}{left_out}",
        actual=one.after,
        expected=_expected(one, spec.max_drop),
        values={
            "before": one.before,
            "after": one.after,
            "drop": one.drop if abs(one.drop) < float("inf") else None,
            "p_value": one.pairs.p_value if one.pairs else None,
            "adjusted_p_value": p_value,
            "pairs": one.pairs.count if one.pairs else 0,
            "max_drop": spec.max_drop,
            "level": level,
        },
    )


def _expected(one: _Compared, max_drop: float) -> str:
    """The worst value that is no larger a drop than allowed."""
    if one.falls:
        worst = one.before - max_drop if one.metric.rate else one.before * (1 - max_drop)
        return f">= {written(one.name, max(0.0, worst))}"
    worst = one.before + max_drop if one.metric.rate else one.before * (1 + max_drop)
    return f"<= {written(one.name, worst)}"


def _change(one: _Compared, earlier: _Earlier) -> str:
    text = f"{one.name} {written(one.name, one.before)} → {written(one.name, one.after)}"
    over = f" over {plural(one.pairs.count, 'scenario')}" if one.pairs else ""
    if one.drop <= _EPSILON:
        return f"{text}{over}, no worse than {earlier.name}"
    way = "lower" if one.falls else "higher"
    if one.metric.rate:
        return f"{text}{over}, {round(one.drop * 100, 2):g} points {way}"
    return f"{text}{over}, {f'{one.drop * 100:.3g}% {way}' if one.before else 'up from 0'}"


def _why(spec: BaselineSpec, metric: SuiteMetric, beyond: bool, p_value: float | None, level: float) -> str:
    """Why a drop blocks, or does not."""
    allowed = f"max_drop {spec.max_drop * 100:g}%"
    if p_value is None:
        no_test = "no scenario has it in both runs" if metric.pairing else "no test is defined for it"
        return f": {'beyond' if beyond else 'within'} {allowed}; {no_test}, so this only warns"
    if not beyond:
        return f": within {allowed}"
    p = f"p = {p_value:.2g}"
    if p_value < level:
        return f": significantly more than {allowed} ({p}, required < {level:g})"
    return f": beyond {allowed}, but not significantly ({p}, required < {level:g})"


# ── Scenarios ───────────────────────────────────────────────────────────────────────────────────────────────


def _scenario_lines(
    suite: Suite, baseline: Baseline, reports: Sequence[ScenarioReport], now: Mapping[str, RecordedScenario]
) -> Iterator[GateLine]:
    """Scenarios that passed and now fail, and those that were decided and no longer are."""
    blocks = suite.baseline is not None and suite.baseline.on_regression == "block"
    optional = {listed.id for listed in suite.optional}
    for report in reports:
        was = baseline.scenarios.get(report.id)
        if was is None:
            continue
        if was.status in ("pass", "warn") and report.status in ("fail", "missing"):
            now_it = "is missing" if report.status == "missing" else "fails"
            message = f"passed in the baseline and now {now_it}: {status_reason(report)}"
            level: Level = "blocking" if blocks and report.id not in optional else "warning"
        elif was.exercised and report.status == "skip":
            message = f"is no longer exercised: every run was skipped, and in the baseline it was '{was.status}'"
            level = "warning"
        else:
            continue
        yield _line(
            suite,
            report.id,
            level,
            "fail",
            message,
            at=report.line,
            actual=report.status,
            expected=was.status,
            tolerated_by=OPTIONAL if report.id in optional else None,
        )


def _vanished_lines(suite: Suite, baseline: Baseline, now: Mapping[str, RecordedScenario]) -> Iterator[GateLine]:
    for id_, was in baseline.scenarios.items():
        if id_ in now:
            continue
        needed = "was required in the baseline and" if was.required else "is in the baseline and"
        message = f"{needed} is no longer in the suite; it was '{was.status}'"
        yield _line(suite, id_, "blocking" if was.required else "warning", "fail", message, expected=was.status)
