"""Tool calls, each once: what a model asked for, what was executed, and what came back belong together."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from passmuster.traces.spans._tree import Node
from passmuster.traces.spans._turns import Request, Turn

_LATE = 50_000_000
"""Nanoseconds by which clocks of spans may differ."""


class Execution(Struct, eq=False):
    """A tool at work: one span, or several that record the same."""

    nodes: list[Node]
    request: Request | None = None
    certain: bool = True
    """False for an agent that is a tool only if a model asked for it."""

    @property
    def node(self) -> Node:
        return self.nodes[0]

    @property
    def tool(self) -> str:
        facts = self.node.facts
        return facts.tool or self.node.span.name.removeprefix("execute_tool ")

    @property
    def id(self) -> str | None:
        for node in self.nodes:
            if node.facts.call_id:
                return node.facts.call_id
        return None

    @property
    def arguments(self) -> Any:
        """None where they are not recorded."""
        for node in self.nodes:
            if node.facts.arguments is not UNSET:
                return node.facts.arguments
        return None

    @property
    def result(self) -> Any:
        for node in self.nodes:
            if node.facts.result is not UNSET:
                return node.facts.result
        return UNSET

    @property
    def error(self) -> str | None:
        for node in self.nodes:
            if node.facts.error:
                return node.facts.error
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
        certain = node.facts.kind == "tool" and bool(node.facts.tool or node.span.name)
        if not certain:
            if node.facts.read_as_tool is None or node.parent is None:
                continue
            if asked is None:
                asked = {folded(request.asked.tool) for turn in turns for request in turn.requests}
            if not _is_asked_for(node, asked, by_node):
                continue
        known = _around(node, by_node) or _beside(node, by_id)
        if known is None and node.facts.is_part:
            continue
        if known is None:
            known = Execution([], certain=certain)
            found.append(known)
        known.nodes.append(node)
        by_node[id(node)] = known
        if node.facts.call_id:
            same = by_id.setdefault(node.facts.call_id, [])
            if not any(one is known for one in same):
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
    for above in node.ancestors():
        if above.facts.kind in ("model", "agent") and id(above) not in known:
            return None
        if id(above) in known:
            outer = known[id(above)]
            return outer if node.facts.is_part or _same_call(outer, node) else None
    return None


def _beside(node: Node, known: dict[str, list[Execution]]) -> Execution | None:
    """The execution with the same id that was going on at the same time."""
    for one in known.get(node.facts.call_id or "", ()):
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
