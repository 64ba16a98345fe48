"""Traces and golden baselines of AgentCI."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import passmuster
from passmuster.traces import Message


def span(kind: str = "agent", **fields: Any) -> dict[str, Any]:
    return {
        "span_id": "s",
        "parent_span_id": None,
        "kind": kind,
        "name": "n",
        "tool_calls": [],
        "llm_calls": [],
        **fields,
    }


SPANS = [
    span(llm_calls=[{"model": "m", "tokens_in": 10, "tokens_out": 5, "cost_usd": 0.01}], input_data="Refund 7"),
    span(
        "tool_call", tool_calls=[{"tool_name": "find", "arguments": {"id": 7}, "result": {"ok": True}, "error": None}]
    ),
    span(
        "tool_call", tool_calls=[{"tool_name": "refund", "arguments": {"id": 7}, "result": None, "error": "no money"}]
    ),
    span("handoff", from_agent="triage", to_agent="billing"),
    span(output_data="Refunded."),
]
TRACE = {
    "trace_id": "t-1",
    "created_at": "2026-02-17T21:36:02Z",
    "spans": SPANS,
    "total_tokens": 15,
    "total_llm_calls": 1,
}


def read(folder: Path, *records: dict[str, Any], ending: str = "json") -> list[passmuster.Trace]:
    path = folder / f"golden.{ending}"
    path.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")
    return list(passmuster.read_traces(path))


def test_a_trace(tmp_path: Path) -> None:
    (trace,) = read(tmp_path, TRACE)
    assert [(call.tool, call.arguments, call.error) for call in trace.tool_calls] == [
        ("find", {"id": 7}, None),
        ("refund", {"id": 7}, "no money"),
    ]
    assert trace.tool_calls[0].result == {"ok": True}
    assert (trace.query, trace.answer, trace.trace_id) == ("Refund 7", "Refunded.", "t-1")
    assert (trace.total_tokens, trace.total_llm_calls) == (15, 1)


def test_a_golden_baseline_has_the_query_beside_it(tmp_path: Path) -> None:
    golden = {"version": "v1", "agent": "shop", "query": "What about 7?", "metadata": {}, "trace": TRACE}
    (trace,) = read(tmp_path, golden)
    assert trace.query == "What about 7?"
    assert len(trace.tool_calls) == 2


def test_several_runs_in_a_file(tmp_path: Path) -> None:
    found = read(tmp_path, TRACE, {**TRACE, "trace_id": "t-2"}, ending="jsonl")
    assert [trace.trace_id for trace in found] == ["t-1", "t-2"]


@pytest.mark.parametrize(
    ("spans", "why"),
    [
        ([span("mystery", tool_calls=[], more={"tool_calls": [{"name": "x"}]})], "unknown kind"),
        ([{**span(), "tool_calls": [5]}], "tool call"),
        ([span(children=[{"tool_calls": [{"tool_name": "x", "arguments": {}}]}])], "children"),
        ([5, span()], "span 1"),
    ],
)
def test_what_could_hold_a_call_is_refused(tmp_path: Path, spans: list[Any], why: str) -> None:
    with pytest.raises(passmuster.TraceError, match=why):
        read(tmp_path, {**TRACE, "spans": spans})


def test_the_answer_that_the_metadata_state_counts_first(tmp_path: Path) -> None:
    answers = [
        trace.answer
        for trace in read(
            tmp_path,
            {**TRACE, "metadata": {"final_output": "Done in the end."}},
            {**TRACE, "metadata": {"final_output": None}},
            {**TRACE, "spans": [span("tool_call", output_data={"ok": True})]},
            ending="jsonl",
        )
    ]
    assert answers == ["Done in the end.", "Refunded.", "{'ok': True}"]


CONVERSATION = {
    "schema_version": 2,
    "agent": "shop",
    "captured_at": "2026-02-17T21:36:02Z",
    "scenario": {"name": "two turns"},
    "turns": [
        {"turn_index": 0, "user_message": "Refund 7", "trace": {**TRACE, "metadata": {"final_output": "Your mail?"}}},
        {"turn_index": 1, "user_message": "a@b.example", "trace": TRACE},
    ],
}


def test_a_recorded_conversation_is_one_run(tmp_path: Path) -> None:
    (trace,) = read(tmp_path, CONVERSATION)
    assert (trace.query, trace.answer) == ("Refund 7", "Refunded.")
    assert [call.tool for call in trace.tool_calls] == ["find", "refund"] * 2
    said = [(step.role, step.content) for step in trace.steps if isinstance(step, Message)]
    assert said == [
        ("user", "Refund 7"),
        ("assistant", "Your mail?"),
        ("user", "a@b.example"),
        ("assistant", "Refunded."),
    ]
    assert (trace.total_tokens, trace.total_llm_calls) == (30, 2)


def test_a_turn_without_a_trace_is_refused(tmp_path: Path) -> None:
    turns = [*CONVERSATION["turns"], {"user_message": "Hello?"}]  # type: ignore[misc]
    with pytest.raises(passmuster.TraceError, match="turn 3 has no trace"):
        read(tmp_path, {**CONVERSATION, "turns": turns})
