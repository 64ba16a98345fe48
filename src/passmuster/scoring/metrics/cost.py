"""What runs cost and how many tokens they used."""

import math
from collections.abc import Callable
from functools import partial

from passmuster.scoring._metric import (
    Measured,
    Pairing,
    Sample,
    SuiteMetric,
    known_of,
    mean_interval_of,
    more_for_mean,
)
from passmuster.scoring._scenario_tally import Figure, Figures


def _complete(known: int, traces: int, what: str, value: float | None) -> Measured:
    """A figure that has a value only if every trace states it."""
    if traces and known == traces:
        if value is not None and math.isinf(_as_float(value)):
            return Measured(value=None, n=traces, why=f"the sum of their {what} overflows")
        return Measured(value=value, n=traces)
    why = f"{traces - known} of {traces} traces do not state their {what}" if traces else "there is no trace"
    return Measured(value=None, n=known, why=why, known=known, total=traces)


def _as_float(number: float) -> float:
    """The number, infinite where it is a whole one that no double can hold."""
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _mean_cost(sample: Sample) -> Measured:
    """The mean over traces; with an interval if every trace belongs to a scenario, for those are the sample."""
    cost, traces = sample.figures.cost, sample.figures.traces
    found = _complete(cost.known, traces, "cost", cost.mean())
    known = [
        (_as_float(one.tally.cost.total.value()), float(one.tally.cost.known))
        for one in sample.scenarios
        if one.tally.cost.known
    ]
    unmatched = traces - sum(one.tally.runs for one in sample.scenarios)
    if found.value is None or unmatched:
        return found
    return Measured(value=found.value, n=traces, interval=mean_interval_of(known), more=more_for_mean(known))


def _token_efficiency(sample: Sample) -> Measured:
    """Σ quality / Σ tokens over the runs that state their tokens."""
    tallies = [one.tally for one in sample.scenarios]
    stating = [tally for tally in tallies if tally.tokens.known]
    parts = [(float(tally.quality.value()), _as_float(tally.tokens.total.value())) for tally in stating]
    tokens = sum(b for _, b in parts)
    if not tokens or math.isinf(tokens):
        used = "no tokens were used" if not tokens else "the sum of their tokens overflows"
        return Measured(value=None, n=0, why=used if stating else "no run of a scenario states its tokens")
    n = sum(tally.tokens.known for tally in stating)
    known, total = known_of(n, sum(tally.runs for tally in tallies))
    value = math.fsum(a for a, _ in parts) / tokens
    return Measured(
        value=value, n=n, interval=mean_interval_of(parts), more=more_for_mean(parts), known=known, total=total
    )


def _total(what: str, of: Callable[[Figures], Figure]) -> Callable[[Sample], Measured]:
    def measure(sample: Sample) -> Measured:
        figure = of(sample.figures)
        return _complete(figure.known, sample.figures.traces, what, figure.total.value() if figure.known else None)

    return measure


_used = partial(SuiteMetric, better="down", rate=False)
_dollars = partial(_used, unit="USD", spellings={"usd": 1, "$": 1}, example="0.5, 0.5 USD or $0.5")
METRICS = (
    SuiteMetric(
        name="token_efficiency",
        description="Quality per token. A bound states it per token (`0.002`); reports show it per 1,000 "
        "(`2 per 1,000 tokens`).",
        measure=_token_efficiency,
        rate=False,
        per_tokens=1000,
        order=60,
    ),
    _dollars(
        name="total_cost_usd",
        description="The total cost of all runs, in USD.",
        measure=_total("cost", lambda figures: figures.cost),
        has_interval=False,
        order=61,
        pairing=Pairing(figures=lambda one: one.costs_usd, total=True),
    ),
    _dollars(
        name="mean_cost_usd",
        description="The mean cost of a run, in USD.",
        measure=_mean_cost,
        order=62,
        pairing=Pairing(figures=lambda one: one.costs_usd),
    ),
    _used(
        name="total_tokens",
        description="The total number of tokens of all runs.",
        measure=_total("tokens", lambda figures: figures.tokens),
        unit="tokens",
        spellings={"tokens": 1},
        example="20000",
        has_interval=False,
        order=63,
        pairing=Pairing(figures=lambda one: one.tokens_used, total=True),
    ),
)
