"""The turns of a sample of an Inspect log, from its events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from passmuster.traces._message_parts import Lose, arguments_of, entries, key_of, name_of, outcome
from passmuster.traces._messages import turns_of_message
from passmuster.traces._model import Key, ToolCall
from passmuster.traces._turns import Turn
from passmuster.traces._usage import usage_of

_SCORERS = ("scorer", "scorers")
_DEEPEST = 20


class _Spans(Struct):
    """The spans that events belong to."""

    parents: dict[str, str | None] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    calls: dict[str, Key | None] = field(default_factory=dict)
    """The tool call that a span of a tool is about."""

    def above(self, span: str | None) -> list[str]:
        chain: list[str] = []
        while span is not None and span in self.kinds and span not in chain:
            chain.append(span)
            span = self.parents.get(span)
        return chain


def sample_turns(sample: Mapping[str, Any], said: list[Turn], lose: Lose) -> list[Turn]:
    """What the events of a sample record; its messages, where it has no events with model calls."""
    listed = [event for event in entries(sample, "events", lose) if isinstance(event, Mapping)]
    spans = _spans(listed)
    turns: list[Turn] = []
    _add(listed, spans, turns, lose, None)
    if not any(turn.role == "assistant" and not turn.no_model_call for turn in turns):
        return said
    asked = [turn for turn in said if turn.role in ("system", "user")]
    known = {result.id for turn in turns for result in turn.results}
    wanted = {call.id for turn in turns for call in turn.calls} - known
    late = [turn for turn in said if any(result.id in wanted for result in turn.results)]
    return [*asked, *_own(turns), *late]


def _own(turns: list[Turn]) -> list[Turn]:
    """The turns, where tools that no model asked for are calls of their own, and others only give their results."""
    asked = {call.id for turn in turns for call in turn.calls if not turn.no_model_call}
    kept: list[Turn] = []
    for turn in turns:
        if turn.no_model_call and turn.calls[0].id in asked:
            kept.append(Turn("tool", results=turn.results, place=turn.place))
        else:
            kept.append(turn)
    return kept


def _spans(events: Sequence[Mapping[str, Any]]) -> _Spans:
    spans = _Spans()
    waiting: dict[tuple[str | None, str], list[str]] = {}
    for event in events:
        if event.get("event") == "span_begin":
            key, parent = str(event.get("id")), event.get("parent_id")
            spans.parents[key] = parent if isinstance(parent, str) else None
            spans.kinds[key] = str(event.get("type"))
            spans.names[key] = str(event.get("name"))
            if event.get("type") == "tool":
                waiting.setdefault((spans.parents[key], spans.names[key]), []).append(key)
    for event in events:
        if event.get("event") == "tool":
            span = event.get("span_id")
            inside = span if isinstance(span, str) else None
            open_ = waiting.get((inside, str(event.get("function"))), [])
            if open_:
                spans.calls[open_.pop(0)] = key_of(event, "id")
    return spans


def _add(
    events: Sequence[Any], spans: _Spans, turns: list[Turn], lose: Lose, parent: Key | None, depth: int = 0
) -> None:
    scoring = 0
    for event in events:
        if not isinstance(event, Mapping) or depth > _DEEPEST:
            continue
        kind = event.get("event")
        if kind == "step" and event.get("type") in _SCORERS:  # how logs without spans say it
            scoring += 1 if event.get("action") == "begin" else -1
        above = spans.above(event.get("span_id"))
        if scoring or any(spans.kinds[span] in _SCORERS for span in above):
            continue
        inside = next((spans.calls[span] for span in above if span in spans.calls), parent)
        agent = next((spans.names[span] for span in above if spans.kinds[span] == "agent"), None)
        if kind == "model":
            _model(event, turns, lose, inside, agent)
        elif kind == "tool":
            _tool(event, turns, inside, agent)
            _add(entries(event, "events", lose), spans, turns, lose, key_of(event, "id"), depth + 1)
        elif kind == "subtask":
            _add(entries(event, "events", lose), spans, turns, lose, inside, depth + 1)


def _model(event: Mapping[str, Any], turns: list[Turn], lose: Lose, parent: Key | None, agent: str | None) -> None:
    output = event.get("output")
    choices = output.get("choices") if isinstance(output, Mapping) else None
    if not isinstance(output, Mapping) or not isinstance(choices, list) or not choices or event.get("pending"):
        return
    message = choices[0].get("message") if isinstance(choices[0], Mapping) else None
    if not isinstance(message, Mapping):
        return
    for turn in turns_of_message({**message, "role": "assistant"}, lose):
        turn.response_id = key_of(output, "response_id") or key_of(event, "uuid") or key_of(message, "id")
        turn.model = output["model"] if isinstance(output.get("model"), str) else None
        turn.usage = usage_of(output.get("usage"))
        lasted = output.get("time", event.get("working_time"))
        turn.duration_ms = lasted * 1000.0 if isinstance(lasted, int | float) and lasted >= 0 else None
        turn.started_at = event["timestamp"] if isinstance(event.get("timestamp"), str) else None
        turn.parent, turn.agent = parent, agent
        turns.append(turn)


def _tool(event: Mapping[str, Any], turns: list[Turn], parent: Key | None, agent: str | None) -> None:
    error = event.get("error")
    failed = (error.get("message") or True) if isinstance(error, Mapping) else error or bool(event.get("failed"))
    key, tool, lasted = key_of(event, "id"), name_of(event, "function"), event.get("working_time")
    duration = lasted * 1000.0 if isinstance(lasted, int | float) and lasted >= 0 else None
    turn = Turn("assistant", no_model_call=True, parent=parent, agent=agent)
    turn.calls.append(ToolCall(tool, key, arguments_of(event, "arguments")))
    turn.results.append(outcome(event.get("result"), failed, key, tool, duration))
    turns.append(turn)
