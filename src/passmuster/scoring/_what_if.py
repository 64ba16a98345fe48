"""What the verdict would be with other thresholds: where each line of the gate changes, and what the rest comes to.

The gate itself is evaluated between all values at which it could change, so that a page only looks answers up. Lines
of scenarios depend on thresholds in one way: a blocking bound below 100 % tolerates failures. They are evaluated as if
every movable bound were below: at 100 %, where it does not tolerate a failure, its own line fails of that failure.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from passmuster.scoring._evidence import Effect, MovableBound, Segment, WhatIf
from passmuster.scoring._gate import scenario_lines, strict_line
from passmuster.scoring._metric import NOT_MEASURED, Measured, rate_of_runs
from passmuster.scoring._metric_words import written
from passmuster.scoring._metrics import headline_metric, measure, metric_named
from passmuster.scoring._report import GateLine, Report
from passmuster.scoring._scenario_runs import ScenarioRuns, scenario_runs
from passmuster.scoring._settings import Settings
from passmuster.scoring._suite_gate import (
    BLOCKING,
    Kind,
    Level,
    Staged,
    blocking_bounds,
    bound_line,
    named_metrics,
    stages_of,
)
from passmuster.scoring._tally import Tally
from passmuster.scoring._tolerance import Tolerance, tolerances
from passmuster.suite import Bound, Suite

_SLACK = 1e-9
"""What the gate takes for equal."""
_STEP = 0.001
"""Of a rate."""
_GRAVITY: tuple[Effect, ...] = ("pass", "warn", "error", "fail")


class _Movable(Struct, frozen=True):
    """A bound of the suite, and what its line is made of."""

    path: tuple[str, ...]
    bound: Bound
    metric: str
    found: Measured
    level: Level
    kind: Kind
    id: str | None


def what_if(suite: Suite, tally: Tally, settings: Settings, report: Report) -> WhatIf | None:
    """The movable bounds of a report's suite; None of a partial run, or of a suite without bounds."""
    if settings.partial or not suite.states_bounds:
        return None
    chosen = scenario_runs(suite, [scenario for scenario in suite.scenarios if scenario.selected], tally)
    measured = measure(suite, chosen, tally, tally.figures)
    movable, fixed = [], []
    staged = stages_of(suite, settings, tally)
    for one in _bounds(suite, chosen, measured, staged):
        if why := _why_fixed(suite, one):
            fixed.append(f"{'.'.join(one.path)} ({why})")
        else:
            movable.append(one)
    failing = [
        (runs, result)
        for runs, result in zip(chosen, report.scenarios, strict=True)
        if result.status in ("missing", "fail", "error")
    ]
    strict = strict_line if settings.strict else _as_it_is

    def about(known: Sequence[Tolerance]) -> list[GateLine]:
        return [strict(line) for runs, result in failing for line in scenario_lines(suite, runs, result, known)]

    own = [*about(_tolerances(suite, staged, {})), *(strict(_line(suite, one, one.bound.value)) for one in movable)]
    rest = _without(report.gate, Counter(map(_key, own)))
    below = {id(one.bound): replace(one.bound, value=0.5) for one in movable if one.bound.full}
    rest += about(_tolerances(suite, staged, below))
    found = WhatIf(
        now=report.verdict,
        lines=[_written(suite, one, strict) for one in movable],
        rest=_effect(rest),
        fixed=fixed,
    )
    # A page must not say something else than the gate; where this model of it differs, there is none.
    return found if verdict_with(found, [one.bound.value for one in movable]) == report.verdict else None


def verdict_with(found: WhatIf, bounds: Sequence[float]) -> Effect:
    """The verdict with these bounds, looked up as the page does."""
    effects = [
        next(one.effect for one in line.segments if one.upto is None or bound <= one.upto)
        for line, bound in zip(found.lines, bounds, strict=True)
    ]
    return max((*effects, found.rest), key=_GRAVITY.index)


def _bounds(
    suite: Suite, chosen: Sequence[ScenarioRuns], measured: Mapping[str, Measured], staged: Sequence[Staged]
) -> Iterator[_Movable]:
    """Every bound of the suite that holds for this version of the agent."""

    def movable(bound: Bound, level: Level, *path: str) -> _Movable:
        return _Movable(path, bound, bound.metric, measured.get(bound.metric, NOT_MEASURED), level, "threshold", None)

    for section, bound in suite.thresholds.plain_bounds():
        level: Level = "blocking" if section in BLOCKING else "warning"
        yield movable(bound, level, "thresholds", *section.split("."), bound.metric)
    for progressive, stage in staged:
        if stage is not None:
            version = next(each.version for each in progressive.stages if each.bound is stage)
            yield movable(stage, "blocking", "thresholds", "progressive", progressive.metric, version)
    criteria = suite.criteria
    if criteria.overall is not None:
        name = headline_metric(suite).name
        found = measured.get(name, NOT_MEASURED)
        path: tuple[str, ...] = ("pass_criteria", "overall")
        yield _Movable(path, criteria.overall, name, found, "blocking", "criteria", "overall")
    for category, bound in criteria.by_category.items():
        own = rate_of_runs([one for one in chosen if one.scenario.category == category], what=f"{category} ")
        path = ("pass_criteria", "by_category", category)
        yield _Movable(path, bound, bound.metric, own, "blocking", "criteria", f"by_category.{category}")


def _tolerances(suite: Suite, staged: Sequence[Staged], moved: Mapping[int, Bound]) -> list[Tolerance]:
    """What the suite tolerates with some of its bounds moved; `moved` has them by the identity of the old ones."""

    def now(bound: Bound) -> Bound:
        return moved.get(id(bound), bound)

    criteria = replace(
        suite.criteria,
        overall=None if suite.criteria.overall is None else now(suite.criteria.overall),
        by_category={category: now(bound) for category, bound in suite.criteria.by_category.items()},
    )
    blocking = [(name, now(bound)) for name, bound in blocking_bounds(suite, staged)]
    return tolerances(replace(suite, criteria=criteria), blocking)


def _why_fixed(suite: Suite, one: _Movable) -> str | None:
    if one.found.value is None:
        return "its metric has no value"
    if one.bound.operator == "=":
        return "it asks for one value"
    if (
        one.bound.metric == "latency_p95"
        and suite.latency_budget_ms is None
        and "normalized_latency" in named_metrics(suite)
    ):
        return "normalized_latency takes its budget from it"
    return None


# ── Lines ───────────────────────────────────────────────────────────────────────────────────────────────────


def _line(suite: Suite, one: _Movable, value: float) -> GateLine:
    bound = replace(one.bound, value=value)
    name = one.metric
    return bound_line(suite, bound, {name: one.found}, one.level, kind=one.kind, id_=one.id, metric=name)


def _written(suite: Suite, one: _Movable, strict: Callable[[GateLine], GateLine]) -> MovableBound:
    bound, value = one.bound, one.found.value
    assert value is not None
    least, most, step = _range(bound, value)
    segments = list(_segments(suite, one, strict))
    key = "min" if bound.operator == ">=" else "max"
    sure = "" if bound.confidence is None else f", confidence: {bound.confidence * 100:g}%"
    sure += ", undecided: block" if bound.undecided_blocks else ""
    return MovableBound(
        path=one.path,
        operator=bound.operator,
        value=bound.value,
        actual=written(one.metric, value),
        least=least,
        most=most,
        step=step,
        scale=100 if bound.rate else 1,
        unit="%" if bound.rate else "",
        shown_unit="" if bound.rate else metric_named(one.metric).unit,
        template=f"{{{key}: VALUE{sure}}}" if sure else f'"{bound.operator} VALUE"',
        segments=segments,
    )


def _range(bound: Bound, value: float) -> tuple[float, float, float]:
    """The values that a suite may state, and a step between them."""
    if bound.rate:
        rises = bound.operator in (">=", ">")
        most = 1.0 if bound.operator == ">=" and bound.confidence is None else 1 - _STEP
        return (_STEP if rises or bound.confidence is not None else 0.0), most, _STEP
    most = 2 * max(value, bound.value) or 1.0
    step = float(f"1e{math.floor(math.log10(most)) - 2}")
    return step, math.ceil(most / step) * step, step


def _segments(suite: Suite, one: _Movable, strict: Callable[[GateLine], GateLine]) -> Iterator[Segment]:
    """The line between all values of the bound at which it could change; equal neighbours are one."""
    found, bound = one.found, one.bound
    at = [found.value, found.at_best]
    if bound.confidence is not None and found.interval is not None:
        at += found.interval(bound.confidence) or ()
    cuts = sorted({each + side for each in at if each is not None for side in (-_SLACK, _SLACK)})
    before: Segment | None = None
    for start, end in zip([None, *cuts], [*cuts, None], strict=True):
        inside = _between(start, end)
        line = strict(_line(suite, one, inside))
        segment = Segment(end, line.status, _effect([line]))
        if before is not None and replace(before, upto=end) != segment:
            yield before
        before = segment
    assert before is not None
    yield before


def _between(start: float | None, end: float | None) -> float:
    if start is None or end is None:
        return (end or 0.0) - 1e-6 if start is None else start + 1e-6
    return (start + end) / 2


def _effect(lines: Sequence[GateLine]) -> Effect:
    """What lines alone make of a verdict."""
    found: Effect = "pass"
    for line in lines:
        if line.status == "pass":
            continue
        outside = line.status == "error" and line.kind != "test"
        effect: Effect = "warn" if line.level == "warning" else "error" if outside else "fail"
        found = max(found, effect, key=_GRAVITY.index)
    return found


def _key(line: GateLine) -> tuple[str, str, str, str, int | None]:
    return (line.kind, line.id, line.level, line.status, line.line)


def _without(gate: Sequence[GateLine], own: Counter[tuple[str, str, str, str, int | None]]) -> list[GateLine]:
    """The lines of a gate but these."""
    left = own.copy()
    rest = []
    for line in gate:
        if left[_key(line)]:
            left[_key(line)] -= 1
        else:
            rest.append(line)
    return rest


def _as_it_is(line: GateLine) -> GateLine:
    return line
