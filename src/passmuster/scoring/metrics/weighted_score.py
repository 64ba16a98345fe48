"""Several metrics in one number, by the weights in `weights.metrics`."""

from passmuster.scoring._metric import Measured, Sample, SuiteMetric, mean
from passmuster.suite import Suite


def _weighted_score(sample: Sample) -> Measured:
    parts = [(name, sample.metric(name), weight) for name, weight in sample.suite.weights.metrics.items()]
    if not parts:
        return Measured(value=None, n=0, why="the suite has no 'weights.metrics'")
    values = [(one.value, weight) for _, one, weight in parts if one.value is not None]
    if len(values) < len(parts):
        missing = ", ".join(name for name, one, _ in parts if one.value is None)
        return Measured(value=None, n=0, why=f"{missing} has no value")
    best = [(one.value or 0.0 if one.at_best is None else one.at_best, weight) for _, one, weight in parts]
    return Measured(value=mean(values), at_best=mean(best), n=len(parts))


def _without_weights(suite: Suite) -> str | None:
    return None if suite.weights.metrics else "nothing can feed 'weighted_score' without 'weights.metrics'"


METRICS = (
    SuiteMetric(
        name="weighted_score",
        description="The mean of the metrics in `weights.metrics`, by these weights.",
        measure=_weighted_score,
        has_interval=False,
        order=100,
        weighted=True,
        unusable=_without_weights,
    ),
)
