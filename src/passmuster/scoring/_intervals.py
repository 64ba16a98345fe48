"""Intervals of rates: how far the rate of the suite's scenarios may be from that of all the agent will meet.

Scenarios are the sample, not runs: runs of one scenario resemble each other, and more of them say less and less. A
score between 0 and 1, such as the part of the expected behaviors that was observed, is a rate like any other.
Imports are kept to `math`, for every run of the gate comes through here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from passmuster.scoring._quantiles import Z95, normal_quantile, t_quantile

Interval = tuple[float, float]

_PRIOR = 0.1
"""Variance that is assumed besides what is seen, as if from scenarios whose runs all agree: two fifths of a scenario
that is as likely to pass as to fail. It keeps few mixed scenarios from saying that all runs are independent."""
_EQUAL = 1e-9
"""Weights this close, relatively, are equal."""


def wilson(successes: float, n: float, z: float = Z95) -> Interval | None:
    """The score interval of a rate (Wilson, 1927); none without a trial. Both numbers may be effective ones."""
    if n <= 0:
        return None
    rate = successes / n
    width = z * z / n
    middle = (rate + width / 2) / (1 + width)
    spread = math.sqrt(max(0.0, rate * (1 - rate)) * width + width * width / 4) / (1 + width)
    # Rounding must not push a bound past the rate, which is 0 or 1 exactly at the ends.
    return max(0.0, min(middle - spread, rate)), min(1.0, max(middle + spread, rate))


class RateSample:
    """A rate over scenarios, and what its interval depends on.

    `runs` are `(passed, counted)` for each scenario; `passed` may be a fraction of runs, and `counted` is the largest
    number of independent trials behind it. One with no counted run, or no weight, is left out.
    """

    __slots__ = ("between", "count", "df", "equal", "independent", "rate", "scenarios", "single", "within")

    def __init__(self, runs: Sequence[tuple[float, float]], weights: Sequence[float] | None = None) -> None:
        given = [1.0] * len(runs) if weights is None else weights
        counted = [(passed / of, of, w) for (passed, of), w in zip(runs, given, strict=True) if of > 0 and w > 0]
        self.count = len(counted)
        """How many scenarios there are."""
        if not counted:
            return
        heaviest = max(w for *_, w in counted)  # relative to it, no square is too large for a double
        counted = [(fraction, of, w / heaviest) for fraction, of, w in counted]
        used = [w for *_, w in counted]
        total = math.fsum(used)
        squares = math.fsum(w * w for w in used)
        self.rate = min(1.0, max(0.0, math.fsum(w * fraction for fraction, _, w in counted) / total))
        self.single = all(of == 1 for _, of, _ in counted)
        self.equal = max(used) - min(used) <= _EQUAL * max(used)
        self.scenarios = total * total / squares
        """As many scenarios of equal weight would tell as much, if weights have nothing to do with passing."""
        self.independent = total * total / math.fsum(w * w / of for _, of, w in counted)
        """The same for runs, were all of them independent."""
        self.df = max(1.0, squares * squares / math.fsum(w**4 for w in used) - 1)
        off = math.fsum((w * (fraction - self.rate)) ** 2 for fraction, _, w in counted)
        self.between = off / squares * self.count / max(1, self.count - 1)
        """The variance of a scenario's fraction, by squared weights."""
        self.within: float | None = None
        """The part of it that comes from the runs of a scenario; None where some ran once."""
        if all(of > 1 for _, of, _ in counted):
            parts = (w * w * fraction * (1 - fraction) / (of - 1) for fraction, of, w in counted)
            self.within = math.fsum(parts) / squares

    def interval(self, confidence: float = 0.95) -> Interval | None:
        """Wilson's interval on the effective number of scenarios; none of one scenario that ran repeatedly."""
        effective = self.effective(confidence)
        if effective is None:
            return None
        return wilson(self.rate * effective, effective, normal_quantile((1 + confidence) / 2))

    def effective(self, confidence: float = 0.95) -> float | None:
        """The effective number of scenarios. Wilson's interval depends on z²/n alone, so that the larger quantile of
        Student's t is the same as fewer scenarios."""
        if not self.count or (self.count == 1 and not self.single):
            return None
        return self.effective_of(self.count, confidence)

    def effective_of(self, count: int, confidence: float, repeats: float = 1.0, between: float | None = None) -> float:
        """The same if there were so many scenarios like these, with `repeats` times as many runs each."""
        grown = count / self.count
        scenarios, df = self.scenarios * grown, (self.df + 1) * grown - 1
        single = self.single and repeats == 1
        if single and self.equal:
            return scenarios
        between = self.between if between is None else between
        variance = self.rate * (1 - self.rate)
        gained = (scenarios * variance + _PRIOR) / (scenarios * between + _PRIOR)
        most = scenarios if single else self.independent * grown * repeats
        upper = (1 + confidence) / 2
        shrunk = min(scenarios * gained, most) * (normal_quantile(upper) / t_quantile(upper, max(1.0, df))) ** 2
        return max(scenarios, shrunk) if self.equal else shrunk


def rate_interval(
    runs: Sequence[tuple[float, float]], weights: Sequence[float] | None = None, confidence: float = 0.95
) -> Interval | None:
    """The interval of a rate from `(passed, counted)` for each scenario, the scenarios being the sample.

    The rate is the weighted mean of the scenarios' fractions. It is Wilson's interval (1927) on an effective number
    of scenarios. Where scenarios of equal weight ran once, that is their number. Otherwise it is p (1 - p) / V: V is
    the variance of the rate, Σ w² (f - p)² / (Σ w)² · n / (n - 1), which repeats make smaller as far as they vary, and
    heavy scenarios that fail more than light ones make larger (the design effect, Kish, 1965). As V is estimated,
    Student's t (1908) stands in for the normal quantile, its degrees of freedom being those of the squared weights
    (Satterthwaite, 1946).

    With equal weights the result is never wider than if every scenario had run once, and it is never narrower than if
    all runs were independent. It has a width at 0 and at 1 too. None without a scenario, and none of one scenario that
    ran repeatedly: it tells nothing about others.
    """
    return RateSample(runs, weights).interval(confidence)


def ratio_interval(parts: Sequence[tuple[float, float, float]], confidence: float = 0.95) -> Interval | None:
    """The interval of Σa / Σb from `(a, b, runs)` for each scenario, 0 ≤ a ≤ b: the rate of a / b by the weights b.

    The variance by squared weights is then that of the ratio, linearised (Cochran, 1977, §6.3).
    """
    counted = [(a, b, runs) for a, b, runs in parts if b > 0]
    return rate_interval(trials_of(counted), [b for _, b, _ in counted], confidence)


def trials_of(parts: Sequence[tuple[float, float, float]]) -> list[tuple[float, float]]:
    """The `(passed, counted)` of parts of a ratio, b being above 0."""
    return [(a / b * max(1.0, b * runs), max(1.0, b * runs)) for a, b, runs in parts]


def f1_interval(parts: Sequence[tuple[float, float, float]], confidence: float = 0.95) -> Interval | None:
    """The interval of F1 = 2θ / (1 + θ), from the one of θ = TP / (TP + FP + FN), of `(TP, TP + FP + FN, runs)`.

    F1 grows with θ, which is a rate over the scenarios that have the positive label or were given it (the indirect
    Wilson interval of Lam, Gopal and Qian, 2023).
    """
    found = ratio_interval(parts, confidence)
    return found and (f1_of(found[0]), f1_of(found[1]))


def f1_of(theta: float) -> float:
    """F1 where θ = TP / (TP + FP + FN)."""
    return 2 * theta / (1 + theta)
