"""Model calls, each once, however many spans repeat it."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

from msgspec import Struct, field

from passmuster.traces.spans._said import Asked, Said
from passmuster.traces.spans._tree import Node

_LONG_ID = 16
"""From this length on, an id of a call is taken to be unique in the world."""


class Request(Struct, eq=False):
    """A tool call that a model asked for."""

    asked: Asked
    turn: Turn
    aliases: frozenset[str] = frozenset()
    """Other ids under which messages speak of it."""

    def goes_by(self, identity: str) -> bool:
        return identity == self.asked.id or identity in self.aliases


class Turn(Struct, eq=False):
    """One model call."""

    node: Node
    """The innermost span that records it."""
    nodes: list[Node]
    """All of them, the innermost first."""
    start: int
    end: int
    outputs: list[Said] | None
    """What the model answered, from the span that has most of it."""
    requests: list[Request] = field(default_factory=list)
    overwritten: bool = False
    """Whether its span stands for several model calls, of which only the last is recorded."""

    @property
    def inputs(self) -> list[Said]:
        """What the model was given, from the span that has most of it."""
        return max((node.facts.inputs for node in self.nodes), key=len)

    @property
    def agent(self) -> str | None:
        for node in self.nodes:
            if name := node.agent:
                return name
        return None


def _richness(said: list[Said]) -> tuple[int, int, int, int]:
    calls = [call for one in said for call in one.calls]
    named = sum(1 for call in calls if call.id)
    return len(calls), named, sum(1 for call in calls if call.arguments is not None), sum(1 for one in said if one.text)


def turns_of(nodes: list[Node]) -> list[Turn]:
    """The model calls of a run in the order they began."""
    models = [node for node in nodes if node.facts.kind == "model"]
    models = list(filter(_says_something, models)) or models
    groups = _Groups(models)
    wrappers = _join_nested(models, groups)
    groups.join_equal(lambda node: node.facts.response_id)
    groups.join_equal(_call_ids)
    if len({node.span.scope for node in models}) > 1:
        _join_repeated(models, groups)
    turns = [_turn(group) for group in groups.found(wrappers)]
    turns.sort(key=attrgetter("start", "end"))
    around_tools = {id(node.parent) for node in nodes if node.facts.kind == "tool"}
    for turn in turns:
        asked = [call for one in turn.outputs or () for call in one.calls]
        if not asked:
            continue
        if not around_tools.isdisjoint(map(id, turn.nodes)):
            asked = _not_repeated(asked, turn)
        turn.requests = [Request(call, turn) for call in asked]
    return turns


def _not_repeated(asked: list[Asked], turn: Turn) -> list[Asked]:
    """The calls of an answer that the model was not given already.

    Some instrumentations write all model calls of an agent to one span, where what earlier ones asked for remains.
    """
    given = {call.id for one in turn.inputs for call in one.calls if call.id}
    kept = [call for call in asked if call.id is None or call.id not in given]
    turn.overwritten = len(kept) < len(asked)
    return kept


def _turn(nodes: list[Node]) -> Turn:
    if len(nodes) == 1:
        (node,) = nodes
        return Turn(node, nodes, node.start, node.end, node.facts.outputs)
    nodes = sorted(nodes, key=lambda node: (-node.depth, node.end - node.start))
    known = [node.facts.outputs for node in nodes if node.facts.outputs is not None]
    outputs = max(known, key=_richness) if known else None
    return Turn(nodes[0], nodes, min(node.start for node in nodes), max(node.end for node in nodes), outputs)


def _says_something(node: Node) -> bool:
    """Whether a span records a call of a model, not just the preparation of one."""
    facts = node.facts
    return (
        facts.tokens_in is not None
        or facts.tokens_out is not None
        or bool(facts.outputs)
        or facts.response_id is not None
        or node.span.failed
    )


def _call_ids(node: Node) -> frozenset[str] | None:
    """The ids of the calls in a model's answer, where they are unique in the world."""
    asked = [call.id for one in node.facts.outputs or () for call in one.calls]
    ids: set[str] = set()
    for identity in asked:
        if not identity or len(identity) < _LONG_ID:
            return None
        ids.add(identity)
    return frozenset(ids) if ids and len(ids) == len(asked) else None


class _Groups:
    """Spans that record the same model call."""

    def __init__(self, nodes: list[Node]) -> None:
        self._nodes = nodes
        self._joined: dict[int, Node] = {}
        """For the spans that were joined to another: that one."""

    def head(self, node: Node) -> Node:
        while (other := self._joined.get(id(node))) is not None:
            node = other
        return node

    def join(self, one: Node, other: Node) -> None:
        first, second = self.head(one), self.head(other)
        if first is not second:
            self._joined[id(first)] = second

    def join_equal(self, key: Callable[[Node], object]) -> None:
        """Join the spans with the same key."""
        known: dict[object, Node] = {}
        for node in self._nodes:
            if (found := key(node)) is not None:
                first = known.setdefault(found, node)
                if first is not node:
                    self.join(node, first)

    def found(self, without: list[Node]) -> list[list[Node]]:
        if not self._joined and not without:
            return [[node] for node in self._nodes]
        groups: dict[int, list[Node]] = {}
        left_out = {id(node) for node in without}
        for node in self._nodes:
            if id(node) not in left_out:
                groups.setdefault(id(self.head(node)), []).append(node)
        return list(groups.values())


def _join_nested(models: list[Node], groups: _Groups) -> list[Node]:
    """Join a model's span with the one model span inside it; those with several inside are returned, and no calls."""
    inside: dict[int, list[Node]] = {}
    for node in models:
        above = node.nearest(("model", "agent", "tool"))
        if above is not None and above.facts.kind == "model":
            inside.setdefault(id(above), []).append(node)
    wrappers: list[Node] = []
    if not inside:
        return wrappers
    for node in models:
        inner = inside.get(id(node), [])
        ids = {one.facts.response_id for one in inner}
        if len(inner) == 1 or (len(ids) == 1 and None not in ids):
            for one in inner:
                groups.join(one, node)
        elif inner:
            wrappers.append(node)
            if not any(one.facts.outputs for one in inner):
                inner[-1].facts.outputs = node.facts.outputs
    return wrappers


def _join_repeated(models: list[Node], groups: _Groups) -> None:
    """Join two instrumentations' spans of one call that stand side by side, one within the time of the other."""
    for place, node in enumerate(models):
        for other in models[place + 1 : place + 4]:
            if other.start > node.end:
                break
            if (
                other.end <= node.end
                and other.span.scope != node.span.scope
                and other.parent is node.parent
                and _agree(node, other)
            ):
                groups.join(other, node)


def _agree(one: Node, other: Node) -> bool:
    first, second = one.facts, other.facts
    if first.response_id and second.response_id:
        return first.response_id == second.response_id
    if not one.start or not (first.tokens_in is not None and first.tokens_in == second.tokens_in):
        return False
    return not (_call_ids(one) and _call_ids(other) and _call_ids(one) != _call_ids(other))
