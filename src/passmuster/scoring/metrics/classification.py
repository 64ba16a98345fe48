"""How well labels are found: precision, recall and F1 over the labels that answers give."""

from collections.abc import Callable

from passmuster.scoring._intervals import rate_interval
from passmuster.scoring._metric import Interval, Measured, Sample, SuiteMetric, ratio_interval_of
from passmuster.suite import Scenario, Suite

Counts = tuple[float, float, float]
"""True positives, false positives and false negatives, as fractions of a scenario's runs."""
Ratio = Callable[[Counts], tuple[float, float]]
"""What one scenario adds to numerator and denominator."""


def _label_metric(name: str, description: str, order: int, ratio: Ratio, empty: str) -> SuiteMetric:
    def measure(sample: Sample) -> Measured:
        as_found, at_best = _counts(sample)
        if not as_found:
            return Measured(value=None, n=0, why="no scenario states a label")
        parts, best = [ratio(counts) for counts in as_found], [ratio(counts) for counts in at_best]
        whole = sum(b for _, b in parts)
        if not whole:
            return Measured(value=None, n=0, why=empty)
        counted = [(a, b) for a, b in parts if b]

        def interval(confidence: float) -> Interval | None:
            if name != "f1" and all(a in (0.0, b) and b == 1.0 for a, b in counted):
                return rate_interval([(int(a), 1) for a, _ in counted], None, confidence)
            return ratio_interval_of(parts)(confidence)

        return Measured(
            value=sum(a for a, _ in parts) / whole,
            at_best=sum(a for a, _ in best) / (sum(b for _, b in best) or 1.0),
            n=len(counted),
            interval=interval,
        )

    def unusable(suite: Suite) -> str | None:
        return None if suite.classification else f"nothing can feed '{name}' without 'classification'"

    return SuiteMetric(name=name, description=description, measure=measure, order=order, unusable=unusable)


def _counts(sample: Sample) -> tuple[list[Counts], list[Counts]]:
    """Each labelled scenario's fractions: as found, and if every run with an infrastructure error had been right."""
    as_found: list[Counts] = []
    at_best: list[Counts] = []
    for one in sample.scenarios:
        if sample.suite.classification is None or one.scenario.label is None:
            continue
        runs, positive = one.tally.runs, _is_positive(sample.suite, one.scenario)
        quadrants = one.tally.labels if runs else {"fn" if positive else "tn": 1}
        tp, fp, fn = (quadrants.get(name, 0) / max(1, sum(quadrants.values())) for name in ("tp", "fp", "fn"))
        broken = one.tally.infra / max(1, runs)
        as_found.append((tp, fp, fn))
        right = (tp + min(broken, fn), fp, max(0.0, fn - broken))
        at_best.append(right if positive else (tp, max(0.0, fp - broken), fn))
    return as_found, at_best


def _is_positive(suite: Suite, scenario: Scenario) -> bool:
    assert suite.classification is not None
    assert scenario.label is not None
    label, positive = scenario.label.strip(), suite.classification.positive.strip()
    return label.casefold() == positive.casefold() if suite.classification.source.words else label == positive


METRICS = (
    _label_metric(
        "precision",
        "Answers correctly labeled positive / all answers labeled positive; needs `classification`.",
        20,
        lambda t: (t[0], t[0] + t[1]),
        "no answer was given the positive label",
    ),
    _label_metric(
        "recall",
        "Answers correctly labeled positive / all scenarios labeled positive; needs `classification`.",
        21,
        lambda t: (t[0], t[0] + t[2]),
        "no scenario has the positive label",
    ),
    _label_metric(
        "f1",
        "The harmonic mean of precision and recall; needs `classification`.",
        22,
        lambda t: (2 * t[0], 2 * t[0] + t[1] + t[2]),
        "there is no positive label, neither stated nor given",
    ),
)
