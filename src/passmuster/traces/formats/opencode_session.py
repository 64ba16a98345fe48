"""Sessions that opencode exports: messages with `info` and `parts`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from passmuster.traces._building import Fields, Reading
from passmuster.traces._message_parts import Lose, arguments_of, could_hold_call, key_of, name_of, outcome
from passmuster.traces._model import ToolCall, Trace
from passmuster.traces._records import BadRecord, Record
from passmuster.traces._run_log import RunLog, each_record
from passmuster.traces._turns import Turn
from passmuster.traces._usage import usage_of

DESCRIPTION = "Sessions of opencode (`opencode export`): messages with `info` and `parts`."
SHAPE = '{"info": {…}, "messages": [{"info": {"role": …}, "parts": [{"type": "tool", …}]}]}'
LACKS = ("agents", "handoffs", "times")

_ASIDE = frozenset(
    {"step-start", "step-finish", "reasoning", "file", "patch", "snapshot", "agent", "subtask", "compaction", "retry"}
)


def detect(record: Fields) -> float:
    """Sure of messages that say who speaks in their `info`."""
    begins = bytes(record.get("messages", b""))[:400].replace(b" ", b"").replace(b"\n", b"")
    return 0.98 if "info" in record and (b'{"info":{' in begins or b'"sessionID"' in begins) else 0


def splittable(first: Fields) -> bool:
    """Every record is a session."""
    return False


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """The session of each record."""
    runs: list[RunLog] = []

    def add(fields: Mapping[str, Any], record: Record, lose: Lose) -> None:
        messages = fields.get("messages")
        if not isinstance(messages, list):
            raise BadRecord(record.offset, "is no session of opencode: expected a list 'messages'")
        name = fields["info"].get("id") if isinstance(fields.get("info"), Mapping) else None
        run = RunLog(record, trace_id=name if isinstance(name, str) else None)
        for message in messages:
            run.add(_turn(message["info"], message["parts"], lose), record)
        runs.append(run)

    each_record(records, reading, add)
    for run in runs:
        yield run.trace(reading)


def _turn(info: Mapping[str, Any], parts: list[Any], lose: Lose) -> Turn:
    turn = Turn(str(info["role"]))
    texts = []
    for part in parts:
        kind = part.get("type")
        if kind == "text":
            if not part.get("synthetic"):
                texts.append(part["text"])
        elif kind == "tool":
            _add_call(part, turn)
        elif kind not in _ASIDE:
            lose(f"has a part of the unknown kind {str(kind)[:60]!r}", could_hold_call(part))
    turn.text = "".join(texts) if texts else None
    if turn.role == "assistant":
        tokens = info.get("tokens")
        if isinstance(tokens, Mapping):
            cache = tokens.get("cache") or {}
            apart = {"cache_read_input_tokens": cache.get("read"), "cache_creation_input_tokens": cache.get("write")}
            made = (tokens.get("output") or 0) + (tokens.get("reasoning") or 0)
            turn.usage = usage_of({"input_tokens": tokens.get("input"), "output_tokens": made, **apart})
        turn.model = info["modelID"] if isinstance(info.get("modelID"), str) else None
        cost = info.get("cost")
        turn.cost_usd = cost if isinstance(cost, int | float) and cost >= 0 else None
    return turn


def _add_call(part: Mapping[str, Any], turn: Turn) -> None:
    state = part.get("state") or {}
    key, tool = key_of(part, "callID"), name_of(part, "tool")
    turn.calls.append(ToolCall(tool, key, arguments_of(state, "input")))
    if state.get("status") == "error":
        turn.results.append(outcome(state.get("error"), state.get("error") or True, key, tool))
    elif state.get("status") == "completed":
        turn.results.append(outcome(state.get("output"), None, key, tool))
