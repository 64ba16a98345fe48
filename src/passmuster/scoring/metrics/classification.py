"""How well labels are found: precision, recall and F1 over the labels that answers give."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from passmuster.scoring._intervals import f1_interval, f1_of, ratio_interval, trials_of
from passmuster.scoring._metric import Interval, Measured, Sample, SuiteMetric, more_for_rate
from passmuster.suite import Scenario, Suite

if TYPE_CHECKING:
    from passmuster.scoring._sample_size import Needed

Counts = tuple[float, float, float]
"""True positives, false positives and false negatives, as fractions of a scenario's runs."""
Ratio = Callable[[Counts], tuple[float, float]]
"""What one scenario adds to numerator and denominator."""


def _label_metric(name: str, description: str, order: int, ratio: Ratio, empty: str) -> SuiteMetric:
    is_f1 = name == "f1"

    def measure(sample: Sample) -> Measured:
        as_found, at_best, runs = _counts(sample)
        if not as_found:
            return Measured(value=None, n=0, why="no scenario states a label")
        parts, best = [ratio(counts) for counts in as_found], [ratio(counts) for counts in at_best]
        if not any(b for _, b in parts):
            return Measured(value=None, n=0, why=empty)
        counted = [(a, b, number) for (a, b), number in zip(parts, runs, strict=True) if b]

        def interval(confidence: float) -> Interval | None:
            return f1_interval(counted, confidence) if is_f1 else ratio_interval(counted, confidence)

        def value(found: list[tuple[float, float]]) -> float:
            rate = math.fsum(a for a, _ in found) / (math.fsum(b for _, b in found) or 1.0)
            return f1_of(rate) if is_f1 else rate

        def more(bound: float, confidence: float) -> Needed | None:
            settling = more_for_rate(trials_of(counted), [b for _, b, _ in counted], len(counted) / len(parts))
            return settling(bound / (2 - bound) if is_f1 else bound, confidence)

        return Measured(value=value(parts), at_best=value(best), n=len(counted), interval=interval, more=more)

    def unusable(suite: Suite) -> str | None:
        return None if suite.classification else f"nothing can feed '{name}' without 'classification'"

    return SuiteMetric(name=name, description=description, measure=measure, order=order, unusable=unusable)


def _counts(sample: Sample) -> tuple[list[Counts], list[Counts], list[float]]:
    """Each labelled scenario's fractions, as found and if every run with an infrastructure error had been right, and
    the number of its runs."""
    as_found: list[Counts] = []
    at_best: list[Counts] = []
    numbers: list[float] = []
    for one in sample.scenarios:
        if sample.suite.classification is None or one.scenario.label is None or one.not_run:
            continue
        runs, positive = one.tally.runs, _is_positive(sample.suite, one.scenario)
        quadrants = one.tally.labels if runs else {"fn" if positive else "tn": 1}
        tp, fp, fn = (quadrants.get(name, 0) / max(1, sum(quadrants.values())) for name in ("tp", "fp", "fn"))
        broken = one.tally.infra / max(1, runs)
        as_found.append((tp, fp, fn))
        numbers.append(max(1, sum(quadrants.values())))
        right = (tp + min(broken, fn), fp, max(0.0, fn - broken))
        at_best.append(right if positive else (tp, max(0.0, fp - broken), fn))
    return as_found, at_best, numbers


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
        lambda t: (t[0], t[0] + t[1] + t[2]),
        "there is no positive label, neither stated nor given",
    ),
)
