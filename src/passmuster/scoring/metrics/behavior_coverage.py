"""How many of the expected behaviors were observed."""

from passmuster.scoring._intervals import rate_interval
from passmuster.scoring._metric import Measured, Pairing, Sample, SuiteMetric, Tolerates, mean, more_for_rate, scaled


def _coverage(name: str, description: str, order: int, *, weighted: bool = False) -> SuiteMetric:
    def measure(sample: Sample) -> Measured:
        stating = [one for one in sample.scenarios if one.scenario.expected_behaviors]
        scored = [one for one in stating if one.tally.scored or one.missing]
        weights = [one.weight if weighted else 1.0 for one in scored]
        if not sum(weights):
            why = "no scenario states expected_behaviors" if not stating else "no behavior could be decided"
            return Measured(value=None, n=0, why="their weights are all 0" if scored else why)
        values = [one.tally.score.mean(max(1, one.tally.scored)) for one in scored]
        asked = [len(one.scenario.expected_behaviors) * max(1, one.tally.scored) for one in scored]
        observed = [(value * of, of) for value, of in zip(values, asked, strict=True)]
        best = [one.tally.score_if.mean(max(1, one.tally.scored)) for one in scored]
        return Measured(
            value=mean(list(zip(values, weights, strict=True))),
            at_best=mean(list(zip(best, weights, strict=True))),
            n=len(scored),
            interval=lambda confidence: rate_interval(observed, scaled(weights), confidence),
            more=more_for_rate(observed, scaled(weights)),
            lowered_by=tuple(one.scenario.id for one, value in zip(scored, values, strict=True) if value < 1),
        )

    return SuiteMetric(
        name=name,
        description=description,
        measure=measure,
        order=order,
        typical=None if weighted else ">= 90%",
        weighted=weighted,
        monotone=True,
        pairing=Pairing(figures=lambda one: one.scores, by_runs=False),
        tolerates=Tolerates(
            lambda one: bool(one.scenario.expected_behaviors) and not (weighted and one.weight <= 0), "behaviors"
        ),
    )


METRICS = (
    _coverage("behavior_coverage", "The mean score of the scenarios that state `expected_behaviors`.", 40),
    _coverage("weighted_behavior_coverage", "The same by the weights of the scenarios.", 41, weighted=True),
)
