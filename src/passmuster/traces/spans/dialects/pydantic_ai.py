"""pydantic-ai's own names, beside `gen_ai.*`."""

from __future__ import annotations

from passmuster.traces.spans._facts import Facts, fill
from passmuster.traces.spans._messages import conversation
from passmuster.traces.spans._said import Said
from passmuster.traces.spans._span import Span
from passmuster.traces.spans._values import arguments_of, first, opened, text

HEADS = frozenset(
    {"pydantic_ai", "all_messages_events", "events", "tool_arguments", "tool_response", "final_result", "agent_name"}
)

_NAMES = {"running tool", "running output function"}


def add(span: Span, facts: Facts) -> None:
    """Read the names of formats 1 to 5."""
    attributes = span.attributes
    if "tool_arguments" in attributes or "tool_response" in attributes or span.name in _NAMES:
        facts.kind = facts.kind or "tool"
        if "tool_arguments" in attributes:
            facts.arguments = arguments_of(attributes["tool_arguments"])
        if "tool_response" in attributes:
            facts.result = attributes["tool_response"]
    events = attributes.get("events")
    if isinstance(events, str | list) and ("gen_ai.request.model" in attributes):
        said = _from_events(events)
        facts.kind = facts.kind or "model"
        facts.read_inputs = lambda: said[: len(said) - _chosen(said)]
        if _chosen(said):
            facts.outputs = said[len(said) - _chosen(said) :]
    if "final_result" in attributes or "agent_name" in attributes:
        facts.kind = facts.kind or "agent"
        fill(facts, agent=text(attributes.get("agent_name")))
        if "final_result" in attributes:
            facts.read_answer = lambda: text(attributes.get("final_result"))
        history = first(attributes, ("pydantic_ai.all_messages", "all_messages_events"))
        if history is not None:
            facts.tells_late = True
            facts.read_query = lambda: _query(history, attributes.get("pydantic_ai.new_message_index"))


def _query(history: object, new: object) -> str | None:
    """What the user says first in the messages that are new in this run."""
    said = _from_events(history)
    said = said[new:] if isinstance(new, int) and 0 < new < len(said) else said
    return next((one.text for one in said if one.role == "user" and one.text), None)


def _chosen(said: list[Said]) -> int:
    """How many of the last messages are the model's answer."""
    return 1 if said and said[-1].role == "assistant" else 0


def _from_events(value: object) -> list[Said]:
    listed = opened(value)
    if not isinstance(listed, list):
        return []
    found: list[Said] = []
    for event in listed:
        if (
            isinstance(event, dict)
            and event.get("event.name") == "gen_ai.choice"
            and isinstance(event.get("message"), dict)
        ):
            found += conversation([{"role": "assistant", **event["message"]}], "assistant")
        elif isinstance(event, dict):
            found += conversation([event])
    return found
