"""litellm: what it sent and received, as Python shows it, under `llm.PROVIDER.*`."""

from __future__ import annotations

from passmuster.traces.spans._facts import Facts, fill
from passmuster.traces.spans._messages import conversation
from passmuster.traces.spans._span import Span
from passmuster.traces.spans._values import opened, text
from passmuster.traces.spans.dialects.langfuse import add_usage

HEADS = frozenset({"llm"})


def add(span: Span, facts: Facts) -> None:
    """Read the raw request and response of a model call."""
    if facts.kind or span.name != "raw_gen_ai_request":
        return
    attributes = span.attributes
    facts.kind = "model"
    found = {key.rpartition(".")[2]: value for key, value in attributes.items() if key.count(".") == 2}
    fill(facts, model=text(found.get("model")), response_id=text(found.get("id")))
    add_usage(opened(found.get("usage")), facts)
    facts.given = found.get("messages")
    for name in ("choices", "content", "output"):
        made = opened(found.get(name))
        if isinstance(made, list):
            facts.outputs = conversation({name: made}, "assistant") or None
