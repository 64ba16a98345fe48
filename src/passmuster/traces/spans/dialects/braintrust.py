"""Braintrust: `braintrust.*`, each written as JSON."""

from __future__ import annotations

from passmuster.traces.spans._facts import Facts, Kind, fill
from passmuster.traces.spans._messages import conversation
from passmuster.traces.spans._span import Span
from passmuster.traces.spans._values import arguments_of, first, opened, text
from passmuster.traces.spans.dialects.langfuse import add_usage
from passmuster.traces.spans.dialects.openinference import state

HEADS = frozenset({"braintrust"})

_KINDS: dict[str, Kind] = {
    "llm": "model",
    "tool": "tool",
    **dict.fromkeys(("task", "function", "eval", "score", "automation", "preprocessor"), "step"),
}


def add(span: Span, facts: Facts) -> None:
    """Read a span that states its type."""
    attributes = span.attributes
    about = opened(attributes.get("braintrust.span_attributes"))
    kind = _KINDS.get(str(about.get("type")), "") if isinstance(about, dict) else ""
    if not kind:
        return
    facts.kind = facts.kind or kind
    given = opened(first(attributes, ("braintrust.input_json", "braintrust.input")))
    made = opened(first(attributes, ("braintrust.output_json", "braintrust.output")))
    if facts.kind == "model":
        more = opened(attributes.get("braintrust.metadata"))
        fill(facts, model=text(more.get("model")) if isinstance(more, dict) else None)
        add_usage(opened(attributes.get("braintrust.metrics")), facts)
        facts.given = given
        if made is not None:
            facts.outputs = conversation(made, "assistant") or None
    elif facts.kind == "tool":
        fill(facts, tool=text(about.get("name")) or span.name)
        if given is not None:
            facts.arguments = arguments_of(given)
        if made is not None:
            facts.result = made
    else:
        state(facts, given, made)
