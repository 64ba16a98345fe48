"""What is asked of an agent after its traces: only what enough traces bear out.

How many are enough is measured. A rule that all traces but one bear out would have failed that one, had it not been
seen; the least support is chosen so that hardly any trace would have been failed in this way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from passmuster.api._observed_traces import ArgumentFacts, Observed, ToolFacts

_BUDGET = 0.003
"""The share of unseen traces that each family of rules may fail; one in a hundred may fail altogether."""
_CAUTION = 1.5
"""How much more support a rule needs than one that has an exception."""
_MOST_UNKNOWN_TOOLS = 0.01
_FEW = 30
"""Fewer traces than this cannot tell a rule from chance: what they show is asked, to be read and corrected."""


class NearRule(Struct, frozen=True):
    """A rule that all traces it is about bear out but one."""

    support: int
    exception: int
    """The number of that trace."""


class LearnedArgument(Struct, frozen=True):
    """What is asked of one argument."""

    name: str
    types: tuple[str, ...]
    always: bool
    """Whether every call has it."""
    required: bool
    """Whether enough calls have it to ask for it."""
    facts: ArgumentFacts


class LearnedTool(Struct, frozen=True):
    """What is asked of the arguments of one tool; those that too few traces have are told apart."""

    name: str
    facts: ToolFacts
    asked: tuple[LearnedArgument, ...] = ()
    rare: tuple[LearnedArgument, ...] = ()


class LearnedOrder(Struct, frozen=True):
    """Tools that have to come before another."""

    firsts: tuple[str, ...]
    then: str
    support: int


class Learned(Struct, frozen=True):
    """What traces bear out."""

    tools: tuple[LearnedTool, ...]
    order: tuple[LearnedOrder, ...]
    required_tools: tuple[str, ...]
    """Called in every trace."""
    unknown_tools_rate: float
    """The share of traces that use a tool no other trace does: about as many new ones will bring a new tool."""

    @property
    def tools_are_complete(self) -> bool:
        """Whether hardly any new trace will bring a tool that was not seen."""
        return self.unknown_tools_rate <= _MOST_UNKNOWN_TOOLS


def learn(observed: Observed) -> Learned:
    """The rules that the traces bear out."""
    traces = observed.traces
    few = traces < _FEW
    types = _least_support(_near_types(observed), traces, 1 if few else 3)
    required = _least_support(_near_required(observed), traces, (1 if traces < 10 else 2) if few else 20)
    tools = tuple(_learned_tool(name, facts, types, required) for name, facts in sorted(observed.tools.items()))
    least = 3 if few else min(20, max(12, traces // 10))
    order = _least_support(_near_orders(observed), traces, least)
    alone = {facts.seen.numbers for facts in observed.tools.values() if facts.seen.traces == 1}
    everywhere = (
        name for name, facts in sorted(observed.tools.items()) if facts.seen.traces == traces and traces >= least
    )
    return Learned(tools, tuple(_orders(observed, order)), tuple(everywhere), len(alone) / max(1, traces))


def _least_support(near: Iterable[NearRule], traces: int, least: int) -> float:
    """The support from which on so few traces would have been failed unseen."""
    failed: set[int] = set()
    for one in sorted(near, key=lambda one: one.support, reverse=True):
        failed.add(one.exception)
        if len(failed) > _BUDGET * traces:
            return max(least, one.support * _CAUTION)
    return least


def _near_required(observed: Observed) -> Iterator[NearRule]:
    for facts in observed.tools.values():
        for argument in facts.arguments.values() if facts.unclear is None else ():
            if (lacking := facts.seen.without(argument.always)) is not None:
                yield NearRule(facts.seen.traces - 1, lacking)


def _near_types(observed: Observed) -> Iterator[NearRule]:
    for facts in observed.tools.values():
        for argument in facts.arguments.values() if facts.unclear is None else ():
            for seen in argument.types.values():
                if seen.traces == 1 and argument.given.traces > 1:
                    yield NearRule(argument.given.traces - 1, seen.numbers)


def _learned_tool(name: str, facts: ToolFacts, types: float, required: float) -> LearnedTool:
    if facts.unclear is not None:
        return LearnedTool(name, facts)
    asked: list[LearnedArgument] = []
    rare: list[LearnedArgument] = []
    for argument, one in facts.arguments.items():
        always = one.always.traces == facts.seen.traces
        learned = LearnedArgument(
            argument, tuple(sorted(one.types)), always, always and facts.seen.traces >= required, one
        )
        (asked if one.given.traces >= types else rare).append(learned)
    return LearnedTool(name, facts, tuple(asked), tuple(rare))


def _near_orders(observed: Observed) -> Iterator[NearRule]:
    for (first, then), seen in observed.earlier.items():
        if first != then and (exception := observed.tools[then].seen.without(seen)) is not None:
            yield NearRule(observed.tools[then].seen.traces - 1, exception)


def _orders(observed: Observed, enough: float) -> Iterator[LearnedOrder]:
    """What always came first, without what follows from the rest: a before b and b before c say a before c."""
    always: dict[str, set[str]] = {}
    for (first, then), seen in observed.earlier.items():
        support = observed.tools[then].seen.traces
        if first != then and seen.traces == support >= enough:
            always.setdefault(then, set()).add(first)
    for then, firsts in sorted(always.items()):
        told = {first for first in firsts if not any(first in always.get(other, ()) for other in firsts)}
        yield LearnedOrder(tuple(sorted(told)), then, observed.tools[then].seen.traces)
