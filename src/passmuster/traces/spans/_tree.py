"""The spans of one trace as a tree, each with its facts."""

from __future__ import annotations

from collections.abc import Container, Iterator

from msgspec import Struct

from passmuster.traces.spans._facts import Facts, Kind
from passmuster.traces.spans._reading_facts import facts_of
from passmuster.traces.spans._span import Span

_DEEPEST = 200


class Node(Struct, eq=False):
    """A span in its tree."""

    span: Span
    facts: Facts
    start: int
    end: int
    parent: Node | None = None

    def ancestors(self) -> Iterator[Node]:
        """The spans that it ran inside, the nearest first."""
        above, levels = self.parent, 0
        while above is not None and levels < _DEEPEST:
            yield above
            above, levels = above.parent, levels + 1

    @property
    def depth(self) -> int:
        return sum(1 for _ in self.ancestors())

    @property
    def agent(self) -> str | None:
        """The agent that did this: its own statement, else that of the nearest agent around it."""
        if self.facts.agent is not None:
            return self.facts.agent
        above, levels = self.parent, 0
        while above is not None and levels < _DEEPEST:
            facts = above.facts
            if facts.inner_agent:
                return facts.inner_agent
            if facts.agent and (facts.kind == "agent" or facts.kind == "step"):
                return facts.agent
            above, levels = above.parent, levels + 1
        return None

    def outer_call(self) -> str | None:
        """The id of the tool call that this ran inside."""
        above, levels = self.parent, 0
        while above is not None and levels < _DEEPEST:
            facts = above.facts
            if facts.kind == "tool" and facts.call_id:
                return facts.call_id
            above, levels = above.parent, levels + 1
        return None

    def nearest(self, kinds: tuple[Kind, ...], known: Container[int] = ()) -> Node | None:
        """The nearest span around this one that is of one of these kinds, or one of those whose `id` is known."""
        above, levels = self.parent, 0
        while above is not None and levels < _DEEPEST:
            if above.facts.kind in kinds or id(above) in known:
                return above
            above, levels = above.parent, levels + 1
        return None

    def agent_node(self) -> Node | None:
        """The agent's span that this is part of."""
        return self.nearest(("agent",))


def tree_of(spans: list[Span]) -> list[Node]:
    """The spans of one trace in the order they began, each with its parent."""
    nodes = [Node(span, facts_of(span), span.start, span.end) for span in sorted(_once(spans), key=_began)]
    by_id: dict[str, Node] = {}
    late: list[Node] = []
    for node in nodes:
        span = node.span
        if span.parent_id:
            above = by_id.get(span.parent_id)
            if above is None:
                late.append(node)
            else:
                node.parent = above
        if span.span_id:
            by_id[span.span_id] = node
    for node in late:  # whose parents begin later, or are not there
        above = by_id.get(node.span.parent_id)
        if above is not None and above is not node and not _is_below(above, node):
            node.parent = above
    if not by_id:
        _nest_by_time(nodes)
    names = {facts.agent for node in nodes if (facts := node.facts).kind == "agent" and facts.agent}
    if len(names) == 1:
        (only,) = names
        for node in nodes:
            facts = node.facts
            if facts.agent is None and facts.kind in ("model", "tool") and node.agent is None:
                facts.agent = only
    return nodes


def _nest_by_time(nodes: list[Node]) -> None:
    """For spans without ids: each lies inside the shortest one that was going on all the time."""
    open_: list[Node] = []
    for node in nodes:
        while open_ and open_[-1].end < node.end:
            open_.pop()
        if open_ and node.start:
            node.parent = open_[-1]
        open_.append(node)


def _is_below(node: Node, other: Node) -> bool:
    """Whether a span already lies inside another: parents that form a ring are damage."""
    return any(one is other for one in node.ancestors())


def _began(span: Span) -> tuple[int, int, str]:
    return span.start, -span.end, span.span_id


def _once(spans: list[Span]) -> list[Span]:
    """Each span once: an exporter may send one again; the one with more attributes counts."""
    ids = {span.span_id for span in spans}
    if len(ids) == len(spans) and "" not in ids:
        return spans
    kept: dict[tuple[str, str], Span] = {}
    nameless: list[Span] = []
    for span in spans:
        if not span.span_id:
            nameless.append(span)
            continue
        key = span.span_id, span.name
        known = kept.get(key)
        if known is None or len(span.attributes) > len(known.attributes):
            kept[key] = span
    return [*kept.values(), *nameless]
