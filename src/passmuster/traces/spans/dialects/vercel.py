"""Vercel's AI SDK: `ai.*`."""

from __future__ import annotations

from passmuster.traces.spans._facts import Facts, fill
from passmuster.traces.spans._messages import conversation
from passmuster.traces.spans._said import Said
from passmuster.traces.spans._span import Span
from passmuster.traces.spans._values import arguments_of, first, opened, text, whole
from passmuster.traces.spans.dialects.openinference import state

HEADS = frozenset({"ai"})


def add(span: Span, facts: Facts) -> None:
    """Read a span of the AI SDK, versions 4 to 6."""
    attributes = span.attributes
    operation = str(first(attributes, ("ai.operationId", "operation.name")) or span.name).split(" ")[0]
    if operation == "ai.toolCall":
        facts.kind = "tool"
        fill(facts, tool=text(attributes.get("ai.toolCall.name")), call_id=text(attributes.get("ai.toolCall.id")))
        given = first(attributes, ("ai.toolCall.args", "ai.toolCall.input"))
        made = first(attributes, ("ai.toolCall.result", "ai.toolCall.output"))
        if given is not None:
            facts.arguments = arguments_of(given)
        if made is not None:
            facts.result = made
    elif operation.endswith((".doGenerate", ".doStream")):
        facts.kind = "model"
        fill(
            facts,
            model=text(first(attributes, ("ai.response.model", "ai.model.id"))),
            response_id=text(attributes.get("ai.response.id")),
            tokens_in=whole(first(attributes, ("ai.usage.inputTokens", "ai.usage.promptTokens"))),
            tokens_out=whole(first(attributes, ("ai.usage.outputTokens", "ai.usage.completionTokens"))),
            tokens_cached=whole(attributes.get("ai.usage.cachedInputTokens")),
        )
        facts.given = first(attributes, ("ai.prompt.messages", "ai.prompt"))
        said = Said("assistant", text(first(attributes, ("ai.response.text", "ai.response.object"))))
        said.calls = [call for one in conversation(_calls(attributes), "assistant") for call in one.calls]
        if said.text is not None or said.calls or "ai.response.finishReason" in attributes:
            facts.outputs = [said]
    elif operation.startswith("ai.") and "embed" not in operation:
        facts.kind = "agent"
        fill(facts, agent=text(first(attributes, ("ai.telemetry.functionId", "resource.name"))))
        state(facts, attributes.get("ai.prompt"), first(attributes, ("ai.response.text", "ai.response.object")))
    else:
        facts.kind = facts.kind or "step"


def _calls(attributes: dict[str, object]) -> object:
    calls = opened(attributes.get("ai.response.toolCalls"))
    return (
        [{"type": "tool-call", **call} for call in calls if isinstance(call, dict)] if isinstance(calls, list) else None
    )
