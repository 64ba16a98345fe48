"""Gate lines about the suite as a whole: thresholds, criteria and composite formulas.

Each states the value, the bound and the interval. A metric without a value fails what blocks on it. A rate with
infrastructure or judge errors in it is evaluated with these as passed and as failed: if that differs, the line is an
error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from passmuster._problems import Problem, SuiteError, UsageError, plural
from passmuster.scoring._metric import NOT_MEASURED, Measured, rate_of_runs
from passmuster.scoring._metric_words import between, first_names, written
from passmuster.scoring._metrics import headline_metric
from passmuster.scoring._report import GateLine, LineBound, Stage
from passmuster.scoring._scenario_runs import ScenarioRuns
from passmuster.scoring._settings import Settings, agent_version, versions_in
from passmuster.scoring._tally import Tally
from passmuster.suite import Bound, Progressive, Suite

Level = Literal["blocking", "warning"]
Kind = Literal["threshold", "criteria"]
Staged = tuple[Progressive, Bound | None]
"""A progressive threshold and the stage that the agent's version has reached; None below the first."""

BLOCKING = ("blocking", "risk.critical", "risk.high")
"""The sections of `thresholds` that block."""
_NAMED = 5
"""Scenarios that a line names."""


def stages_of(suite: Suite, settings: Settings, tally: Tally) -> list[Staged]:
    """The stage of each progressive threshold. Raises where the agent's version is not known, or cannot be compared."""
    if not suite.thresholds.progressive:
        return []
    from passmuster.scoring._versions import version_key

    known = agent_version(suite, tally, settings)
    if known is None:
        raise SuiteError(_no_version(suite, versions_in(tally)))
    version, source = known
    reached = version_key(version)
    if reached is None:
        message = f"thresholds.progressive: the agent's version '{version}' ({source}) cannot be compared with others"
        raise UsageError(Problem(f"{message}; expected one such as 2.1.0", suite.file))
    found: list[Staged] = []
    for progressive in suite.thresholds.progressive:
        passed = [stage.bound for stage in progressive.stages if (version_key(stage.version) or ()) <= reached]
        found.append((progressive, passed[-1] if passed else None))
    return found


def _no_version(suite: Suite, versions: Sequence[str]) -> Problem:
    found = (
        f"the traces have several: {', '.join(versions[:5])}"
        if versions
        else "neither the suite nor the traces state it"
    )
    message = f"thresholds.progressive needs the agent's version, and {found}; give --agent-version"
    return Problem(message, suite.file, suite.thresholds.progressive[0].line)


def reported_stages(staged: Sequence[Staged], measured: Mapping[str, Measured]) -> list[Stage]:
    """The progressive thresholds as a report shows them."""
    return [
        Stage(
            one.metric,
            bound.text if bound else None,
            one.target.text if one.target else None,
            measured.get(one.metric, NOT_MEASURED).value,
        )
        for one, bound in staged
    ]


def blocking_bounds(suite: Suite, staged: Sequence[Staged]) -> list[tuple[str, Bound]]:
    """Every bound on a metric that blocks, by its name in the suite."""
    plain = suite.thresholds.plain_bounds()
    return [
        *((f"thresholds.{section}.{bound.metric}", bound) for section, bound in plain if section in BLOCKING),
        *((f"thresholds.progressive.{one.metric}", bound) for one, bound in staged if bound is not None),
    ]


def suite_lines(
    suite: Suite, scenarios: Sequence[ScenarioRuns], measured: Mapping[str, Measured], staged: Sequence[Staged]
) -> Iterator[GateLine]:
    """Every line about the suite as a whole, in the order in which suites are written."""
    for section, bound in suite.thresholds.plain_bounds():
        risk = section.partition(".")[2]
        level: Level = "blocking" if section in BLOCKING else "warning"
        yield bound_line(suite, bound, measured, level, note=f"{risk} risk" if risk else "")
    for progressive, stage in staged:
        yield _progressive_line(suite, progressive, stage, measured)
    yield from _criteria_lines(suite, scenarios, measured)
    if suite.composite:
        yield _composite_line(suite, measured)
    for name in named_metrics(suite):
        partly = measured.get(name, NOT_MEASURED)
        if partly.known is not None and partly.value is not None:
            message = f"{name} is over the {partly.known} of {partly.total} traces that state the value"
            yield GateLine("input", name, "warning", "fail", message, actual=partly.known, expected=partly.total)


def named_metrics(suite: Suite) -> list[str]:
    """The metrics that the suite's lines speak of."""
    thresholds = suite.thresholds
    names = [bound.metric for _, bound in thresholds.plain_bounds()] + [one.metric for one in thresholds.progressive]
    names += suite.weights.metrics
    if suite.criteria.overall is not None:
        names.append(headline_metric(suite).name)
    if suite.composite:
        names += _in_composite(suite)
    if suite.baseline is not None:
        names += suite.baseline.metrics
    return list(dict.fromkeys(names))


def bound_line(
    suite: Suite,
    bound: Bound,
    measured: Mapping[str, Measured],
    level: Level,
    *,
    kind: Kind = "threshold",
    id_: str | None = None,
    metric: str | None = None,
    note: str = "",
) -> GateLine:
    """What a metric makes of a bound."""
    name = metric or bound.metric
    found = measured.get(name, NOT_MEASURED)
    status, message = _evaluated(name, bound, found)
    if status != "pass" and found.lowered_by:
        message += f"; lowered by {first_names(found.lowered_by, _NAMED)}"
    if status == "undecided":
        level = "blocking" if bound.undecided_blocks and level == "blocking" else "warning"
    return GateLine(
        kind=kind,
        id=id_ or name,
        level=level,
        status=status,
        message=f"{message} ({note})" if note else message,
        actual=found.value,
        expected=bound.text,
        file=suite.file,
        line=bound.line,
        bound=_in_numbers(name, bound, found),
    )


def _in_numbers(name: str, bound: Bound, found: Measured) -> LineBound:
    known = found.interval is not None and found.value is not None
    interval = found.interval(bound.confidence or 0.95) if known and found.interval else None
    return LineBound(name, bound.operator, bound.value, bound.confidence, interval)


def _evaluated(name: str, bound: Bound, found: Measured) -> tuple[Literal["pass", "fail", "error", "undecided"], str]:
    if found.value is None:
        return "fail", f"{name} has no value: {found.why}"
    text = f"{name} is {written(name, found.value)}"
    holds = bound.holds(found.value)
    if found.is_open and found.at_best is not None and bound.holds(found.at_best) != holds:
        best = written(name, found.at_best)
        return "error", f"{text}, and {best} if runs with infrastructure or judge errors count as passed; {bound.text}"
    if bound.confidence is None or not holds:
        return "pass" if holds else "fail", f"{text}, required {bound.text}{_interval_words(name, found)}"
    interval = found.interval(bound.confidence) if found.interval else None
    share = f"{bound.confidence * 100:g} %"
    if interval and bound.holds(interval[0]) and bound.holds(interval[1]):
        return "pass", f"{text}, required {bound.text} with {share} confidence{_words(name, interval, share)}"
    more = _more(found, bound)
    told = _words(name, interval, share) if interval else f"; {found.n} give no interval"
    return "undecided", f"{text}, required {bound.text} with {share} confidence: undecided{told}{more}"


def _interval_words(name: str, found: Measured) -> str:
    interval = found.interval(0.95) if found.interval else None
    return _words(name, interval, "95 %") if interval else ""


def _words(name: str, interval: tuple[float, float], share: str) -> str:
    return f" ({share} interval {between(name, interval)})"


def _more(found: Measured, bound: Bound) -> str:
    """How many more scenarios or repeats would settle it, if the value stayed as it is."""
    assert bound.confidence is not None
    needed = found.more(bound.value, bound.confidence) if found.more else None
    if needed is None or (needed.scenarios is None and needed.repeats is None):
        return "; the value is at the bound, or too near, so that no number of scenarios would settle it"
    told = [f"{plural(needed.scenarios, 'more scenario')}"] if needed.scenarios is not None else []
    told += [f"{plural(needed.repeats, 'more repeat')} of each"] if needed.repeats is not None else []
    return f"; about {' or '.join(told)} would settle it with 80 % chance if it stays as it is"


def _progressive_line(
    suite: Suite, progressive: Progressive, stage: Bound | None, measured: Mapping[str, Measured]
) -> GateLine:
    found = measured.get(progressive.metric, NOT_MEASURED)
    target = progressive.target
    note = ""
    if target is not None and found.value is not None:
        away = abs(target.value - found.value)
        reached = target.holds(found.value)
        note = f"target {target.text} reached" if reached else f"{written(progressive.metric, away)} from {target.text}"
    if stage is None:
        first = progressive.stages[0]
        message = f"the agent's version is below the first stage ({first.version}: {first.bound.text})"
        message += f"; {note}" if note else ""
        return GateLine(
            "threshold",
            progressive.metric,
            "warning",
            "fail",
            message,
            actual=found.value,
            expected=first.bound.text,
            file=suite.file,
            line=progressive.line,
        )
    return bound_line(suite, stage, measured, "blocking", note=note)


def _criteria_lines(
    suite: Suite, scenarios: Sequence[ScenarioRuns], measured: Mapping[str, Measured]
) -> Iterator[GateLine]:
    overall = suite.criteria.overall
    if overall is not None:
        metric = headline_metric(suite).name
        yield bound_line(suite, overall, measured, "blocking", kind="criteria", id_="overall", metric=metric)
    for category, bound in suite.criteria.by_category.items():
        own = rate_of_runs([one for one in scenarios if one.scenario.category == category], what=f"{category} ")
        id_ = f"by_category.{category}"
        yield bound_line(suite, bound, {bound.metric: own}, "blocking", kind="criteria", id_=id_)


def _composite_line(suite: Suite, measured: Mapping[str, Measured]) -> GateLine:
    from passmuster.scoring._formula_values import evaluate

    values = {name: one.value for name, one in measured.items()}
    at_best = {name: one.value if one.at_best is None else one.at_best for name, one in measured.items()}
    found = evaluate(suite.composite, values)
    verdict, if_well = found["pass"], evaluate(suite.composite, at_best)["pass"]
    formula = next(formula for formula in suite.composite if formula.name == "pass")
    shown = ", ".join(
        f"{name} = {'no value' if value is None else f'{value:.6g}'}" for name, value in found.items() if name != "pass"
    )
    status: Literal["pass", "fail", "error"] = "pass" if verdict is True else "fail"
    truth = "without a value" if verdict is None else "true" if verdict else "false"
    message = f"{formula.text} is {truth}{'; ' + shown if shown else ''}"
    if (verdict is True) != (if_well is True):
        status, message = "error", f"{message}; runs with infrastructure or judge errors could change it"
    elif verdict is None:
        missing = [name for name in _in_composite(suite) if measured.get(name, NOT_MEASURED).value is None]
        reasons = "; ".join(f"{name}: {measured.get(name, NOT_MEASURED).why}" for name in missing)
        message = f"{formula.text} has no value; {reasons or 'it divides by zero or overflows'}"
    return GateLine(
        "composite",
        "pass",
        "blocking",
        status,
        message,
        actual=verdict,
        expected=formula.text,
        file=suite.file,
        line=formula.line,
        values=dict(found),
    )


def _in_composite(suite: Suite) -> list[str]:
    """The metrics that decide the composite."""
    from passmuster.scoring._formula_values import metrics_of

    return sorted(metrics_of(suite.composite, "pass"))
