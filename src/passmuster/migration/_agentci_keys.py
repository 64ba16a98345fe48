"""The keys of AgentCI's layers, and what becomes of keys in other places and of keys that nobody knows."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from passmuster._problems import did_you_mean
from passmuster.migration._draft import Draft, entries_of, made, rebuilt
from passmuster.suite import Entry, Mapping, Node, Scalar, Scenario, fields_of

_KEYS = {
    "correctness": (
        *("expected_in_answer", "any_expected_in_answer", "not_in_answer", "exact_match", "regex_match", "json_schema"),
        *("llm_judge", "safety_check", "hallucination_check", "refutes_premise"),
    ),
    "path": (
        *("expected_tools", "forbidden_tools", "expected_tool_sequence", "match_mode", "max_tool_calls", "max_loops"),
        *("min_tool_recall", "min_tool_precision", "min_sequence_similarity"),
        *("expected_handoff", "expected_handoffs_available", "max_handoff_count"),
    ),
    "cost": ("max_cost_multiplier", "max_total_tokens", "max_llm_calls", "max_latency_ms", "max_cost_usd"),
}
"""The keys of AgentCI's layers; `retrieval` has no key that would be known outside of it."""
_LAYERS = (*_KEYS, "retrieval")
_CHECKS = (*_LAYERS, "span_assertions")


def tidied(node: Mapping, draft: Draft) -> Mapping:
    """The same checks without what states nothing, each key in its layer."""
    found: dict[str, Any] = {}
    for entry in node:
        layer = next((name for name, keys in _KEYS.items() if entry.key in keys), None)
        if layer is not None:
            if entry.key in _stated(node.get(layer)):
                draft.note(entry, "ignored", f"'{entry.key}' checks nothing; '{layer}' states it")
                continue
            text = f"'{entry.key}' is checked as a part of '{layer}'; outside of it AgentCI passes over it"
            draft.note(entry, "changed", text)
            found[layer] = made({**_stated(found.get(layer, node.get(layer))), entry.key: entry.value}, entry)
        elif entry.key in _LAYERS and isinstance(entry.value, Mapping | Scalar):
            if isinstance(entry.value, Mapping):
                found[entry.key] = rebuilt(entry.value, {**_stated(entry.value), **entries_of(found.get(entry.key))})
            elif entry.value.value is not None:
                found[entry.key] = entry.value
        elif entry.key in _CHECKS or not passed_over(entry, fields_of(Scenario), draft):
            found[entry.key] = entry.value
    for layer in _LAYERS:
        if isinstance(found.get(layer), Mapping) and not entries_of(found[layer]):
            draft.note(found.pop(layer), "ignored", f"'{layer}' states nothing")
    return rebuilt(node, found)


def _stated(node: Node | None) -> dict[str, Node]:
    """The keys of a map, without those that are null: AgentCI's way to leave one out."""
    return {
        key: value for key, value in entries_of(node).items() if not (isinstance(value, Scalar) and value.value is None)
    }


def passed_over(entry: Entry, known: Collection[str], draft: Draft) -> bool:
    """Whether a key means nothing, there and here. One that looks misspelt is left to be refused."""
    if entry.key in known or did_you_mean(entry.key, known):
        return False
    draft.note(entry, "ignored", f"'{entry.key}' checks nothing; AgentCI does not know it")
    return True
