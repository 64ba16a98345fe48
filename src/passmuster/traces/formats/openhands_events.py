"""Events of OpenHands: actions of the agent and observations, in a list, or as the `history` of a result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from passmuster.traces._building import Fields, Reading, parse_arguments
from passmuster.traces._message_parts import Lose, could_hold_call, key_of, outcome, text_of
from passmuster.traces._model import Key, ToolCall, Trace
from passmuster.traces._records import BadRecord, Record
from passmuster.traces._run_log import RunLog, each_record
from passmuster.traces._turns import Turn
from passmuster.traces._usage import usage_of

DESCRIPTION = "Events of OpenHands, one per record or as the `history` of a result: actions and observations."
SHAPE = '{"source": "agent", "action": "run", "args": {…}} or {"instance_id": …, "history": […]}'
LACKS = ("agents", "handoffs", "cost")

_SOURCES = {"agent": "assistant", "user": "user", "environment": "system"}
_NO_CALLS = frozenset(
    {"message", "system", "change_agent_state", "recall", "null", "condensation", "condensation_request"}
    | {"loop_recovery", "start", "pause", "resume", "stop", "initialize"}
)
"""Actions that call no tool."""
_ASIDE = frozenset(
    {"thought", "hidden", "blocking", "is_static", "cwd", "is_input", "confirmation_state", "security_risk"}
)
"""Arguments of an action that the runtime adds."""


def detect(record: Fields) -> float:
    """Sure of events that name their source and an action or an observation, alone or in a history."""
    history = bytes(record.get("history", b""))
    if history[:1] == b"[" and b'"source"' in history and (b'"action"' in history or b'"ActionEvent"' in history):
        return 0.97
    if bytes(record.get("kind", b"")).endswith(b'Event"') and "source" in record:
        return 0.95
    return 0.95 if "source" in record and ("action" in record or "observation" in record) and "id" in record else 0


def splittable(first: Fields) -> bool:
    """The events of a run have to be read together."""
    return False


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """The runs of results, and the one whose events the other records are."""
    runs: dict[str, RunLog] = {}

    def add(fields: Mapping[str, Any], record: Record, lose: Lose) -> None:
        history = fields.get("history")
        if not isinstance(history, list):
            if not any(isinstance(fields.get(name), str) for name in ("action", "observation", "kind")):
                raise BadRecord(record.offset, "is no event of OpenHands: it has no 'action', 'observation' or 'kind'")
            _event(fields, runs.setdefault("", RunLog(record)), record, lose)
            return
        name = str(fields.get("instance_id", len(runs)))
        run = runs[f"{len(runs)} {name}"] = RunLog(record, trace_id=name)
        for event in history:
            for one in event if isinstance(event, list) else [event]:  # older results have pairs
                _event(one, run, record, lose)

    each_record(records, reading, add)
    for run in runs.values():
        yield run.trace(reading)


def _event(event: Mapping[str, Any], run: RunLog, record: Record, lose: Lose) -> None:
    turn = Turn("assistant")
    if isinstance(event.get("kind"), str):
        _sdk_event(event, event["kind"], turn, lose)
    elif isinstance(event.get("action"), str):
        _action(event, turn, lose)
    elif isinstance(event.get("observation"), str):
        _observation(event, turn)
    elif could_hold_call(event):
        lose("has an event that is neither an action nor an observation", True)
    stamp = event.get("timestamp")
    turn.started_at = stamp if isinstance(stamp, str) else None
    if turn.text is not None or turn.calls or turn.results:
        run.add(turn, record)


def _action(event: Mapping[str, Any], turn: Turn, lose: Lose) -> None:
    kind, given = event["action"], event.get("args")
    given = given if isinstance(given, Mapping) else {}
    about = event.get("tool_call_metadata")
    if event.get("source") != "agent" or (kind in _NO_CALLS and not isinstance(about, Mapping)):
        if event.get("source") not in _SOURCES:
            lose(f"has an action of an unknown source ({str(event.get('source'))[:60]!r})", True)
        turn.role = _SOURCES.get(str(event.get("source")), "system")
        text = given.get("content")
        turn.text = text if kind in ("message", "system") and isinstance(text, str) else None
        turn.role = "system" if kind == "system" else turn.role
        return
    if isinstance(about, Mapping):
        turn.calls.append(_stated_call(about, turn))
    else:
        arguments = {key: value for key, value in given.items() if key not in _ASIDE}
        turn.calls.append(ToolCall(kind, _name(event), arguments))
    thought = given.get("thought")
    turn.text = thought if isinstance(thought, str) and thought else None


def _stated_call(about: Mapping[str, Any], turn: Turn) -> ToolCall:
    """The call as the model asked for it."""
    response = about.get("model_response")
    response = response if isinstance(response, Mapping) else {}
    turn.response_id, turn.usage = key_of(response, "id"), usage_of(response.get("usage"))
    turn.model = response["model"] if isinstance(response.get("model"), str) else None
    key, arguments = key_of(about, "tool_call_id"), None
    for choice in response.get("choices") or ():
        for call in (choice.get("message") or {}).get("tool_calls") or ():
            if call.get("id") == key:
                arguments = parse_arguments(call["function"].get("arguments"))
    return ToolCall(str(about.get("function_name")), key, arguments)


def _name(event: Mapping[str, Any], place: str = "id") -> Key | None:
    return f"event {event[place]}" if event.get(place) is not None else None


def _observation(event: Mapping[str, Any], turn: Turn) -> None:
    about = event.get("tool_call_metadata")
    key = key_of(about, "tool_call_id") if isinstance(about, Mapping) else _name(event, "cause")
    turn.role = "tool"
    if event["observation"] in ("agent_state_changed", "recall", "null") or key is None:
        return
    failed = event["observation"] == "error" or event.get("success") is False
    turn.results.append(outcome(event.get("content"), failed, key))


def _sdk_event(event: Mapping[str, Any], kind: str, turn: Turn, lose: Lose) -> None:
    """An event of the software agent SDK, which OpenHands is built on from version 1."""
    if kind == "ActionEvent":
        call = event.get("tool_call") or {}
        function = call.get("function") or call
        key = key_of(event, "tool_call_id")
        turn.calls.append(ToolCall(str(event["tool_name"]), key, parse_arguments(function.get("arguments"))))
        turn.response_id = key_of(event, "llm_response_id")
        turn.text = text_of(event.get("thought")) or None
    elif kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
        seen = event.get(
            "observation", {"content": event.get("error", event.get("rejection_reason")), "is_error": True}
        )
        turn.role = "tool"
        turn.results.append(outcome(seen.get("content", seen), seen.get("is_error"), key_of(event, "tool_call_id")))
    elif kind == "MessageEvent":
        message = event.get("llm_message") or {}
        turn.role = "assistant" if event.get("source") == "agent" else str(message.get("role", "user"))
        turn.text = text_of(message.get("content"))
        if message.get("tool_calls"):
            lose("has a message with tool calls, which an action repeats", could_hold_call(message))
    elif kind not in ("SystemPromptEvent", "ConversationStateUpdateEvent", "Condensation", "PauseEvent", "TokenEvent"):
        lose(f"has an event of the unknown kind '{kind[:60]}'", could_hold_call(event))
