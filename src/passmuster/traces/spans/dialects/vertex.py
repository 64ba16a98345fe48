"""Google's Agent Development Kit: `gcp.vertex.agent.*`."""

from __future__ import annotations

from passmuster.traces.spans._facts import Facts, fill
from passmuster.traces.spans._messages import conversation
from passmuster.traces.spans._span import Span
from passmuster.traces.spans._values import arguments_of, opened, text, whole

HEADS = frozenset({"gcp"})

_OWN = "gcp.vertex.agent."


def add(span: Span, facts: Facts) -> None:
    """Read requests, responses and tool calls as ADK records them."""
    attributes = span.attributes
    request, response = opened(attributes.get(_OWN + "llm_request")), opened(attributes.get(_OWN + "llm_response"))
    if span.name == "call_llm" or (isinstance(response, dict) and response.get("content")):
        facts.kind = "model"
        if isinstance(request, dict) and request:
            facts.given = request.get("contents")
            fill(facts, model=text(request.get("model")))
        if isinstance(response, dict) and response:
            content = response.get("content")
            facts.outputs = conversation([content] if isinstance(content, dict) else content, "assistant") or None
            usage = response.get("usage_metadata")
            if isinstance(usage, dict):
                thoughts = whole(usage.get("thoughts_token_count")) or 0
                made = whole(usage.get("candidates_token_count"))
                fill(
                    facts,
                    tokens_in=whole(usage.get("prompt_token_count")),
                    tokens_out=None if made is None else made + thoughts,
                    tokens_cached=whole(usage.get("cached_content_token_count")),
                )
    if _OWN + "tool_call_args" in attributes and _OWN + "tool_response" in attributes:
        given, made = attributes[_OWN + "tool_call_args"], opened(attributes[_OWN + "tool_response"])
        if given not in ("N/A", "{}") or attributes.get("gen_ai.operation.name") == "execute_tool":
            if given != "N/A":
                facts.arguments = arguments_of(given)
            if made not in ("N/A", "<not specified>", {"result": "<not specified>"}):
                facts.result = made
            if isinstance(made, dict) and made.get("error"):  # how a function tells Gemini that it failed
                fill(facts, error=text(made["error"]) or str(made["error"]))
