"""What the statistics promise, row by row, on agents whose truth is known: `python -m bench.promises [--more N]`.

Every row goes through the functions that the gate uses, with a fixed seed, and has a wanted figure; those of
`bench.promised_commands` go through the command line. Exit code 1 if a figure is missed.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from passmuster.scoring import (
    RateSample,
    f1_interval,
    kappa_interval,
    mean_interval,
    more_to_settle,
    percentile_rise_p_value,
    rate_drop_p_value,
    rate_interval,
)
from passmuster.scoring._percentiles import effective_values, percentile, percentile_interval
from passmuster.scoring._prediction import least_rate

SEED = 2_027
Chances = NDArray[np.float64]


class Row(Struct, frozen=True):
    """One figure that was measured, and where it has to lie."""

    what: str
    measured: float
    least: float
    most: float
    trials: int

    @property
    def held(self) -> bool:
        """Within the wanted figures, give or take two standard errors of the simulation."""
        edge = min(max(self.measured, self.least), self.most)
        error = 2 * math.sqrt(max(edge * (1 - edge), 1e-4) / self.trials)
        return self.least - error <= self.measured <= self.most + error


Rows = Iterator[Row]


def beta(rng: np.random.Generator, rate: float, n: int, correlation: float = 0.3) -> Chances:
    """Each scenario's own chance to pass."""
    apart = (1 - correlation) / correlation
    return rng.beta(rate * apart, (1 - rate) * apart, n)


def holds(interval: tuple[float, float] | None, truth: float) -> bool:
    return interval is None or interval[0] <= truth <= interval[1]


# ── Intervals ───────────────────────────────────────────────────────────────────────────────────────────────


def scores(rng: np.random.Generator, trials: int) -> Rows:
    """Observed / expected behaviors, four for each scenario; and a gate at the very bound."""
    for n in (5, 10, 20, 50):
        drawn = [
            rate_interval([(float(seen), 4.0) for seen in rng.binomial(4, beta(rng, 0.975, n))]) for _ in range(trials)
        ]
        yield Row(f"score of 97.5 %, n {n}: covered", sum(holds(one, 0.975) for one in drawn) / trials, 0.92, 1, trials)
        passes = sum(one is not None and one[0] >= 0.975 for one in drawn) / trials
        yield Row(f"score of 97.5 %, n {n}: passes the gate at the bound", passes, 0, 0.035, trials)
    for n, repeats in ((30, 1), (100, 1), (30, 5), (100, 5)):
        drawn = [
            rate_interval([(float(k), float(repeats)) for k in rng.binomial(repeats, beta(rng, 0.9, n))])
            for _ in range(trials)
        ]
        passes = sum(one is not None and one[0] >= 0.9 for one in drawn) / trials
        yield Row(f"rate of 90 %, {n} × {repeats}: passes the gate at the bound", passes, 0, 0.035, trials)


def labels(rng: np.random.Generator, trials: int) -> Rows:
    """F1 by θ, and kappa of a judge with known tables."""
    for n in (5, 10, 20, 50):
        covered = counted = 0
        for tp, off in rng.multinomial(n, (0.45, 0.05, 0.5), trials)[:, :2].tolist():
            if tp + off:
                counted += 1
                covered += holds(f1_interval([(1.0, 1.0, 1.0)] * tp + [(0.0, 1.0, 1.0)] * off), 0.9 / 0.95)
        yield Row(f"F1 of 94.7 %, n {n}: covered", covered / counted, 0.92, 1, counted)

    @cache
    def interval(a: int, b: int, c: int, d: int) -> tuple[float, float] | None:
        return kappa_interval([(1, 1)] * a + [(1, 0)] * b + [(0, 1)] * c + [(0, 0)] * d)

    for cells in ((0.8, 0.05, 0.05, 0.1), (0.45, 0.05, 0.05, 0.45)):
        chance = (cells[0] + cells[1]) ** 2 + (cells[2] + cells[3]) ** 2
        kappa = (cells[0] + cells[3] - chance) / (1 - chance)
        for n in (10, 20, 50):
            few = min(trials, 250)
            covered = sum(holds(interval(*table), kappa) for table in rng.multinomial(n, cells, few).tolist())
            yield Row(f"κ of {kappa:.2f}, n {n}: covered", covered / few, 0.92, 1, few)


def latency(rng: np.random.Generator, trials: int) -> Rows:
    """Lognormal durations whose scenarios differ as much as their runs, 50 × 10."""
    for q, z in ((0.5, 0.0), (0.95, 1.6448536)):
        truth, covered, many = math.exp(z * math.hypot(0.5, 0.44)), 0, 4 * trials
        for _ in range(many):
            groups = np.exp(rng.normal(0, 0.5, (50, 1)) + rng.normal(0, 0.44, (50, 10)))
            ordered = np.sort(groups, axis=None).tolist()
            effective, n = effective_values(groups.tolist(), percentile(ordered, q), q)
            covered += holds(percentile_interval(ordered, q, 0.95, effective, n - 1), truth)
        yield Row(f"latency p{q * 100:.0f}, 50 × 10: covered", covered / many, 0.93, 0.97, many)


def means(rng: np.random.Generator, trials: int) -> Rows:
    """Lognormal costs of σ = 1."""
    for n in (10, 20, 50):
        drawn = (mean_interval([(cost, 1.0) for cost in rng.lognormal(0, 1, n).tolist()]) for _ in range(trials))
        covered = sum(holds(one, math.exp(0.5)) for one in drawn)
        yield Row(f"skewed mean, n {n}: covered", covered / trials, 0.91, 1, trials)
    none = mean_interval([(cost, 1.0) for cost in rng.lognormal(0, 1, 9).tolist()])
    yield Row("skewed mean, n 9: intervals", float(none is not None), 0, 0, 1)


def weights(rng: np.random.Generator, trials: int) -> Rows:
    """A fifth of the scenarios weighs five times as much and fails more: 70 % against 95 %."""
    truth = (0.8 * 0.95 + 0.2 * 5 * 0.7) / (0.8 + 0.2 * 5)
    for n in (20, 50, 100):
        covered = 0
        for _ in range(trials):
            heavy = rng.random(n) < 0.2
            passed = rng.random(n) < np.where(heavy, 0.7, 0.95)
            by = np.where(heavy, 5.0, 1.0).tolist()
            covered += holds(rate_interval([(float(one), 1.0) for one in passed.tolist()], by), truth)
        yield Row(f"weighted rate, n {n}: covered", covered / trials, 0.93, 0.97, trials)


def audits(rng: np.random.Generator, trials: int) -> Rows:
    """Five labels of each of 40 scenarios, on which a judge is right with a chance of its own."""
    covered = 0
    for _ in range(trials):
        counts = [(float(right), 5.0) for right in rng.binomial(5, beta(rng, 0.85, 40, 0.5)).tolist()]
        covered += holds(RateSample(counts, [5.0] * 40).interval(), 0.85)
    yield Row("audit, 40 × 5 labels: agreement covered", covered / trials, 0.93, 0.98, trials)
    once = rate_interval([(1.0, 1.0)] * 10 + [(0.0, 1.0)] * 30)
    often = rate_interval([(10.0, 10.0)] * 10 + [(0.0, 10.0)] * 30)
    assert once
    assert often
    ratio = (often[1] - often[0]) / (once[1] - once[0])
    yield Row("ten rounds of a deterministic judge: width next to one round", ratio, 1, 1, 10**6)


# ── Comparisons ─────────────────────────────────────────────────────────────────────────────────────────────


def p_value(then: NDArray[np.int64], n: int, now: NDArray[np.int64], m: int, allowed: float = 0.0) -> float:
    pairs = zip(then.tolist(), now.tolist(), strict=True)
    return rate_drop_p_value([((before, n), (after, m), 1.0) for before, after in pairs], allowed)


def drops(rng: np.random.Generator, trials: int) -> Rows:
    few = min(trials, 400)
    for n, then, now in ((20, 1, 10), (50, 1, 10), (50, 5, 5)):
        alarms = 0
        for _ in range(few):
            own = beta(rng, 0.9, n)
            alarms += p_value(rng.binomial(then, own), then, rng.binomial(now, own), now) < 0.05
        yield Row(f"unchanged agent, {n} × {then} → {now} runs: blocked", alarms / few, 0, 0.055, few)
    for n, drop, wanted in ((20, 0.1, 0.6), (50, 0.05, 0.54)):
        seen = 0
        for _ in range(few):
            own = beta(rng, 0.9, n)
            seen += p_value(rng.binomial(5, own), 5, rng.binomial(5, own * (1 - drop / 0.9)), 5) < 0.05
        yield Row(f"drop of {drop * 100:.0f} points, {n} × 5: seen", seen / few, wanted, 1, few)
    for n, repeats, allowed in ((50, 5, 0.05), (100, 1, 0.05), (20, 5, 0.1)):
        blocked = 0
        for _ in range(few):
            own = beta(rng, 0.9, n)
            after = rng.binomial(repeats, own * (1 - allowed / 0.9))
            blocked += p_value(rng.binomial(repeats, own), repeats, after, repeats, allowed) < 0.05
        yield Row(f"true drop = max_drop, {n} × {repeats}: blocked", blocked / few, 0, 0.05, few)
    broken = p_value(np.full(20, 5), 5, np.array([0] * 4 + [5] * 16), 5)
    yield Row("4 of 20 scenarios go 5/5 → 0/5: p", broken, 0, 0.05, 10**6)


def doubled(rng: np.random.Generator, trials: int) -> Rows:
    few = max(10, min(30, trials // 50))

    def durations(slow: float) -> list[list[float]]:
        return [np.where(rng.random(10) < 0.08, slow, rng.normal(300, 30, 10)).tolist() for _ in range(30)]

    for what, slow, least, most in (("doubled", 2_000, 0.8, 1), ("unchanged", 1_000, 0, 0.05)):
        pairs = ([(a, b, 10.0) for a, b in zip(durations(1_000), durations(slow), strict=True)] for _ in range(few))
        seen = sum(percentile_rise_p_value(one, 0.95) < 0.05 for one in pairs)
        yield Row(f"latency_p95 {what}, 30 × 10: blocked", seen / few, least, most, few)


def pools(rng: np.random.Generator, trials: int) -> Rows:
    """Every push next to the last 20 runs that were not blocked, at 0.05 / 20."""
    few, alarmed, seen = max(40, min(200, trials // 10)), 0, 0
    for _ in range(few):
        own = beta(rng, 0.9, 50)
        kept = [rng.binomial(5, own) for _ in range(20)]
        blocked = [_push(kept, rng.binomial(5, own)) for _ in range(20)]
        alarmed += any(blocked)
        lower = own * (1 - 0.05 / 0.9)
        seen += any(_push(kept, rng.binomial(5, lower)) for _ in range(3))
    yield Row("pool of 20, 50 × 5, unchanged: blocked by push 20", alarmed / few, 0, 0.05, few)
    yield Row("pool of 20, 50 × 5, 5 points lower: seen within 3 pushes", seen / few, 0.75, 1, few)


def _push(kept: list[NDArray[np.int64]], now: NDArray[np.int64]) -> bool:
    blocked = p_value(np.sum(kept[-20:], axis=0), 100, now, 5) < 0.05 / 20
    if not blocked:
        kept.append(now)
    return blocked


# ── Sample sizes and predictions ────────────────────────────────────────────────────────────────────────────


def sizes(rng: np.random.Generator, trials: int) -> Rows:
    """How many more scenarios: drawn from those seen, as the rate is to stay."""
    for kind in ("single runs", "repeats", "scores", "weights"):
        settled = tried = 0
        while tried < min(trials, 600):
            runs, by = _sample(rng, kind)
            interval = rate_interval(runs, by)
            if interval is None or not interval[0] < 0.87 < interval[1] or RateSample(runs, by).rate < 0.885:
                continue
            more = more_to_settle(runs, 0.87, by).scenarios
            if more is None:
                continue
            for _ in range(5):
                places = rng.integers(0, len(runs), more).tolist()
                heavier = None if by is None else [*by, *(by[place] for place in places)]
                after = rate_interval([*runs, *(runs[place] for place in places)], heavier)
                settled += after is not None and after[0] >= 0.87
                tried += 1
        yield Row(f"how many more, {kind}: settled", settled / tried, 0.75, 0.85, tried)


def _sample(rng: np.random.Generator, kind: str) -> tuple[list[tuple[float, float]], list[float] | None]:
    if kind == "weights":
        heavy = rng.random(80) < 0.3
        passed = rng.random(80) < np.where(heavy, 0.88, 0.95)
        return [(float(one), 1.0) for one in passed.tolist()], np.where(heavy, 3.0, 1.0).tolist()
    trials = {"single runs": 1, "repeats": 5, "scores": 4}[kind]
    return [(float(k), float(trials)) for k in rng.binomial(trials, beta(rng, 0.93, 80, 0.4)).tolist()], None


def ratchets(rng: np.random.Generator, trials: int) -> Rows:
    for n, repeats, rate in ((40, 1, 0.9), (40, 1, 0.97), (20, 5, 0.9), (100, 3, 0.8)):
        below = 0
        for _ in range(trials):
            own = beta(rng, rate, n)
            least = least_rate([(k, repeats) for k in rng.binomial(repeats, own).tolist()])
            assert least is not None
            below += bool(rng.binomial(repeats, own).mean() / repeats < math.floor(least * 1e4) / 1e4 - 1e-9)
        yield Row(f"ratchet, {n} × {repeats} at {rate * 100:.0f} %: fresh run fails", below / trials, 0, 0.06, trials)


PARTS: dict[str, Callable[[np.random.Generator, int], Rows]] = {
    "scores and rates": scores,
    "F1 and kappa": labels,
    "latency": latency,
    "skewed means": means,
    "weights": weights,
    "audits": audits,
    "drops": drops,
    "percentiles": doubled,
    "looking on every push": pools,
    "how many more": sizes,
    "ratchet": ratchets,
}


def measured(trials: int, names: list[str] | None = None) -> Rows:
    """Every row; each part has a seed of its own, so that it comes out alike alone and with others."""
    for place, (name, part) in enumerate(PARTS.items()):
        if names is None or name in names:
            yield from part(np.random.default_rng([SEED, place]), trials)


def main() -> None:
    """Print a line for each row; exit with 1 if one misses its wanted figure."""
    parser = argparse.ArgumentParser(prog="bench.promises", description=__doc__)
    parser.add_argument("--trials", type=int, default=1_000, help="simulated suites for a row (default: 1,000)")
    parser.add_argument("--no-commands", action="store_true", help="leave the rows through the command line out")
    given = parser.parse_args()
    start, missed = time.monotonic(), 0
    print("| what | measured | wanted | trials | held |\n|---|---|---|---|---|")
    rows = measured(given.trials)
    if not given.no_commands:
        from bench.promised_commands import measured_commands

        rows = (row for part in (rows, measured_commands()) for row in part)
    for row in rows:
        missed += not row.held
        wanted = f"{row.least * 100:.4g}–{row.most * 100:.4g} %"
        held = "yes" if row.held else "NO"
        print(f"| {row.what} | {row.measured * 100:.1f} % | {wanted} | {row.trials} | {held} |", flush=True)
    print(f"\n{missed} missed, {time.monotonic() - start:.0f} s")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
