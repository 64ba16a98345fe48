"""The OpenAI Agents SDK's own traces: `span_data.type` and what belongs to it."""

from __future__ import annotations

from passmuster.traces.spans._facts import Facts, fill
from passmuster.traces.spans._messages import conversation
from passmuster.traces.spans._span import Span
from passmuster.traces.spans._values import arguments_of, opened, text
from passmuster.traces.spans.dialects.langfuse import add_usage

HEADS = frozenset({"span_data"})


def add(span: Span, facts: Facts) -> None:
    """Read the data of a span."""
    data = span.attributes["span_data"]
    if not isinstance(data, dict):
        return
    kind = data.get("type")
    if kind in ("response", "generation"):
        facts.kind = "model"
        fill(facts, model=text(data.get("model")), response_id=text(data.get("response_id")))
        add_usage(data.get("usage"), facts)
        given, made = data.get("input"), data.get("output")
        response = data.get("response")
        if made is None and isinstance(response, dict):
            made = response.get("output")
            fill(facts, response_id=text(response.get("id")), model=text(response.get("model")))
        facts.given = given
        if made is not None:
            facts.outputs = conversation(made, "assistant") or None
    elif kind == "function":
        facts.kind = "tool"
        fill(facts, tool=text(data.get("name")))
        if data.get("input") is not None:
            facts.arguments = arguments_of(data["input"])
        if data.get("output") is not None:
            facts.result = opened(data["output"])
    elif kind == "handoff":
        facts.kind = "handoff"
        fill(facts, agent=text(data.get("from_agent")), to=text(data.get("to_agent")))
    elif kind == "agent":
        facts.kind = "agent"
        fill(facts, agent=text(data.get("name")))
    else:
        facts.kind = "step"
