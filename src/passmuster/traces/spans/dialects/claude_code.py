"""Claude Code: spans `claude_code.*`, and log records of the same names with the arguments."""

from __future__ import annotations

from passmuster.traces.spans._facts import Facts, fill
from passmuster.traces.spans._said import Said
from passmuster.traces.spans._span import Span
from passmuster.traces.spans._values import arguments_of, first, opened, text, whole

HEADS = frozenset({"tool_name", "tool_use_id", "span", "user_prompt", "cache_read_tokens", "claude_code", "session"})


def add(span: Span, facts: Facts) -> None:
    """Read a span of Claude Code."""
    attributes = span.attributes
    name = span.name
    if not name.startswith("claude_code."):
        return
    if name == "claude_code.llm_request":
        facts.kind = "model"
        read, written = (
            whole(attributes.get("cache_read_tokens")) or 0,
            whole(attributes.get("cache_creation_tokens")) or 0,
        )
        given = whole(attributes.get("input_tokens"))
        fill(
            facts,
            model=text(attributes.get("model")),
            response_id=text(first(attributes, ("gen_ai.response.id", "response_id", "request_id"))),
            tokens_in=None if given is None else given + read + written,
            tokens_out=whole(attributes.get("output_tokens")),
            tokens_cached=read,
        )
        made = text(attributes.get("response.model_output"))
        if made is not None or attributes.get("stop_reason") in ("end_turn", "stop_sequence"):
            facts.outputs = [Said("assistant", made)]
    elif name == "claude_code.tool":
        facts.kind = "tool"
        fill(
            facts,
            tool=text(attributes.get("tool_name")),
            call_id=text(first(attributes, ("tool_use_id", "tool.use_id"))),
        )
        for place in ("tool_input", "tool_parameters"):
            if place in attributes and not facts.known(facts.arguments):
                facts.arguments = arguments_of(attributes[place])
        for event in span.events:
            _add_event(event.attributes, facts)
        if "full_command" in attributes and not facts.known(facts.arguments):
            facts.arguments = {"command": attributes["full_command"]}
        _add_failure(attributes, facts)
    elif name == "claude_code.tool.execution":
        facts.kind, facts.is_part = "tool", True
        fill(facts, call_id=text(attributes.get("tool_use_id")))
        _add_failure(attributes, facts)
    elif name == "claude_code.interaction":
        facts.kind = "agent"
        facts.read_query = lambda: text(attributes.get("user_prompt")) or _told(span, "user_prompt", ("prompt",))
        facts.read_answer = lambda: _told(span, "assistant_response", ("response", "content", "text", "message"))
    else:
        facts.kind = "step"


def _add_event(found: dict[str, object], facts: Facts) -> None:
    fill(facts, call_id=text(found.get("tool_use_id")), tool=text(found.get("tool_name")))
    for place in ("tool_input", "tool_parameters"):
        if place in found and not facts.known(facts.arguments):
            facts.arguments = arguments_of(opened(found[place]))
    for place in ("tool_output", "output", "content"):
        if place in found and not facts.known(facts.result):
            facts.result = found[place]
    _add_failure(found, facts)


def _add_failure(found: dict[str, object], facts: Facts) -> None:
    if found.get("success") in (False, "false"):
        fill(facts, error=text(found.get("error")) or "failed")


def _told(span: Span, name: str, places: tuple[str, ...]) -> str | None:
    """What the last log record of a kind says."""
    for event in reversed(span.events):
        if event.name.removeprefix("claude_code.") == name:
            return text(first(event.attributes, places))
    return None
