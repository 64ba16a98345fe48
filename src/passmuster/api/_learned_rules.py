"""What is asked of an agent after its traces: only what is unlikely to fail a new trace of the same agent.

Every trace that was seen keeps to a learned rule, so how often new ones will not has to be estimated. For rules of a
family (an argument is given, an argument has its types, a tool comes before another) the rates of exceptions are taken
to be drawn from one distribution, which is fitted to all candidates of the family, those with exceptions too, by
expectation maximization on a grid (empirical Bayes: Robbins, 1956). The expected rate of a rule without exceptions
follows from its support. Rules are taken in the order of their support, as long as the new traces that they are
expected to fail stay within the family's share of one in a hundred.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from passmuster.api._observed_traces import ArgumentFacts, Observed, ToolFacts

FEW = 6
"""Fewer traces tell nothing about new ones: what they agree on is asked, to be read and corrected."""
MOST_NEW_TOOLS = 0.005
"""The share of new traces that may call a tool which is not on the allowlist."""
_LIKELY = 3
"""How many traces have to agree on what a run is only warned of."""
_RATES = (0.0, 0.003, 0.01, 0.03, 0.06, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0)
_ROUNDS = 30


class Family(Struct, frozen=True):
    """A family of rules: the share of new traces it may fail, and how many candidates count as known beforehand."""

    budget: float
    kept: float
    """So many without exceptions: tools have schemas, orders seldom have a reason."""
    broken: float
    """So many for each other rate."""


_TYPES = Family(0.0015, kept=4.0, broken=0.015)
_REQUIRED = Family(0.0015, kept=3.0, broken=0.05)
_ORDER = Family(0.003, kept=0.5, broken=0.1)
_UNSEEN_TOOLS = 0.1
"""Added to the tools that may not have been seen yet, as if one agent in four had a rare one more."""


class LearnedArgument(Struct, frozen=True):
    """What all traces agree on about one argument, and whether they are enough to fail a run for it."""

    name: str
    types: tuple[str, ...]
    typed: bool
    """Whether another type fails."""
    always: bool
    """Whether every call has it."""
    required: bool
    """Whether a call without it fails."""
    facts: ArgumentFacts


class LearnedTool(Struct, frozen=True):
    """What the traces tell about the arguments of one tool."""

    name: str
    facts: ToolFacts
    arguments: tuple[LearnedArgument, ...] = ()


class LearnedOrder(Struct, frozen=True):
    """Tools that have to come before another."""

    firsts: tuple[str, ...]
    then: str
    support: int


class Learned(Struct, frozen=True):
    """What traces bear out."""

    tools: tuple[LearnedTool, ...]
    order: tuple[LearnedOrder, ...]
    likely_order: tuple[LearnedOrder, ...]
    """What all traces agree on too, but too few to fail a run for it."""
    required_tools: tuple[str, ...]
    """Called in every trace."""
    new_tools: float
    """The share of new traces that are expected to call a tool no trace has."""
    traces_for_tools: int
    """How many traces it takes to block other tools, if no new ones come up; 0 where these are enough."""


def learn(observed: Observed) -> Learned:
    """The rules that the traces bear out."""
    traces = observed.traces
    types = _least_support(_TYPES, _type_candidates(observed), traces)
    required = _least_support(_REQUIRED, _required_candidates(observed), traces)
    tools = tuple(_learned_tool(name, facts, types, required) for name, facts in sorted(observed.tools.items()))
    enough = _least_support(_ORDER, _order_candidates(observed), traces)
    order, likely = _orders(observed, enough)
    everywhere = tuple(name for name, facts in sorted(observed.tools.items()) if facts.traces == traces >= _LIKELY)
    unseen = _unseen(observed)
    new_tools = 0.0 if traces < FEW else unseen / traces
    needed = math.ceil(unseen / MOST_NEW_TOOLS) if new_tools > MOST_NEW_TOOLS else 0
    return Learned(tools, order, likely, everywhere, new_tools, needed)


def _unseen(observed: Observed) -> float:
    """How many of as many new traces are expected to call a tool that was not seen.

    As many as would, on average, where the same number of traces is drawn again from an agent that calls each tool as
    often as seen; and a few more, for tools that such an agent would not have.
    """
    traces = observed.traces
    seen = (facts.traces for facts in observed.tools.values())
    return sum(count * (1 - count / traces) ** traces for count in seen) + _UNSEEN_TOOLS


Candidates = Mapping[tuple[int, int], float]
"""How many candidates for a rule there are by their support and, of it, the exceptions."""


def _least_support(family: Family, candidates: Candidates, traces: int) -> float:
    """The support from which on candidates without exceptions are rules."""
    if traces < FEW:
        return 1
    weights = _fitted(family, candidates)
    spent = 0.0
    least = math.inf
    for support, count in sorted(((one[0], n) for one, n in candidates.items() if one[1] == 0), reverse=True):
        spent += count * support / traces * _expected_rate(weights, support)
        if spent > family.budget:
            break
        least = support
    return least


def _fitted(family: Family, candidates: Candidates) -> tuple[float, ...]:
    """How common each rate of exceptions is in the family."""
    prior = [family.kept, *[family.broken] * (len(_RATES) - 1)]
    weights = [one / sum(prior) for one in prior]
    for _ in range(_ROUNDS):
        found = list(prior)
        for (support, exceptions), count in candidates.items():
            fits = [
                weight * rate**exceptions * (1 - rate) ** (support - exceptions)
                for weight, rate in zip(weights, _RATES, strict=True)
            ]
            if (total := sum(fits)) > 0:
                for index, fit in enumerate(fits):
                    found[index] += count * fit / total
        weights = [one / sum(found) for one in found]
    return tuple(weights)


def _expected_rate(weights: tuple[float, ...], support: int) -> float:
    """The expected rate of exceptions of a rule that has none in so many traces."""
    fits = [weight * (1 - rate) ** support for weight, rate in zip(weights, _RATES, strict=True)]
    return sum(fit * rate for fit, rate in zip(fits, _RATES, strict=True)) / sum(fits)


def _clear(observed: Observed) -> Iterable[ToolFacts]:
    return (facts for facts in observed.tools.values() if facts.unclear is None)


def _required_candidates(observed: Observed) -> Candidates:
    return Counter(
        (facts.traces, facts.traces - argument.always)
        for facts in _clear(observed)
        for argument in facts.arguments.values()
    )


def _type_candidates(observed: Observed) -> Candidates:
    """For each argument, how often it has another type than its usual one."""
    return Counter(
        (argument.given, argument.given - max(argument.types.values()))
        for facts in _clear(observed)
        for argument in facts.arguments.values()
    )


def _order_candidates(observed: Observed) -> Candidates:
    return Counter(
        (observed.tools[then].traces, observed.tools[then].traces - seen)
        for (first, then), seen in observed.earlier.items()
        if first != then
    )


def _learned_tool(name: str, facts: ToolFacts, types: float, required: float) -> LearnedTool:
    if facts.unclear is not None:
        return LearnedTool(name, facts)
    arguments = []
    for argument, one in facts.arguments.items():
        always = one.always == facts.traces
        is_required = always and facts.traces >= required
        arguments.append(
            LearnedArgument(argument, tuple(sorted(one.types)), one.given >= types, always, is_required, one)
        )
    return LearnedTool(name, facts, tuple(arguments))


def _orders(observed: Observed, enough: float) -> tuple[tuple[LearnedOrder, ...], tuple[LearnedOrder, ...]]:
    """What always came first, with enough support and with less."""
    always: dict[str, set[str]] = {}
    for (first, then), seen in observed.earlier.items():
        if first != then and seen == observed.tools[then].traces:
            always.setdefault(then, set()).add(first)
    told = [LearnedOrder(firsts, then, observed.tools[then].traces) for then, firsts in _without_consequences(always)]
    order = tuple(one for one in told if one.support >= enough)
    return order, tuple(one for one in told if _LIKELY <= one.support < enough)


def _without_consequences(always: dict[str, set[str]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Without what follows from the rest: a before b and b before c say a before c."""
    for then, firsts in sorted(always.items()):
        told = {first for first in firsts if not any(first in always.get(other, ()) for other in firsts)}
        yield then, tuple(sorted(told))
