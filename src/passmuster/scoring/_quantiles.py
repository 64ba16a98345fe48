"""Quantiles of the normal, Student's t and beta distributions, with `math` alone."""

from __future__ import annotations

import math

Z95 = 1.959963984540054
"""The normal quantile of 97.5 %: what a two-sided interval of 95 % is made with."""


def normal_below(x: float) -> float:
    """The chance that a standard normal variable stays below x."""
    return math.erfc(-x / math.sqrt(2)) / 2


def normal_quantile(p: float) -> float:
    """The value that a standard normal variable stays below with chance p.

    Halley's method on `math.erfc`, from a start within 0.0005 (Hastings, 1955); each of its steps triples the digits.
    """
    if not 0 < p < 1:
        raise ValueError(f"a quantile is asked of a chance between 0 and 1, not of {p}")
    if p > 0.5:
        return -normal_quantile(1 - p)  # exact there, and erfc is at its best in the lower tail
    s = math.sqrt(-2 * math.log(p))
    top = 2.515517 + s * (0.802853 + s * 0.010328)
    x = top / (1 + s * (1.432788 + s * (0.189269 + s * 0.001308))) - s
    for _ in range(3):
        error = math.erfc(-x / math.sqrt(2)) / 2 - p
        if error == 0:
            break
        step = math.copysign(math.exp(x * x / 2 + math.log(abs(error) * math.sqrt(2 * math.pi))), error)
        x -= step / (1 + x * step / 2)
    return x


def t_quantile(p: float, df: float) -> float:
    """The value that Student's t (1908) of `df` degrees of freedom, fractions included, stays below with chance p.

    Newton's method on the incomplete beta function; from 10,000 degrees on, Fisher and Cornish's expansion (1960).
    """
    if df <= 0:
        raise ValueError(f"degrees of freedom are more than 0, not {df}")
    return _upper_t(1 - p, df) if p > 0.5 else -_upper_t(p, df)


def _upper_t(tail: float, df: float) -> float:
    """Where the upper tail begins that has this chance, a half at most."""
    if tail == 0.5:
        return 0.0
    z = -normal_quantile(tail)
    if df >= 10_000:
        return _expanded_t(z, df)
    log_scale = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - math.log(df * math.pi) / 2
    t = _expanded_t(z, df) if df >= 5 else z  # z is too low, as the tails of t are heavier
    for _ in range(100):
        density = math.exp(log_scale - (df + 1) / 2 * math.log1p(t * t / df))
        if tail > 0.1:
            # What lies between 0 and t is concave in t: steps from below never pass.
            following = t + (0.5 - tail - beta_below(t * t / (df + t * t), 0.5, df / 2) / 2) / density
        else:
            # The logarithm of the tail is concave in that of t: one step may pass, the others come back from above.
            beyond = beta_below(df / (df + t * t), df / 2, 0.5) / 2
            following = t * math.exp(math.log(beyond / tail) * beyond / (t * density))
        if abs(following - t) <= 1e-13 * max(1.0, following):
            return following
        t = following
    return t


def _expanded_t(z: float, df: float) -> float:
    square = z * z
    terms = (
        z * (square + 1) / 4,
        z * ((5 * square + 16) * square + 3) / 96,
        z * (((3 * square + 19) * square + 17) * square - 15) / 384,
        z * ((((79 * square + 776) * square + 1482) * square - 1920) * square - 945) / 92160,
    )
    return z + math.fsum(term / df**power for power, term in enumerate(terms, 1))


def beta_below(x: float, a: float, b: float) -> float:
    """The chance that a beta variable of a and b stays below x: the regularised incomplete beta function, by its
    continued fraction (Lentz's method, 1976)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):  # beyond, the fraction converges slowly
        return 1 - beta_below(1 - x, b, a)
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    c = 1.0
    d = _away_from_zero(1 - (a + b) * x / (a + 1))
    value = 1 / d
    d = value
    for m in range(1, 100_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _away_from_zero(1 + term * d)
            c = _away_from_zero(1 + term / c)
            value *= c * d
        if abs(c * d - 1) <= 1e-16:
            break
    return math.exp(scale) * value / a


def _away_from_zero(number: float) -> float:
    return number if abs(number) > 1e-300 else 1e-300
