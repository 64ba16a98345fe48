"""MLflow: `mlflow.spanType`, `mlflow.spanInputs`, `mlflow.spanOutputs`, each written as JSON."""

from __future__ import annotations

from passmuster.traces.spans._facts import Facts, Kind, fill
from passmuster.traces.spans._messages import conversation
from passmuster.traces.spans._span import Span
from passmuster.traces.spans._values import arguments_of, first, opened, text
from passmuster.traces.spans.dialects.langfuse import add_usage
from passmuster.traces.spans.dialects.openinference import state

HEADS = frozenset({"mlflow"})

_KINDS: dict[str, Kind] = {
    "CHAT_MODEL": "model",
    "LLM": "model",
    "TOOL": "tool",
    "AGENT": "agent",
    **dict.fromkeys(("CHAIN", "RETRIEVER", "EMBEDDING", "PARSER", "RERANKER", "MEMORY", "UNKNOWN", "WORKFLOW"), "step"),
    **dict.fromkeys(("TASK", "GUARDRAIL", "EVALUATOR"), "step"),
}


def add(span: Span, facts: Facts) -> None:
    """Read a span of MLflow."""
    attributes = span.attributes
    kind = _KINDS.get(str(opened(attributes.get("mlflow.spanType"))), "")
    if not kind:
        return
    facts.kind = kind
    given, made = opened(attributes.get("mlflow.spanInputs")), opened(attributes.get("mlflow.spanOutputs"))
    if kind == "model":
        fill(facts, model=text(opened(attributes.get("model"))))
        add_usage(opened(attributes.get("mlflow.chat.tokenUsage")), facts)
        if isinstance(made, dict):
            fill(facts, response_id=text(made.get("id")), model=text(made.get("model")))
            add_usage(first(made, ("usage", "usage_metadata")), facts)
        if isinstance(given, dict):
            fill(facts, model=text(given.get("model")))
        facts.given = given
        if made is not None:
            facts.outputs = conversation(made, "assistant") or None
    elif kind == "tool":
        fill(facts, tool=span.name)
        if given is not None:
            facts.arguments = arguments_of(given)
        if made is not None:
            facts.result = made
    else:
        if kind == "agent":
            fill(facts, agent=span.name)
        state(facts, given, made)
