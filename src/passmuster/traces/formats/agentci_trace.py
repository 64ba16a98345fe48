"""Traces and golden baselines of AgentCI: spans with their tool calls and model calls.

A span of kind `tool_call` repeats the call that it is. A baseline is a trace with the query beside it; a recorded
conversation has a trace for each of its turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from passmuster.traces._building import Fields, Reading
from passmuster.traces._message_parts import Lose, arguments_of, could_hold_call, entries, key_of, name_of, outcome
from passmuster.traces._model import Agent, Handoff, ToolCall, Trace
from passmuster.traces._records import BadRecord, Record
from passmuster.traces._run_log import RunLog, each_record
from passmuster.traces._turns import Turn
from passmuster.traces._usage import usage_of

DESCRIPTION = "Traces and golden baselines of AgentCI (ciagent)."
SHAPE = '{"trace_id": …, "spans": [{"span_id": …, "kind": "agent", "tool_calls": […]}]}'
LACKS = ("groups",)

_KINDS = {"agent", "tool_call", "tool", "llm_call", "llm", "node", "handoff", "guardrail"}
_TOTALS = {"total_cost_usd": float, "total_duration_ms": float, "total_tokens": int, "total_llm_calls": int}
_KNOWN = {
    *("span_id", "parent_span_id", "kind", "name", "input_data", "output_data", "stop_reason", "graph_state"),
    *("tool_calls", "llm_calls", "total_tokens_in", "total_tokens_out", "total_cost_usd", "duration_ms", "metadata"),
    *("attributes", "from_agent", "to_agent", "guardrail_name", "guardrail_triggered", "start_time", "end_time"),
}


def detect(record: Fields) -> float:
    """Sure of spans that have a kind and lists of calls."""
    spans = bytes(record.get("spans", b"")) or (bytes(record.get("trace", b"")) if "query" in record else b"")
    if not spans and (turns := bytes(record.get("turns", b""))) and b'"user_message"' in turns:
        spans = turns
    marks = (b'"span_id"', b'"kind"', b'"tool_calls"', b'"llm_calls"')
    return 0.99 if spans and all(mark in spans for mark in marks) else 0


def splittable(first: Fields) -> bool:
    """Every record is a run."""
    return True


def read(records: Iterator[Record], reading: Reading) -> Iterator[Trace]:
    """One trace per record."""
    for record in records:
        runs: list[RunLog] = []

        def add(fields: Mapping[str, Any], record: Record, lose: Lose, runs: list[RunLog] = runs) -> None:
            runs.append(_run(fields, record, lose))

        each_record(iter((record,)), reading, add)
        for run in runs:
            yield run.trace(reading, "spans")


def _run(fields: Mapping[str, Any], record: Record, lose: Lose) -> RunLog:
    if isinstance(fields.get("turns"), list):
        return _conversation(fields, record, lose)
    trace = fields["trace"] if isinstance(fields.get("trace"), Mapping) else fields
    run = RunLog(record, trace_id=_text(trace, "trace_id"))
    run.query = _text(fields, "query") or _text(trace, "query")
    agent = _text(trace, "agent_name") or _text(fields, "agent")
    run.agent = Agent(agent) if agent else None
    run.started_at = _text(trace, "created_at")
    _add_spans(trace, record, lose, run)
    for key in _TOTALS:
        setattr(run, key, _total(trace, key))
    return run


def _conversation(fields: Mapping[str, Any], record: Record, lose: Lose) -> RunLog:
    """A conversation as one run, with the totals of all its turns."""
    run = RunLog(record)
    agent = _text(fields, "agent")
    run.agent = Agent(agent) if agent else None
    run.started_at = _text(fields, "captured_at")
    traces = []
    for index, turn in enumerate(fields["turns"]):
        trace = turn.get("trace") if isinstance(turn, Mapping) else None
        if not isinstance(trace, Mapping):
            raise BadRecord(record.offset, f"turn {index + 1} has no trace")
        traces.append(trace)
        run.add(Turn("user", _text(turn, "user_message")), record, index)
        run.answer = None
        _add_spans(trace, record, lose, run)
        if run.answer is not None:
            run.add(Turn("assistant", run.answer, no_model_call=True), record, index)
    for key in _TOTALS:
        totals = [total for trace in traces if (total := _total(trace, key)) is not None]
        setattr(run, key, sum(totals) if totals else None)
    return run


def _add_spans(trace: Mapping[str, Any], record: Record, lose: Lose, run: RunLog) -> None:
    """What the spans of a trace show; the answer is what AgentCI takes for it."""
    spans = trace.get("spans")
    if not isinstance(spans, list):
        raise BadRecord(record.offset, "is a trace of AgentCI whose 'spans' are no list")
    for index, span in enumerate(spans):
        if not isinstance(span, Mapping):
            raise BadRecord(record.offset, f"span {index + 1} is not an object")
        _span(span, record, index, lose, run)
    stated = trace.get("metadata")
    final = stated.get("final_output") if isinstance(stated, Mapping) else None
    if final is None and run.answer is None and spans:
        final = spans[-1].get("output_data")
    if final is not None:
        run.answer = final if isinstance(final, str) else str(final)


def _total(trace: Mapping[str, Any], key: str) -> Any:
    """A total that the trace states; a cost or a duration of zero means that none was measured."""
    value, kind = trace.get(key), _TOTALS[key]
    if isinstance(value, bool) or not isinstance(value, int if kind is int else int | float):
        return None
    return value if kind is int or value > 0 else None


def _span(span: Mapping[str, Any], record: Record, index: int, lose: Lose, run: RunLog) -> None:
    kind = span.get("kind")
    if kind not in _KINDS:
        lose(f"has a span of the unknown kind {str(kind)[:60]!r}", could_hold_call(span))
    if unknown := {key for key in span if key not in _KNOWN and could_hold_call(span[key])}:
        lose(f"has a span with {', '.join(sorted(unknown))}, which no reader parses", True)
    for call in entries(span, "llm_calls", lose):
        if isinstance(call, Mapping):
            cost = call.get("cost_usd")
            tokens = usage_of({"input_tokens": call.get("tokens_in"), "output_tokens": call.get("tokens_out")})
            said = Turn("assistant", model=_text(call, "model"), usage=tokens)
            said.cost_usd = cost if isinstance(cost, int | float) and not isinstance(cost, bool) else None
            run.add(said, record, index)
    turn = Turn("assistant", no_model_call=True)
    for call in entries(span, "tool_calls", lose):
        if not isinstance(call, Mapping):
            lose("has a tool call that is no object", True)
            continue
        tool, key = name_of(call, "tool_name", "name"), key_of(call, "id", "tool_call_id")
        turn.calls.append(ToolCall(tool, key, arguments_of(call, "arguments", "args")))
        if call.get("result") is not None or call.get("error"):
            turn.results.append(outcome(call.get("result"), call.get("error"), key, tool))
    if kind == "handoff" and isinstance(span.get("to_agent"), str):
        turn.handoffs.append(Handoff(span["to_agent"], _text(span, "from_agent")))
    if turn.calls or turn.handoffs:
        run.add(turn, record, index)
    if kind == "agent":
        run.query = run.query or _text(span, "input_data")
        run.answer = span["output_data"] if isinstance(span.get("output_data"), str) else run.answer


def _text(fields: Mapping[str, Any], key: str) -> str | None:
    return value if isinstance(value := fields.get(key), str) and value else None
