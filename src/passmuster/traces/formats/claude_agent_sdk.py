"""Messages of the Claude agent SDK, and the stream of `claude -p --output-format stream-json`.

Dumps of the SDK's classes name them (`_type`); the stream has a `type`. Lines of one response share its id. Their
`output_tokens` are those of the beginning of a response, so that tokens are taken from the result at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from passmuster.traces._building import Fields, Reading
from passmuster.traces._message_parts import Lose, account_keys, could_hold_call, key_of
from passmuster.traces._messages import turns_of_message
from passmuster.traces._model import Fault, Key, Trace
from passmuster.traces._records import BadRecord, Record
from passmuster.traces._run_log import RunLog, Runs, each_record
from passmuster.traces._turns import name_agents
from passmuster.traces._usage import Usage, usage_of

DESCRIPTION = "Messages of the Claude agent SDK, and the stream that `claude -p` prints."
SHAPE = '{"type": "assistant", "session_id": …, "message": {…}}'
LACKS = ("query", "handoffs", "times")

_CLASSES = {
    **dict.fromkeys(("AssistantMessage", "assistant"), "assistant"),
    **dict.fromkeys(("UserMessage", "user"), "user"),
    **dict.fromkeys(("ResultMessage", "result"), "result"),
    **dict.fromkeys(("SystemMessage", "system", "StreamEvent", "stream_event", "control_request"), "aside"),
    **dict.fromkeys(("control_response", "keep_alive", "rate_limit_event", "RateLimitEvent"), "aside"),
    **dict.fromkeys(("tool_progress", "auth_status", "TaskStartedMessage", "TaskProgressMessage"), "aside"),
    **dict.fromkeys(("TaskNotificationMessage", "HookEventMessage", "prompt_suggestion"), "aside"),
}
_STREAMED = (b'"assistant"', b'"user"', b'"result"', b'"system"', b'"stream_event"', b'"rate_limit_event"')


def detect(record: Fields) -> float:
    """Sure of the names of the SDK's classes, and of the types of the stream with a `session_id`."""
    if "_type" in record:
        return 1 if bytes(record["_type"]).strip(b'"').decode("utf-8", "replace") in _CLASSES else 0
    if "sessionId" in record or "type" not in record or bytes(record["type"]) not in _STREAMED:
        return 0
    return 0.99 if "session_id" in record or "parent_tool_use_id" in record else 0


def splittable(first: Fields) -> bool:
    """The messages of a session have to be read together."""
    return False


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """One trace per session."""
    sessions: Runs = {}
    last: list[Key | None] = []

    def add(line: Mapping[str, Any], record: Record, lose: Lose) -> None:
        data = line.get("data")
        name = key_of(line, "session_id") or (key_of(data, "session_id") if isinstance(data, Mapping) else None)
        if name is None:  # the user's messages do not say whose they are
            name = last[-1] if last else None
        last[:] = [name]
        if name is not None and None in sessions:
            sessions[name] = sessions.pop(None)
        session = sessions.setdefault(name, RunLog(record, trace_id=None if name is None else str(name)))
        session.trace_id = None if name is None else str(name)
        _add(line, record, lose, session)

    each_record(records, reading, add)
    for session in sessions.values():
        if session.turns or session.answer is not None or session.error is not None:
            names = {call.id: call.arguments for turn in session.turns for call in turn.calls}
            for turn in session.turns:
                arguments = names.get(turn.parent)
                turn.agent = arguments.get("subagent_type") if isinstance(arguments, Mapping) else None
            name_agents(session.turns, "main")
            yield session.trace(reading)


def _add(line: Mapping[str, Any], record: Record, lose: Lose, session: RunLog) -> None:
    stated = line.get("_type", line.get("type"))
    if not isinstance(stated, str):
        raise BadRecord(record.offset, "is no message of the Claude agent SDK: it has no 'type' and no '_type'")
    kind = _CLASSES.get(stated)
    if kind == "result":
        _finish(line, session)
    elif kind in ("assistant", "user"):
        message = line.get("message")
        message = message if isinstance(message, Mapping) else line
        if "content" not in message:
            account_keys(message, ("usage",), f"a message of the {kind}", lose)
        for turn in turns_of_message({"content": message.get("content"), "role": kind}, lose):
            if kind == "assistant":
                turn.response_id = key_of(line, "message_id") or key_of(message, "id")
                turn.model = message["model"] if isinstance(message.get("model"), str) else None
                usage = usage_of(message.get("usage"))
                turn.usage = Usage(usage.tokens_in, None, usage.tokens_cached)
            turn.aside = bool(line.get("isSynthetic") or line.get("isReplay"))
            turn.parent = key_of(line, "parent_tool_use_id")
            session.add(turn, record)
    elif kind is None:
        rest = {key: value for key, value in line.items() if key not in ("type", "_type")}
        lose(f"has a message of the unknown type {str(stated)[:60]!r}", could_hold_call(rest))


def _finish(line: Mapping[str, Any], session: RunLog) -> None:
    """Take what the result states. Cost is that of the session so far, usage that of this turn."""
    tokens = _tokens(line if session.total_tokens is None else {"usage": line.get("usage")})
    if tokens is not None:
        session.total_tokens = (session.total_tokens or 0) + tokens
    cost, lasted = line.get("total_cost_usd"), line.get("duration_ms")
    if isinstance(cost, int | float) and cost >= 0:
        session.total_cost_usd = float(cost)
    if isinstance(lasted, int | float) and lasted >= 0:
        session.total_duration_ms = (session.total_duration_ms or 0.0) + lasted
    result = line.get("result")
    if isinstance(result, str):
        session.answer = result
    if line.get("is_error"):
        reason = result if isinstance(result, str) and result else line.get("subtype")
        session.error = Fault(str(reason or "the agent failed"))


def _tokens(line: Mapping[str, Any]) -> int | None:
    """All tokens: of each model, where that is told, for it includes sub-agents."""
    by_model = line.get("modelUsage", line.get("model_usage"))
    each = list(by_model.values()) if isinstance(by_model, Mapping) else []
    if each and all(isinstance(one, Mapping) for one in each):
        names = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
        counts = [one.get(name) for one in each for name in names]
        return sum(count for count in counts if type(count) is int and count > 0)
    usage = usage_of(line.get("usage"))
    return None if usage.tokens_in is None or usage.tokens_out is None else usage.tokens_in + usage.tokens_out
