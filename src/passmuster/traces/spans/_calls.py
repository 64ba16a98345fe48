"""Tool calls, each once: what a model asked for, what was executed, and what came back belong together."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import UNSET, Struct, field

from passmuster.traces.spans._tree import Node
from passmuster.traces.spans._turns import Request, Turn

_LATE = 50_000_000
"""Nanoseconds by which clocks of spans may differ."""


class Execution(Struct, eq=False):
    """A tool at work: one span, or several that record the same. What the first of them states counts."""

    node: Node
    """The first span."""
    tool: str
    certain: bool = True
    """False for an agent that is a tool only if a model asked for it."""
    nodes: list[Node] = field(default_factory=list)
    id: str | None = None
    result: Any = UNSET
    error: str | None = None
    request: Request | None = None

    def add(self, node: Node) -> None:
        """Take a span as one that records this execution."""
        facts = node.facts
        self.nodes.append(node)
        self.id = self.id or facts.call_id
        self.error = self.error or facts.error
        if self.result is UNSET:
            self.result = facts.result

    @property
    def arguments(self) -> Any:
        """None where they are not recorded. They are read when they are asked for."""
        for node in self.nodes:
            if node.facts.arguments is not UNSET:
                return node.facts.arguments
        return None


@lru_cache(4096)
def folded(name: str) -> str:
    """A tool's name without what frameworks change in it: case and signs."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def canonical(arguments: Any) -> bytes:
    """Arguments as bytes that are equal if they are."""
    try:
        return msgspec.json.encode(_plain(arguments), order="deterministic")
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return repr(arguments).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53 else value


def executions_of(nodes: list[Node], turns: list[Turn]) -> list[Execution]:
    """The tools that ran, in the order they began."""
    asked: set[str] | None = None
    found: list[Execution] = []
    by_node: dict[int, Execution] = {}
    by_id: dict[str, list[Execution]] = {}
    for node in nodes:
        facts = node.facts
        certain = facts.kind == "tool" and bool(facts.tool or node.span.name)
        if not certain:
            if facts.read_as_tool is None or node.parent is None:
                continue
            if asked is None:
                asked = {folded(request.asked.tool) for turn in turns for request in turn.requests}
            if not _is_asked_for(node, asked, by_node):
                continue
        known = _around(node, by_node) or _beside(node, by_id)
        if known is None:
            if facts.is_part:
                continue
            known = Execution(node, facts.tool or node.span.name.removeprefix("execute_tool "), certain)
            found.append(known)
        known.add(node)
        by_node[id(node)] = known
        if facts.call_id:
            same = by_id.setdefault(facts.call_id, [])
            if known not in same:
                same.append(known)
    return found


def _is_asked_for(node: Node, asked: set[str], known: dict[int, Execution]) -> bool:
    """Whether a span of another kind may be a tool: a model asked for one of its name, which no other span records."""
    facts = node.facts
    if facts.read_as_tool is None:
        return False
    name = next((one for one in (node.span.name, facts.agent) if one and folded(one) in asked), None)
    around = {folded(known[id(one)].tool) for one in node.ancestors() if id(one) in known}
    if name is None or folded(name) in around:
        return False
    facts.read_as_tool()
    if not isinstance(facts.arguments, dict) or "messages" in facts.arguments:
        return False
    facts.tool = name
    return True


def _around(node: Node, known: dict[int, Execution]) -> Execution | None:
    """The execution that a span repeats from inside."""
    outer = known.get(id(node.nearest(("model", "agent"), known))) if known else None
    return outer if outer is not None and (node.facts.is_part or _same_call(outer, node)) else None


def _beside(node: Node, known: dict[str, list[Execution]]) -> Execution | None:
    """The execution with the same id that was going on at the same time."""
    for one in known.get(node.facts.call_id, ()) if node.facts.call_id else ():
        overlap = one.node.start <= node.end and node.start <= one.node.end
        if overlap and node.start and _same_call(one, node):
            return one
    return None


def _same_call(outer: Execution, node: Node) -> bool:
    facts = node.facts
    if facts.call_id and outer.id and facts.call_id != outer.id:
        return False
    if folded(outer.tool) != folded(facts.tool or node.span.name):
        return bool(facts.call_id and outer.id)
    known = outer.arguments
    return known is None or not facts.known(facts.arguments) or canonical(known) == canonical(facts.arguments)
