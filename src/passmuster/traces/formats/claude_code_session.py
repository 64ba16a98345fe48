"""Session files of Claude Code: one line per content block of a message, with everything around it.

The lines have no version of their own. Lines of one response share its `message.id` and repeat its usage. Lines of
sub-agents are marked (`isSidechain`), or in a file of their own, which is a trace of its own. Lines of unknown types
are counted, and refused if they could hold a call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from passmuster.traces._building import Fields, Reading
from passmuster.traces._message_parts import Lose, could_hold_call, key_of
from passmuster.traces._messages import turns_of_message
from passmuster.traces._model import Key, Trace
from passmuster.traces._records import BadRecord, Record
from passmuster.traces._run_log import RunLog, Runs, each_record
from passmuster.traces._turns import name_agents
from passmuster.traces._usage import usage_of

DESCRIPTION = "Session files of Claude Code (`~/.claude/projects/…/*.jsonl`), also of its sub-agents."
SHAPE = '{"type": "assistant", "sessionId": …, "message": {…}}'
LACKS = ("handoffs", "cost")

_SPOKEN = (b'"user"', b'"assistant"')
_ASIDE = frozenset(
    {"summary", "system", "queue-operation", "last-prompt", "file-history-snapshot", "attachment", "ai-title", "tag"}
    | {
        "custom-title",
        "agent-name",
        "agent-color",
        "agent-setting",
        "mode",
        "permission-mode",
        "pr-link",
        "worktree-state",
    }
    | {"task-summary", "speculation-accept", "content-replacement", "bridge-session", "attribution-snapshot"}
)
"""Types of lines that are about the session."""
_DELEGATES = ("Task", "Agent")


def detect(record: Fields) -> float:
    """Sure of messages with a `sessionId` and a `uuid`, and of the other lines of a session."""
    if "type" not in record:
        return 0
    kind = bytes(record["type"])
    if "message" in record and kind in _SPOKEN and ("sessionId" in record or "parentUuid" in record):
        return 1
    known = any(kind == f'"{name}"'.encode() for name in _ASIDE) or kind == b'"progress"'
    if known and any(key in record for key in ("sessionId", "leafUuid", "messageId")):
        return 0.99
    return 0.9 if "sessionId" in record and ("uuid" in record or "timestamp" in record) else 0


def splittable(first: Fields) -> bool:
    """The lines of a session have to be read together."""
    return False


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """One trace per session; one per sub-agent whose lines are in a file of their own."""
    sessions: Runs = {}
    seen: set[str] = set()

    def add(line: Mapping[str, Any], record: Record, lose: Lose) -> None:
        _add(line, record, lose, sessions, seen)

    each_record(records, reading, add)
    for session in sessions.values():
        if any(turn.role in ("assistant", "user") for turn in session.turns):
            _place_sidechains(session)
            yield session.trace(reading)


def _add(line: Mapping[str, Any], record: Record, lose: Lose, sessions: Runs, seen: set[str]) -> None:
    kind = line.get("type")
    if kind == "progress":
        line = _of_sub_agent(line)
        kind = line.get("type")
    message = line.get("message")
    if not isinstance(kind, str):
        raise BadRecord(record.offset, "is no line of a session of Claude Code: it has no 'type'")
    if kind not in ("user", "assistant") or not isinstance(message, dict):
        if kind not in _ASIDE:
            may_hold = could_hold_call({key: value for key, value in line.items() if key != "type"})
            lose(f"has a line of the unknown type {str(kind)[:60]!r}", may_hold)
        return
    uuid = line.get("uuid")
    if isinstance(uuid, str):  # a resumed session repeats the lines of the earlier one
        if uuid in seen:
            return
        seen.add(uuid)
    session = _session(line, record, sessions)
    for turn in turns_of_message({"role": kind, **message}, lose):
        turn.response_id = key_of(message, "id") if kind == "assistant" else None
        turn.started_at = line.get("timestamp") if isinstance(line.get("timestamp"), str) else None
        turn.usage = usage_of(message.get("usage"))
        turn.aside = bool(line.get("isMeta") or line.get("isCompactSummary") or line.get("isVisibleInTranscriptOnly"))
        if line.get("isApiErrorMessage") or message.get("model") == "<synthetic>":
            turn.role = "system"
        turn.parent = key_of(line, "parentToolUseID")
        if line.get("isSidechain") and turn.parent is None:
            turn.parent, turn.agent = _SIDECHAIN, str(line.get("agentId") or line.get("parentUuid") or "")
            turn.agent = turn.agent or None
        turn.speaker = str(line.get("uuid")) if turn.role == "user" and line.get("isSidechain") else turn.speaker
        session.add(turn, record)


_SIDECHAIN = "—sidechain"


def _of_sub_agent(line: Mapping[str, Any]) -> Mapping[str, Any]:
    """The line of a sub-agent that a progress line of the main agent repeats."""
    data = line.get("data")
    inner = data.get("message") if isinstance(data, dict) and data.get("type") == "agent_progress" else None
    if not isinstance(inner, dict):
        return {"type": "system"}
    outer = {key: line[key] for key in ("sessionId", "parentToolUseID", "timestamp") if key in line}
    return {**inner, **outer}


def _session(line: Mapping[str, Any], record: Record, sessions: Runs) -> RunLog:
    stated = line.get("sessionId")
    name = stated if isinstance(stated, str) else None
    known = sessions.get(name)
    if known is None:
        known = RunLog(record, trace_id=name)
        known.started_at = line.get("timestamp") if isinstance(line.get("timestamp"), str) else None
        sessions[name] = known
    return known


def _place_sidechains(session: RunLog) -> None:
    """Give the turns of sub-agents the call that started them, and a name."""
    turns = session.turns
    if not any(turn.parent is None for turn in turns):  # the file of a sub-agent
        names = {turn.agent for turn in turns if turn.agent}
        session.trace_id = "/".join([session.trace_id or "session", *sorted(names)])
        for turn in turns:
            turn.parent, turn.agent, turn.speaker = None, None, None
        return
    delegations = [call for turn in turns for call in turn.calls if call.tool in _DELEGATES]
    named = {call.id: _name(call.arguments) for call in delegations}
    current: dict[str | None, Key | None] = {}
    waiting = list(delegations)
    for turn in turns:
        turn.speaker = None
        if turn.parent == _SIDECHAIN:
            if turn.role == "user" and turn.text is not None and turn.agent not in current:
                begun = next((call for call in waiting if _prompt(call.arguments) == turn.text), None)
                if begun is not None:
                    waiting.remove(begun)
                    current[turn.agent] = begun.id
            turn.parent = current.get(turn.agent, _only(list(current.values())))
        if turn.parent is not None:
            turn.agent = named.get(turn.parent) or turn.agent
    name_agents(turns, "main")


def _only(values: list[Key | None]) -> Key | None:
    return values[-1] if values else _SIDECHAIN


def _name(arguments: Any) -> str | None:
    name = arguments.get("subagent_type") if isinstance(arguments, dict) else None
    return name if isinstance(name, str) and name else None


def _prompt(arguments: Any) -> str | None:
    return arguments.get("prompt") if isinstance(arguments, dict) else None
