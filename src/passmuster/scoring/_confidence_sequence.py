"""A confidence sequence for how many of N runs fail, when runs are drawn at random without replacement."""

from __future__ import annotations

from math import lgamma, log
from typing import Literal


def settled_side(
    drawn: int, failed: int, population: int, limit: int, chance: float
) -> Literal["below", "reached"] | None:
    """Whether fewer than `limit` of all runs fail, or at least so many; None while the runs drawn leave it open.

    However often it is asked while runs are drawn, the answer is ever wrong with at most this chance.

    It is the prior-posterior-ratio confidence sequence of Waudby-Smith and Ramdas (Confidence sequences for sampling
    without replacement, NeurIPS 2020, theorem 2.1). With a uniform prior on the number F of failures among N, the
    posterior after s failures in t draws is F - s ~ beta-binomial(N - t, 1 + s, 1 + t - s). The ratio prior / posterior
    at the true F is a martingale that starts at 1, so by Ville's inequality it ever reaches 1 / chance with at most
    that chance. The sequence is the set of all F whose ratio has not. The posterior has one mode, so all F on one side
    are outside the set if the nearest is, and the posterior falls towards that side.
    """
    if failed >= limit:
        return "reached"
    if failed + population - drawn < limit:
        return "below"
    at, before = (_log_posterior(count, drawn, failed, population) for count in (limit, limit - 1))
    outside = log(chance) - log(population + 1)
    if at <= before and at < outside:
        return "below"
    if before <= at and before < outside:
        return "reached"
    return None


def _log_posterior(failures: int, drawn: int, failed: int, population: int) -> float:
    """The logarithm of the posterior probability of so many failures among all runs."""
    rest, more = population - drawn, failures - failed
    if not 0 <= more <= rest:
        return float("-inf")
    a, b = 1 + failed, 1 + drawn - failed
    return (
        lgamma(rest + 1)
        - lgamma(more + 1)
        - lgamma(rest - more + 1)
        + _log_beta(more + a, rest - more + b)
        - _log_beta(a, b)
    )


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)
