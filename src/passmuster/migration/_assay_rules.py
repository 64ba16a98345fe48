"""Sequence rules and selectors of Assay in our words."""

from __future__ import annotations

from typing import Any

from passmuster.migration._draft import Draft, entries_of, items_of, made, text_of
from passmuster.suite import Mapping, Node, escape_glob

Aliases = dict[str, list[Node]]

_SELECTORS = ("tool", "first", "then", "trigger", "forbidden")


def aliases_of(policy: Mapping | None) -> Aliases:
    """The names that stand for several tools."""
    stated = policy.get("aliases") if policy is not None else None
    return {name: items_of(node) for name, node in entries_of(stated).items()}


def rules_of(node: Node | None, aliases: Aliases, draft: Draft) -> list[Node]:
    """Rules in our words; what is none of Assay's is left for our own reader to judge."""
    return [_rule(item, aliases, draft) for item in items_of(node)]


def sequence_rule(node: Node) -> Node:
    """A list of tools that are called in this order."""
    return made({"type": "sequence", "tools": items_of(node)}, node)


def _rule(node: Node, aliases: Aliases, draft: Draft) -> Node:
    stated = entries_of(node)
    kind = text_of(stated.get("type"))
    if not isinstance(node, Mapping) or not kind:
        return node
    found: dict[str, Any] = {
        key: _selector(value, aliases) if key in _SELECTORS else value for key, value in stated.items()
    }
    if kind == "blocklist" and "pattern" in found:
        found["tools"] = made([f"*{escape_glob(text_of(found.pop('pattern')))}*"], node)
    elif kind == "after" and "within" not in found:
        found["within"] = 1  # what Assay means by leaving it out
    elif kind == "sequence":
        found["tools"] = made([_selector(item, aliases) for item in items_of(stated.get("tools"))], node)
    elif kind == "before" and isinstance(found.get("first"), list):
        draft.note(node, "changed", "'before' holds with any tool of an alias there, here all of them are needed")
    return made(found, node)


def _selector(node: Node, aliases: Aliases) -> Any:
    """A tool, the tools that an alias stands for, or a tool with patterns for its arguments."""
    stated = entries_of(node)
    if "args_match" not in stated:
        return aliases.get(text_of(node)) or node
    patterns = {name: {"$regex": pattern} for name, pattern in entries_of(stated["args_match"]).items()}
    return made({"tool": stated.get("tool"), "args": patterns}, node)
