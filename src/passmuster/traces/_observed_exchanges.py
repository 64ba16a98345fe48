"""One run from all of its model calls, as a proxy has seen them.

Each request repeats what was said before, in several conversations where an agent has others work for it. What a
request repeats, of an answer that was seen or of an earlier request, counts once; equal parts count as often as one
request has them, or as often as they were seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from passmuster.traces._building import Loss, Reading
from passmuster.traces._conversations import conversation_trace, losing
from passmuster.traces._model import Origin, ToolCall, ToolResult, Trace
from passmuster.traces._records import MALFORMED, UNREADABLE, BadRecord, Record
from passmuster.traces._sources import Source
from passmuster.traces._tool_names import check_calls
from passmuster.traces._turns import Turn
from passmuster.traces.formats.model_calls import exchange_of

_Part = tuple[object, ...]


def trace_of_exchanges(exchanges: Iterable[Mapping[str, Any]]) -> tuple[Trace | None, list[str]]:
    """The run that model calls are, in the order in which they ended, and what could not be read of them.

    Each has a `request` and a `response`, and may have `started_at` and `duration_ms`. None where there are no calls,
    or where one may hold tool calls that are not understood.
    """
    problems: list[str] = []

    def lose(loss: Loss) -> None:
        problems.append(loss.found)

    reading = Reading(Source("", "the model's API"), lambda bad: problems.append(bad.message), {}, on_loss=lose)
    turns: list[Turn] = []
    known: Counter[_Part] = Counter()
    ids: set[object] = set()
    number = 0
    try:
        for number, fields in enumerate(exchanges, 1):
            record = Record(number, b"{}", line=number)
            exchange = exchange_of(fields, record, losing(reading, record))
            _add(turns, exchange.given, known)
            if (key := exchange.response_id) in ids:  # some servers have one id for all of their answers
                key = f"{key}#{number}"
            ids.add(key)
            for turn in exchange.output:
                turn.response_id = turn.response_id if key is None else key
                known.update(_parts(turn))
                turns.append(turn)
        if not number:
            return None, problems
        trace = conversation_trace(turns, reading, Record(0, b"{}", line=1), {})
        return replace(check_calls(trace), origin=Origin()), problems
    except BadRecord as bad:
        return None, [*problems, f"request {number}: {bad.message}"]
    except (*UNREADABLE, *MALFORMED) as error:
        return None, [*problems, f"request {number} cannot be read ({type(error).__name__}: {error})"]


def _add(turns: list[Turn], given: list[Turn], known: Counter[_Part]) -> None:
    """Add what a request says that is not known yet. Its answers of a model were made elsewhere, or before."""
    repeated: Counter[_Part] = Counter()

    def is_new(part: _Part) -> bool:
        repeated[part] += 1
        return repeated[part] > known[part]

    for turn in given:
        calls = [call for call in turn.calls if is_new(_call_part(call))]
        results = [result for result in turn.results if is_new(_result_part(result))]
        text = turn.text if turn.text and is_new(_text_part(turn)) else None
        if calls or results or text is not None or turn.handoffs:
            turns.append(
                replace(
                    turn,
                    text=text,
                    calls=calls,
                    results=results,
                    no_model_call=turn.role == "assistant",
                    hosted=min(turn.hosted, len(calls)),
                )
            )
    known |= repeated  # the larger count of each


def _parts(turn: Turn) -> list[_Part]:
    parts = [*map(_call_part, turn.calls), *map(_result_part, turn.results)]
    return [*parts, _text_part(turn)] if turn.text else parts


def _call_part(call: ToolCall) -> _Part:
    if call.id is not None:
        return "call", call.id, call.tool
    return "call", call.tool, msgspec.json.encode(call.arguments, order="deterministic")


def _result_part(result: ToolResult) -> _Part:
    if result.id is not None:
        return "result", result.id
    return "result", result.tool, bytes(result.result_json)


def _text_part(turn: Turn) -> _Part:
    return "text", turn.role, (turn.text or "").strip()
