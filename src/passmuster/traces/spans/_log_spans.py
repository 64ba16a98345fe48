"""Spans from log records whose own spans are not in the file: model calls and tool calls that only logs record."""

from __future__ import annotations

from passmuster.traces.spans._span import Attributes, Event, Span

_MESSAGES = "gen_ai."
_CLAUDE = "claude_code."
_CLAUDE_KINDS = {"tool_result": "claude_code.tool", "api_request": "claude_code.llm_request"}


def span_of_messages(trace_id: str, span_id: str, events: list[Event]) -> Span | None:
    """The model call that log records of messages belong to; None where there are none."""
    said = [event for event in events if event.name.startswith(_MESSAGES)]
    if not said:
        return None
    return _span(trace_id, span_id, "chat", {"gen_ai.operation.name": "chat"}, said)


def spans_of_claude_code(events: list[Event]) -> list[Span]:
    """The model calls, tool calls and questions that the log records of Claude Code speak of."""
    found: list[Span] = []
    for event in events:
        kind = event.name.removeprefix(_CLAUDE)
        told = event.attributes
        run = f"{told.get('session.id', '')}/{told.get('prompt.id', '')}"
        number = f"{kind}-{event.time}-{len(found)}"
        if kind in _CLAUDE_KINDS:
            found.append(_span(run, number, _CLAUDE_KINDS[kind], dict(told), [event]))
        elif kind == "user_prompt":
            found.append(_span(run, number, "claude_code.interaction", {"user_prompt": told.get("prompt")}, [event]))
    return found


def _span(trace_id: str, span_id: str, name: str, attributes: Attributes, events: list[Event]) -> Span:
    first = events[0]
    times = [event.time for event in events if event.time]
    start, end = min(times, default=0), max(times, default=0)
    return Span(trace_id, span_id, "", name, start, end, attributes, events, offset=first.offset, line=first.line)
