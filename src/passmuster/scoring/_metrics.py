"""All metrics by name: those declared in `metrics/`, and the scores of a suite's custom metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from passmuster._registry import Registry
from passmuster.scoring._metric import Measured, Sample, SuiteMetric, score_metric
from passmuster.scoring._scenario_runs import ScenarioRuns, is_weighted
from passmuster.scoring._scenario_tally import Figures
from passmuster.scoring._tally import Tally
from passmuster.suite import Suite, Test


@cache
def declared_metrics() -> Mapping[str, SuiteMetric]:
    """The metrics that every suite can name, in the order of tables."""
    files = Registry("passmuster.scoring.metrics")
    found: list[SuiteMetric] = [metric for name in files for metric in files[name].METRICS]
    return {metric.name: metric for metric in sorted(found, key=lambda metric: metric.order)}


def metric_named(name: str) -> SuiteMetric:
    """The metric of this name. One that is not declared is the score of a custom metric."""
    return declared_metrics().get(name) or score_metric(name)


def headline_metric(suite: Suite) -> SuiteMetric:
    """What `pass_criteria.overall` is about: the pass rate, weighted where the suite gives weights."""
    return declared_metrics()["weighted_pass_rate" if is_weighted(suite) else "pass_rate"]


def known_metrics(tests: Iterable[Test]) -> dict[str, SuiteMetric]:
    """Every metric that a suite with these tests can name."""
    return {**_scores(tests), **declared_metrics()}


def _scores(tests: Iterable[Test]) -> dict[str, SuiteMetric]:
    # A test that could not be read may be one of a custom metric.
    return {test.id: score_metric(test.id) for test in tests if test.id and getattr(test.spec, "gives_score", True)}


def measure(
    suite: Suite, scenarios: Sequence[ScenarioRuns], tally: Tally, figures: Figures | None
) -> dict[str, Measured]:
    """Every metric of the suite, those without a value too."""
    metrics = {**declared_metrics(), **_scores(suite.tests)}
    sample = Sample(suite, scenarios, tally, figures or Figures(), metrics)
    return {metric.name: sample.metric(metric.name) for metric in sorted(metrics.values(), key=lambda one: one.order)}
