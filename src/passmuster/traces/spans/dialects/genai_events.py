"""The older conventions for generative AI: messages as events of a span, as log records, or as numbered attributes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from passmuster.traces.spans._facts import Facts
from passmuster.traces.spans._messages import conversation, read_message
from passmuster.traces.spans._said import Said, last_text, plain_content
from passmuster.traces.spans._span import Event, Span
from passmuster.traces.spans._values import arguments_of, opened, unflattened

HEADS = frozenset({"gen_ai"})

DETAILS = "gen_ai.client.inference.operation.details"
"""The event that repeats the attributes of a model call. Its attributes are added to those of its span."""
_CONTENT = "gen_ai.event.content"
"""Where Azure's SDKs and semantic-kernel write the message of an event of a span."""
_SPOKEN = frozenset({"content", "message", "role", "tool_calls", "parts", "finish_reason", "id"})
_ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}


def prepare(names: Collection[str], events: Collection[str]) -> Callable[[Span, Facts], None] | None:
    """What reads spans that have events, or messages in numbered attributes."""
    numbered = ("gen_ai.prompt.", "gen_ai.completion.")
    return add if events or any(name.startswith(numbered) for name in names) else None


def add(span: Span, facts: Facts) -> None:
    """Read messages from events and numbered attributes."""
    if facts.kind == "tool":
        _add_tool_call(span, facts)
    elif facts.kind == "model":
        _add_model_call(span, facts)
    elif facts.kind in ("agent", "step"):
        if facts.read_query is None and span.events:
            facts.read_query = lambda: last_text(_given(span.events), "user")
        if facts.read_answer is None and span.events:
            facts.read_answer = lambda: last_text(_without_calls(span.events), "assistant")


def _without_calls(events: list[Event]) -> list[Said]:
    return [one for one in _chosen(events) if not one.calls]


def _add_model_call(span: Span, facts: Facts) -> None:
    open_ = facts.read_inputs is None and facts.given is None
    if span.events:
        if open_ and any(event.name in _ROLES for event in span.events):
            facts.read_inputs = lambda: _given(span.events)
        if facts.outputs is None:
            facts.outputs = _chosen(span.events) or None
        for event in span.events:
            if event.name == "gen_ai.content.prompt" and open_:
                facts.given = event.attributes.get("gen_ai.prompt")
            elif event.name == "gen_ai.content.completion" and facts.outputs is None:
                facts.outputs = conversation(event.attributes.get("gen_ai.completion"), "assistant") or None
    attributes = span.attributes
    if open_ and ("gen_ai.prompt.0.role" in attributes or "gen_ai.prompt.0.content" in attributes):
        facts.read_inputs = lambda: conversation(unflattened(attributes, "gen_ai.prompt"))
    if not facts.outputs:
        numbered = unflattened(attributes, "gen_ai.completion")
        if numbered:
            facts.outputs = [_completion(one) for one in numbered if isinstance(one, dict)]


def _completion(one: dict[str, Any]) -> Said:
    return read_message({**one, "role": "assistant"}, "assistant")


def _add_tool_call(span: Span, facts: Facts) -> None:
    """What strands records: the arguments as a message of the tool, the result as a choice."""
    for event in span.events:
        content = _content(event)
        if event.name == "gen_ai.tool.message" and not facts.known(facts.arguments):
            facts.arguments = arguments_of(content)
        elif event.name == "gen_ai.choice" and not facts.known(facts.result):
            facts.result = plain_content(content)


def _content(event: Event) -> Any:
    body = opened(event.attributes[_CONTENT]) if _CONTENT in event.attributes else event.body
    holder = body if isinstance(body, dict) else event.attributes
    return opened(holder.get("message", holder.get("content")))


def _given(events: list[Event]) -> list[Said]:
    return [said for event in _ordered(events) if event.name in _ROLES for said in _messages(event, _ROLES[event.name])]


def _chosen(events: list[Event]) -> list[Said]:
    return [
        said for event in _ordered(events) if event.name == "gen_ai.choice" for said in _messages(event, "assistant")
    ]


def _ordered(events: list[Event]) -> list[Event]:
    return sorted(events, key=lambda event: event.time)


def _messages(event: Event, role: str) -> list[Said]:
    """The message of an event, from its body or its attributes."""
    body = opened(event.body if event.body is not None else event.attributes.get(_CONTENT))
    holder: dict[str, Any] = body if isinstance(body, dict) else event.attributes
    if isinstance(body, str):
        return [Said(role, body)]
    if _SPOKEN.isdisjoint(holder):  # what was said is not recorded, or in a way that nobody knows
        return []
    inner = opened(holder.get("message"))
    if isinstance(inner, dict):
        holder = {**holder, **inner}
    elif inner is not None:
        holder = {**holder, "content": inner}
    content = opened(holder.get("content"))
    known = {key: value for key, value in holder.items() if key not in ("content", "message")}
    return [read_message({**known, "content": content, "role": holder.get("role") or role}, role)]
