"""What an agent gave back, turn by turn, as one trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from passmuster._problems import TraceError
from passmuster.traces import Fault, Message, Trace, format_of, read_traces

_TOTALS = ("total_tokens", "total_llm_calls", "total_duration_ms", "total_cost_usd")


class AgentFailure(Exception):
    """The agent failed: it crashed, took too long, or gave back what is no answer."""


class OutsideFailure(Exception):
    """Something outside the agent failed, so that it can be tried again."""


class Turn(Struct, frozen=True):
    """What the user said, and what came back."""

    query: str
    trace: Trace


def returned_trace(value: Any, format: str | None = None) -> Trace:
    """What an agent returned: text, messages, or a record of any format. Raises `AgentFailure` for anything else."""
    if isinstance(value, str):
        return Trace(answer=value, calls_unknown=True)
    try:
        found = list(read_traces(value, format=format))
    except (TraceError, TypeError) as error:
        raise AgentFailure(f"gave back what is no trace: {error}") from None
    if len(found) != 1:
        raise AgentFailure(f"gave back {len(found)} traces, expected one")
    return replace(found[0], origin=Trace().origin)


def printed_trace(data: bytes, *, line: bool = False, how: str = "printed") -> Trace:
    """What an agent printed: JSON of a known format, or else text; a line may be a JSON string, for the sake of line
    breaks. Raises `AgentFailure` where it is empty or no UTF-8; `how` is the verb for that."""
    try:
        text = data.decode().strip()
    except UnicodeDecodeError as error:
        found = f"byte 0x{data[error.start]:02x} at offset {error.start}"
        raise AgentFailure(f"{how} what is not UTF-8: {found}") from None
    if not text:
        raise AgentFailure(f"{how} nothing")
    value = decoded_json(text)
    if line and isinstance(value, str):
        return returned_trace(value)
    name = recognized(value)
    return returned_trace(value, name) if name else returned_trace(text)


def recognized(value: Any) -> str | None:
    """The format of a record or a list; None for anything else. Raises `AgentFailure` where it could be several."""
    if not isinstance(value, dict | list):
        return None
    try:
        return format_of(value)
    except TraceError as error:
        raise AgentFailure(f"gave back what is no trace: {error}") from None


def decoded_json(text: str | bytes) -> Any:
    """The value of JSON text; None where it is none."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def conversation(turns: Sequence[Turn], query: str) -> list[dict[str, Any]]:
    """What was said so far, with the query of the next turn."""
    said: list[dict[str, Any]] = []
    for turn in turns:
        said.append({"role": "user", "content": turn.query})
        said.append({"role": "assistant", "content": turn.trace.answer or ""})
    return [*said, {"role": "user", "content": query}]


def joined(turns: Sequence[Turn], planned: int) -> Trace:
    """One trace of all turns; of `planned` turns the last ones may not have taken place."""
    if planned == 1 and turns:
        return turns[0].trace if turns[0].trace.query else replace(turns[0].trace, query=turns[0].query)
    if not turns:
        return Trace(calls_unknown=True)
    steps: list[Any] = []
    whole = False
    for turn in turns:
        own = _own_steps(turn)
        whole = whole or len(own) < len(turn.trace.steps)
        steps += [Message("user", turn.query), *own]
        answer = turn.trace.answer
        if answer is not None and not any(type(one) is Message and one.text == answer for one in own):
            steps.append(Message("assistant", answer))
    last = turns[-1].trace
    counted = [last] if whole else [turn.trace for turn in turns]
    return replace(
        last,
        steps=tuple(steps),
        query=turns[0].query,
        calls_unknown=any(turn.trace.calls_unknown for turn in turns),
        error=next((turn.trace.error for turn in turns if turn.trace.error), None),
        **{name: _sum([getattr(one, name) for one in counted]) for name in _TOTALS},
    )


def _own_steps(turn: Turn) -> Sequence[Any]:
    """The steps of this turn alone, where the agent gave back the whole conversation."""
    steps = turn.trace.steps
    for place in range(len(steps) - 1, -1, -1):
        step = steps[place]
        if type(step) is Message and step.role == "user" and _folded(step.text) == _folded(turn.query):
            return steps[place + 1 :]
    return steps


def _folded(text: str | None) -> str:
    return " ".join((text or "").split())


def _sum(values: Sequence[Any]) -> Any:
    return None if any(value is None for value in values) else sum(values)


def failed_trace(trace: Trace, message: str, *, infra: bool = False) -> Trace:
    """The trace with an error; one that it has itself stays."""
    return trace if trace.error else replace(trace, error=Fault(message, "infra" if infra else "agent"))
