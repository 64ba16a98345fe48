"""Gate lines that compare a run with a baseline: metrics, scenarios that got worse, and scenarios that are gone.

A drop that is significant and beyond `max_drop` blocks; any other warns and says why it does not. The scenarios that
passed and now fail are named one by one, and so are those that vanished or that nothing exercises any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from passmuster._problems import plural
from passmuster.scoring._baseline import Baseline, RecordedScenario, recorded_scenarios
from passmuster.scoring._gate import status_reason
from passmuster.scoring._metric import NOT_MEASURED, Measured, SuiteMetric
from passmuster.scoring._metric_words import first_names, written
from passmuster.scoring._metrics import metric_named
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
    yield from _metric_lines(suite, baseline, chosen, now, measured)
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


def _metric_lines(
    suite: Suite,
    baseline: Baseline,
    chosen: Sequence[ScenarioRuns],
    now: Mapping[str, RecordedScenario],
    measured: Mapping[str, Measured],
) -> Iterator[GateLine]:
    spec = suite.baseline or BaselineSpec(metrics=("pass_rate",) if suite.scenarios else ())
    weights = {one.scenario.id: one.weight for one in chosen}
    found: dict[str, _Compared | GateLine] = {}
    for name in spec.metrics:
        recorded, present = baseline.metrics.get(name), measured.get(name, NOT_MEASURED)
        if recorded is None:
            message = f"the baseline has no value of {name} to compare with; save it again"
            found[name] = _line(suite, name, "warning", "fail", message, actual=present.value)
        elif present.value is None:
            message = f"{name} was {written(name, recorded.value)} in the baseline and has no value now: {present.why}"
            found[name] = _line(suite, name, "blocking", "fail", message, expected=written(name, recorded.value))
        else:
            metric = metric_named(name)
            pairs = pairs_of(metric, baseline.scenarios, now, weights)
            values = (pairs.before, pairs.after) if pairs else (recorded.value, present.value)
            found[name] = _Compared(metric, *values, pairs)
    tested = [one for one in found.values() if isinstance(one, _Compared) and one.pairs]
    names = [one.name for one in tested]
    adjusted = dict(zip(names, _holm([one.pairs.p_value for one in tested if one.pairs]), strict=True))
    broken = [id_ for id_, one in now.items() if id_ in baseline.scenarios and _is_broken(one, baseline.scenarios[id_])]
    for name, one in found.items():
        yield one if isinstance(one, GateLine) else _metric_line(suite, spec, one, adjusted.get(name), broken)


def _is_broken(now: RecordedScenario, then: RecordedScenario) -> bool:
    return "error" in (now.status, then.status)


def _holm(p_values: list[float]) -> list[float]:
    from passmuster.scoring._resampling import holm  # late, for most runs have no baseline

    return holm(p_values)


def _metric_line(
    suite: Suite, spec: BaselineSpec, one: _Compared, p_value: float | None, broken: Sequence[str]
) -> GateLine:
    dropped = one.drop > _EPSILON
    beyond = one.drop > spec.max_drop + _EPSILON
    level = round(1 - spec.confidence, 12)
    surely = p_value is not None and p_value < level
    blocks = dropped and beyond and surely
    why = _why(spec, one.metric, beyond, p_value, level) if dropped else ""
    left_out = (
        f"; left out because of infrastructure or judge errors: {first_names(broken, _NAMED)}"
        if broken and one.metric.pairing
        else ""
    )
    return _line(
        suite,
        one.name,
        "blocking" if blocks or not dropped else "warning",
        "fail" if dropped else "pass",
        f"{_change(one)}{why}{left_out}",
        actual=one.after,
        expected=f"{'>=' if one.falls else '<='} {written(one.name, one.before)}",
        values={
            "before": one.before,
            "after": one.after,
            "drop": one.drop if abs(one.drop) < float("inf") else None,
            "p_value": one.pairs.p_value if one.pairs else None,
            "adjusted_p_value": p_value,
            "pairs": one.pairs.count if one.pairs else 0,
        },
    )


def _change(one: _Compared) -> str:
    text = f"{one.name} {written(one.name, one.before)} → {written(one.name, one.after)}"
    over = f" over {plural(one.pairs.count, 'scenario')}" if one.pairs else ""
    if one.drop <= _EPSILON:
        return f"{text}{over}, no worse than the baseline"
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
    p = f"p = {p_value:.2g}"
    if p_value < level:
        return f": significant ({p}), {'and beyond' if beyond else 'but within'} {allowed}"
    noisy = f"not significant ({p}, required < {level:g})"
    return f": {noisy}{'' if beyond else f', and within {allowed}'}"


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


# ── Pairs of scenarios ──────────────────────────────────────────────────────────────────────────────────────


class Pairs(Struct, frozen=True):
    """One metric over the scenarios that both runs tell it of."""

    before: float
    after: float
    count: int
    p_value: float
    """The chance of so large a change for the worse if nothing had changed."""


def pairs_of(
    metric: SuiteMetric,
    before: Mapping[str, RecordedScenario],
    after: Mapping[str, RecordedScenario],
    weights: Mapping[str, float],
) -> Pairs | None:
    """The metric over the scenarios of both; None where it is not made of scenarios, or none of them tells it.

    A scenario with an infrastructure or judge error, then or now, is left out.
    """
    pairing = metric.pairing
    if pairing is None:
        return None
    found = [
        (old, new, weights[id_] if metric.weighted else 1.0)
        for id_ in after
        if id_ in before and pairing.contains(after[id_]) and "error" not in (before[id_].status, after[id_].status)
        if (old := pairing.figure(before[id_])) is not None and (new := pairing.figure(after[id_])) is not None
    ]
    heaviest = max((weight for *_, weight in found), default=0.0)  # weights may be beyond what can be added up
    counted = [(float(old), float(new), weight / heaviest) for old, new, weight in found if weight > 0]
    if not counted:
        return None
    from passmuster.scoring._resampling import drop_p_value

    olds, news, used = ([one[place] for one in counted] for place in (0, 1, 2))
    better, worse = (news, olds) if metric.better == "down" else (olds, news)
    p_value = drop_p_value(
        [value * weight for value, weight in zip(better, used, strict=True)],
        [value * weight for value, weight in zip(worse, used, strict=True)],
    )
    try:
        return Pairs(pairing.combine(olds, used), pairing.combine(news, used), len(counted), p_value)
    except OverflowError:  # sums that no number can say
        return None
