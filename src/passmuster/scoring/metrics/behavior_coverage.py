"""How many of the expected behaviors were observed."""

from passmuster.scoring._metric import (
    Measured,
    Pairing,
    Sample,
    SuiteMetric,
    Tolerates,
    mean,
    mean_interval_of,
    weighted_mean,
)


def _coverage(name: str, description: str, order: int, *, weighted: bool = False) -> SuiteMetric:
    def measure(sample: Sample) -> Measured:
        stating = [one for one in sample.scenarios if one.scenario.expected_behaviors]
        scored = [one for one in stating if one.tally.scored or not one.tally.runs]
        weights = [one.weight if weighted else 1.0 for one in scored]
        if not sum(weights):
            why = "no scenario states expected_behaviors" if not stating else "no behavior could be decided"
            return Measured(value=None, n=0, why="their weights are all 0" if scored else why)
        values = [one.tally.score.mean(max(1, one.tally.scored)) for one in scored]
        best = [one.tally.score_if.mean(max(1, one.tally.scored)) for one in scored]
        return Measured(
            value=mean(list(zip(values, weights, strict=True))),
            at_best=mean(list(zip(best, weights, strict=True))),
            n=len(scored),
            interval=mean_interval_of(list(zip(values, weights, strict=True))),
            lowered_by=tuple(one.scenario.id for one, value in zip(scored, values, strict=True) if value < 1),
        )

    return SuiteMetric(
        name=name,
        description=description,
        measure=measure,
        order=order,
        weighted=weighted,
        pairing=Pairing(lambda one: one.behaviors, weighted_mean),
        tolerates=Tolerates(
            lambda one: bool(one.scenario.expected_behaviors) and not (weighted and one.weight <= 0), "behaviors"
        ),
    )


METRICS = (
    _coverage("behavior_coverage", "The mean score of the scenarios that state `expected_behaviors`.", 40),
    _coverage("weighted_behavior_coverage", "The same by the weights of the scenarios.", 41, weighted=True),
)
