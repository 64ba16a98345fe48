"""Langfuse: `langfuse.observation.*`."""

from __future__ import annotations

from typing import Any

from passmuster.traces.spans._facts import Facts, Kind, failure, fill
from passmuster.traces.spans._messages import conversation
from passmuster.traces.spans._span import Span
from passmuster.traces.spans._values import amount, arguments_of, first, opened, text, whole
from passmuster.traces.spans.dialects.openinference import state

HEADS = frozenset({"langfuse"})

_OWN = "langfuse.observation."
_KINDS: dict[str, Kind] = {
    "generation": "model",
    "tool": "tool",
    "agent": "agent",
    **dict.fromkeys(("span", "event", "chain", "retriever", "embedding", "evaluator", "guardrail"), "step"),
}


def add(span: Span, facts: Facts) -> None:
    """Read an observation."""
    attributes = span.attributes
    kind = _KINDS.get(str(attributes.get(_OWN + "type")).lower(), "")
    if not kind:
        return
    facts.kind = kind
    given, made = attributes.get(_OWN + "input"), attributes.get(_OWN + "output")
    failed = attributes.get(_OWN + "level") == "ERROR"
    if kind == "model":
        fill(facts, model=text(attributes.get(_OWN + "model.name")))
        add_usage(opened(attributes.get(_OWN + "usage_details")), facts)
        costs = opened(attributes.get(_OWN + "cost_details"))
        fill(facts, cost=amount(costs.get("total")) if isinstance(costs, dict) else None)
        facts.given = given
        if made is not None:
            facts.outputs = conversation(made, "assistant") or None
    elif kind == "tool":
        fill(facts, tool=span.name)
        if given is not None:
            facts.arguments = arguments_of(given)
        if made is not None:
            facts.result = made
        if failed:
            fill(facts, error=text(attributes.get(_OWN + "status_message")) or failure(span) or "failed")
    else:
        if kind == "agent":
            fill(facts, agent=span.name)
        given = given if given is not None else attributes.get("langfuse.trace.input")
        made = made if made is not None else attributes.get("langfuse.trace.output")
        state(facts, given, made)


def add_usage(usage: Any, facts: Facts) -> None:
    """Tokens as OpenAI, Anthropic or Langfuse count them."""
    if not isinstance(usage, dict):
        return
    details = first(usage, ("prompt_tokens_details", "input_tokens_details", "input_token_details"))
    cached = first(usage, ("input_cached_tokens", "cache_read_input_tokens", "input_cache_read"))
    apart = usage.get("input_cached_tokens") if "input" in usage else None
    if cached is None and isinstance(details, dict):
        cached = first(details, ("cached_tokens", "cache_read"))
    given = whole(first(usage, ("prompt_tokens", "input_tokens", "input")))
    fill(
        facts,
        tokens_in=given if given is None or apart is None else given + (whole(apart) or 0),
        tokens_out=whole(first(usage, ("completion_tokens", "output_tokens", "output"))),
        tokens_cached=whole(cached),
    )
