"""Exports of tools that record agents: LangSmith and Langfuse."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from tests.traces.building import Json, lines, read, refusal, write

from passmuster.traces._model import Trace

ASKED, ANSWERED = "Weather in Rome and Oslo?", "Rome is sunny."
CALLS = [
    {"name": "weather", "args": {"city": "Rome"}, "id": "call_of_rome", "type": "tool_call"},
    {"name": "weather", "args": {"city": "Oslo"}, "id": "call_of_oslo", "type": "tool_call"},
]


def check(found: Trace) -> None:
    assert (found.query, found.answer) == (ASKED, ANSWERED)
    assert [(call.tool, call.arguments, call.failed) for call in found.tool_calls] == [
        ("weather", {"city": "Rome"}, False),
        ("weather", {"city": "Oslo"}, True),
    ]
    rome, oslo = found.tool_calls
    assert rome.result == {"sky": "sun"}
    assert rome.group is not None
    assert rome.group == oslo.group
    assert [(call.tokens_in, call.tokens_out, call.tokens_cached) for call in found.model_calls] == [
        (100, 10, 64),
        (100, 10, 64),
    ]


def at(second: int) -> str:
    return f"2026-01-01T00:00:{second:02d}.000000+00:00"


# ── LangSmith ───────────────────────────────────────────────────────────────────────────────────────────────


def run(key: str, kind: str, name: str, start: int, end: int, parent: str | None = "root", **fields: Any) -> Json:
    times = {"start_time": at(start), "end_time": at(end)}
    return {"id": key, "trace_id": "root", "run_type": kind, "name": name, "parent_run_id": parent, **times, **fields}


def answered(content: str, calls: list[Json], key: str) -> Json:
    message = {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", "AIMessage"],
        "kwargs": {
            "content": content,
            "tool_calls": calls,
            "response_metadata": {"id": key, "model_name": "m"},
            "usage_metadata": {"input_tokens": 100, "output_tokens": 10, "input_token_details": {"cache_read": 64}},
        },
    }
    return {"generations": [[{"text": content, "message": message}]]}


def tool_message(key: str, content: str, status: str) -> Json:
    return {"output": {"type": "tool", "content": content, "tool_call_id": key, "status": status}}


RUNS = [
    run(
        "root",
        "chain",
        "agent",
        0,
        9,
        None,
        inputs={"messages": [{"role": "user", "content": ASKED}]},
        outputs={"messages": [{"type": "human", "content": ASKED}, {"type": "ai", "content": ANSWERED}]},
    ),
    run("model", "chain", "model", 1, 2, inputs={}, outputs={}),
    run("llm1", "llm", "ChatModel", 1, 2, "model", inputs={}, outputs=answered("", CALLS, "r1")),
    run(
        "tool1",
        "tool",
        "weather",
        3,
        6,
        inputs={"input": "{'city': 'Rome'}"},
        outputs=tool_message("call_of_rome", '{"sky": "sun"}', "success"),
    ),
    run(
        "tool2",
        "tool",
        "weather",
        3,
        4,
        inputs={"city": "Oslo"},
        extra={"tool_call_id": "call_of_oslo"},
        error="ValueError('no such city')",
    ),
    run("llm2", "llm", "ChatModel", 7, 8, inputs={}, outputs=answered(ANSWERED, [], "r2")),
]


@pytest.mark.parametrize(
    "data",
    [
        lines(*RUNS),
        lines(*reversed(RUNS)),
        json.dumps(RUNS).encode(),
        json.dumps({"runs": RUNS}, indent=1).encode(),
        lines({**RUNS[0], "child_runs": RUNS[1:]}),
        lines(*({key: value for key, value in one.items() if key != "trace_id"} for one in RUNS)),
    ],
)
def test_runs_of_langsmith(tmp_path: Path, data: bytes) -> None:
    (found,) = read(write(tmp_path / "t.json", data))
    check(found)
    assert [call.id for call in found.model_calls] == ["r1", "r2"]


def test_a_batch_of_a_client_puts_both_halves_of_a_run_together(tmp_path: Path) -> None:
    ends = ("outputs", "error", "end_time")
    begun = [{key: value for key, value in one.items() if key not in ends} | {"outputs": {}} for one in RUNS]
    ended = [{key: one[key] for key in ("id", "run_type", *ends) if key in one} for one in RUNS]
    (found,) = read(write(tmp_path / "t.json", {"post": begun, "patch": ended}))
    check(found)


def test_traces_of_langsmith_are_told_apart(tmp_path: Path) -> None:
    other = [
        {**one, "id": f"{one['id']}-2", "trace_id": "root-2", "parent_run_id": above and f"{above}-2"}
        for one in RUNS
        for above in [one["parent_run_id"]]
    ]
    mixed = [each for pair in zip(RUNS, other, strict=True) for each in pair]
    for found in read(write(tmp_path / "t.jsonl", lines(*mixed))):
        check(found)


# ── Langfuse ────────────────────────────────────────────────────────────────────────────────────────────────


def observation(key: str, kind: str, name: str, start: int, end: int, **fields: Any) -> Json:
    times = {"startTime": at(start), "endTime": at(end)}
    return {"id": key, "traceId": "t", "type": kind, "name": name, "parentObservationId": "root", **times, **fields}


USED = {"input": 36, "input_cached_tokens": 64, "output": 10, "total": 110}
ASKS = [
    {"id": one["id"], "type": "function", "function": {"name": one["name"], "arguments": json.dumps(one["args"])}}
    for one in CALLS
]
OBSERVATIONS = [
    {**observation("root", "AGENT", "agent", 0, 9, input=ASKED, output=ANSWERED), "parentObservationId": None},
    observation(
        "g1",
        "GENERATION",
        "chat",
        1,
        2,
        model="m",
        usageDetails=USED,
        input=[{"role": "user", "content": ASKED}],
        output={"role": "assistant", "content": None, "tool_calls": ASKS},
    ),
    observation("t1", "TOOL", "weather", 3, 6, input={"city": "Rome"}, output={"sky": "sun"}),
    observation("t2", "TOOL", "weather", 3, 4, input='{"city": "Oslo"}', level="ERROR", statusMessage="no such city"),
    observation("g2", "GENERATION", "chat", 7, 8, usageDetails=USED, output={"role": "assistant", "content": ANSWERED}),
]
SNAKE = {
    "traceId": "trace_id",
    "startTime": "start_time",
    "endTime": "end_time",
    "parentObservationId": "parent_observation_id",
    "usageDetails": "usage_details",
    "statusMessage": "status_message",
    "model": "provided_model_name",
}


def row(one: Json) -> Json:
    """A row of the table: other names, and JSON as text."""
    plain = {SNAKE.get(key, key): value for key, value in one.items()}
    return {key: json.dumps(value) if isinstance(value, dict | list) else value for key, value in plain.items()}


@pytest.mark.parametrize(
    "data",
    [
        json.dumps(
            {"id": "t", "name": "run", "input": ASKED, "output": ANSWERED, "observations": OBSERVATIONS}
        ).encode(),
        json.dumps({"data": OBSERVATIONS, "meta": {"page": 1}}).encode(),
        json.dumps(OBSERVATIONS).encode(),
        lines(*OBSERVATIONS),
        lines(*random.Random(1).sample(OBSERVATIONS, len(OBSERVATIONS))),
        lines(*map(row, OBSERVATIONS)),
    ],
)
def test_exports_of_langfuse(tmp_path: Path, data: bytes) -> None:
    (found,) = read(write(tmp_path / "t.json", data))
    check(found)


def test_a_trace_that_only_names_its_observations_is_refused(tmp_path: Path) -> None:
    told = refusal(write(tmp_path / "t.json", {"id": "t", "observations": ["a", "b"]}))
    assert "is a trace of Langfuse that only names its observations: export them too" in told
