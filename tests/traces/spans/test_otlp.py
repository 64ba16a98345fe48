"""OTLP: its wrappings, and one run from the spans of current conventions."""

from __future__ import annotations

import gc
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from tests.traces.building import read, refusal, source_of, tools, write
from tests.traces.spans.recording import (
    TRACE,
    agent,
    asks,
    calls,
    chat,
    gives,
    log,
    otlp,
    read_documents,
    read_spans,
    said,
    span,
    tool,
    words,
)

from passmuster.traces._model import Handoff, LlmCall, Message
from passmuster.traces._reading import BadLines, read_source
from passmuster.traces._totals import total_tokens
from passmuster.traces.spans._tree import Node
from passmuster.traces.spans._turns import Turn

QUESTION = said("user", words("Weather and report?"))
BOTH = said("assistant", asks("report", {"days": 7}, "c1"), asks("weather", '{"city": "Rome"}', "c2"))
RESULTS = said("tool", gives("done", "c1"), gives({"sky": "blue"}, "c2"))
ANSWER = said("assistant", words("All fine."))
RUN = [
    agent(1, None, "support", begin=1, end=99),
    chat(2, 1, [QUESTION], [BOTH]),
    tool(3, 1, "weather", "c2", arguments={"city": "Rome"}, result={"sky": "blue"}),
    tool(4, 1, "report", "c1", arguments={"days": 7}, failed="no printer"),
    chat(5, 1, [QUESTION, BOTH, RESULTS], [ANSWER], attributes={"gen_ai.usage.cache_read.input_tokens": 40}),
]


def test_a_run_of_current_conventions(tmp_path: Path) -> None:
    (found,) = read_spans(tmp_path, *RUN)
    assert (found.trace_id, found.query, found.answer) == (TRACE, "Weather and report?", "All fine.")
    assert calls(found) == [("report", {"days": 7}), ("weather", {"city": "Rome"})]
    report, weather = found.tool_calls
    assert (report.error, weather.error, weather.result) == ("no printer", None, {"sky": "blue"})
    assert report.group is not None
    assert report.group == weather.group
    assert {report.agent, weather.agent, found.model_calls[0].agent} == {"support"}
    assert [call.tokens_in for call in found.model_calls] == [100, 100]
    assert found.model_calls[1].tokens_cached == 40
    assert found.model_calls[0].id == "resp-0af7-2"
    assert total_tokens(found) == 220
    assert (found.started_at, found.total_duration_ms) == ("2026-09-21T14:13:20.001000Z", 98.0)
    assert [type(step) for step in found.steps[:2]] == [Message, LlmCall]
    assert (found.inferred, found.calls_unknown) == ((), False)


@pytest.mark.parametrize("name", ["spans.json", "spans.json.gz", "spans.jsonl", "spans.txt"])
def test_wrappings_of_json(tmp_path: Path, name: str) -> None:
    (found,) = read(write(tmp_path / name, json.dumps(otlp(*RUN)).encode() + b"\n"))
    assert tools(found) == ["report", "weather"]


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda document: {"batches": document["resourceSpans"]},
        lambda document: {"trace": document},
        lambda document: {
            "resource_spans": [
                {"scope_spans": [_snake(one) for one in document["resourceSpans"][0]["scopeSpans"]], "resource": None}
            ]
        },
    ],
    ids=["Tempo", "Tempo 2", "underscores"],
)
def test_other_wrappings(tmp_path: Path, wrapped: Any) -> None:
    (found,) = read_documents(tmp_path, wrapped(otlp(*RUN)))
    assert calls(found) == [("report", {"days": 7}), ("weather", {"city": "Rome"})]
    assert found.tool_calls[0].error == "no printer"


def _snake(value: Any) -> Any:
    if isinstance(value, list):
        return [_snake(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {"".join(f"_{c.lower()}" if c.isupper() else c for c in key): _snake(one) for key, one in value.items()}


def test_each_call_has_its_line(tmp_path: Path) -> None:
    from passmuster.traces import lines_of, spot_of_call

    (found,) = read_documents(tmp_path, *(otlp(one) for one in RUN))
    spots = [spot_of_call(found, number) for number in range(2)]
    assert [lines_of(spots)[spot] for spot in spots] == [4, 3]
    text = json.dumps(otlp(*RUN), indent=1)
    (found,) = read(write(tmp_path / "spans.json", text.encode()))
    spots = [spot_of_call(found, number) for number in range(2)]
    expected = [next(n for n, line in enumerate(text.splitlines(), 1) if f'"{one["spanId"]}"' in line) for one in RUN]
    assert [lines_of(spots)[spot] for spot in spots] == [expected[3], expected[2]]


def protobuf(document: dict[str, Any]) -> bytes:
    pytest.importorskip("opentelemetry.proto.trace.v1.trace_pb2")
    from google.protobuf.json_format import ParseDict
    from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

    data: bytes = ParseDict(_base64_ids(document), TracesData()).SerializeToString()
    return data


def _base64_ids(value: Any) -> Any:
    import base64

    if isinstance(value, list):
        return [_base64_ids(one) for one in value]
    if not isinstance(value, dict):
        return value
    ids = ("traceId", "spanId", "parentSpanId")
    return {
        key: base64.b64encode(bytes.fromhex(one)).decode() if key in ids else _base64_ids(one)
        for key, one in value.items()
    }


@pytest.mark.parametrize("packed", [False, True])
def test_protobuf(tmp_path: Path, packed: bool) -> None:
    data = protobuf(otlp(*RUN))
    path = tmp_path / ("spans.pb.gz" if packed else "spans.pb")
    path.write_bytes(gzip.compress(data) if packed else data)
    (found,), (same,) = read(path), read_spans(tmp_path, *RUN)
    assert (found.steps, found.query, found.answer) == (same.steps, same.query, same.answer)


def test_damaged_protobuf_is_refused(tmp_path: Path) -> None:
    data = protobuf(otlp(*RUN))
    assert "is not OTLP" in refusal(write(tmp_path / "spans.pb", data[: len(data) // 2]))


def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = protobuf(otlp(*RUN))
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry.proto.trace.v1.trace_pb2", None)
    assert "pip install 'passmuster[otlp]'" in refusal(write(tmp_path / "spans.pb", data))


def test_messages_in_log_records(tmp_path: Path) -> None:
    attributes = dict.fromkeys(("gen_ai.input.messages", "gen_ai.output.messages"))
    requested = {"id": "c1", "type": "function", "function": {"name": "refund", "arguments": '{"id": 7}'}}
    (found,) = read_documents(
        tmp_path,
        log(3, "gen_ai.tool.message", {"id": "c1", "content": "refunded"}, at=3),
        log(2, "gen_ai.choice", {"index": 0, "message": {"role": "assistant", "tool_calls": [requested]}}),
        otlp(chat(3, 1, [], None, attributes=attributes)),
        log(3, "gen_ai.assistant.message", {"tool_calls": [requested]}, at=2),
        log(3, "gen_ai.user.message", {"content": "Refund 7."}, at=1),
        otlp(span(1, "handle", None, {}, begin=1, end=99), chat(2, 1, [], None, attributes=attributes)),
        log(3, "gen_ai.choice", {"index": 0, "message": {"role": "assistant", "content": "Done."}}),
        log(2, "gen_ai.user.message", {"content": "Refund 7."}),
    )
    assert calls(found) == [("refund", {"id": 7})]
    assert (found.query, found.answer, found.tool_calls[0].result) == ("Refund 7.", "Done.", "refunded")


def test_handoffs_and_sub_agents(tmp_path: Path) -> None:
    request = said("assistant", asks("ask_billing", {"task": "refund"}, "outer"))
    (found,) = read_spans(
        tmp_path,
        agent(1, None, "triage", begin=1, end=99),
        chat(2, 1, [QUESTION], [request]),
        tool(3, 1, "ask_billing", "outer", result="ok", end=60),
        agent(4, 3, "billing", end=59),
        chat(5, 4, [said("user", words("refund"))], [said("assistant", asks("refund", {"id": 7}, "inner"))], begin=45),
        tool(6, 4, "refund", "inner", result="ok", begin=51, end=52),
        chat(7, 4, [], [said("assistant", words("Refunded."))], begin=53),
        chat(8, 1, [], [ANSWER], begin=80),
        span(9, "", 1, {"span_data": {"type": "handoff", "from_agent": "triage", "to_agent": "sales"}}, begin=81),
    )
    assert [(call.tool, call.agent, call.parent) for call in found.tool_calls] == [
        ("ask_billing", "triage", None),
        ("refund", "billing", "outer"),
    ]
    assert found.answer == "All fine."
    assert [step for step in found.steps if isinstance(step, Handoff)] == [Handoff("sales", "triage")]


def test_log_records_without_their_spans(tmp_path: Path) -> None:
    requested = {"id": "c1", "type": "function", "function": {"name": "refund", "arguments": '{"id": 7}'}}
    asked = {"role": "assistant", "tool_calls": [requested]}
    (found,) = read_documents(
        tmp_path,
        log(2, "gen_ai.user.message", {"content": "Refund 7."}, at=1),
        log(2, "gen_ai.choice", {"index": 0, "message": asked}, at=2),
        log(3, "gen_ai.user.message", {"content": "Refund 7."}, at=3),
        log(3, "gen_ai.assistant.message", asked, at=4),
        log(3, "gen_ai.tool.message", {"id": "c1", "content": "refunded"}, at=5),
        log(3, "gen_ai.choice", {"index": 0, "message": {"role": "assistant", "content": "Done."}}, at=6),
    )
    assert calls(found) == [("refund", {"id": 7})]
    assert (found.query, found.answer, found.tool_calls[0].result) == ("Refund 7.", "Done.", "refunded")


def test_log_records_of_claude_code_alone(tmp_path: Path) -> None:
    own = {"session.id": "s", "prompt.id": "p"}
    told = {**own, "tool_use_id": "c1", "tool_name": "Read", "tool_input": '{"file": "a"}', "success": "true"}
    (found,) = read_documents(
        tmp_path,
        log(0, "claude_code.user_prompt", "", at=1, attributes={**own, "prompt": "Read a."}, trace=""),
        log(0, "claude_code.tool_result", "", at=3, attributes=told, trace=""),
        log(
            0, "claude_code.api_request", "", at=2, attributes={**own, "input_tokens": 5, "output_tokens": 2}, trace=""
        ),
    )
    assert calls(found) == [("Read", {"file": "a"})]
    assert (found.query, total_tokens(found)) == ("Read a.", 7)


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (otlp(span(1, "GET /", None, {"http.method": "GET"})), "none of its 1 spans is a model call"),
        ({"resourceSpans": []}, "nothing is a model call"),
        ({"resourceMetrics": [{}]}, "nothing is a model call"),
    ],
)
def test_a_file_without_a_run_is_refused(tmp_path: Path, document: Any, problem: str) -> None:
    assert problem in refusal(write(tmp_path / "spans.json", document))


def test_time_stays_linear(tmp_path: Path) -> None:
    """Many equal calls without ids in one run, deep nesting, rings of parents: none takes the square of the time."""
    many = [asks("look", {"n": number % 3}) for number in range(1000)]
    spans = [agent(1, None, "a", end=90_000), chat(2, 1, [QUESTION], [said("assistant", *many)])]
    spans += [tool(10 + number, 1, "look", arguments={"n": number % 3}, result=1) for number in range(1000)]
    (found,) = read_spans(tmp_path, *spans)
    assert len(found.tool_calls) == 1000
    deep = [tool(2 + number, 1 + number, f"t{number}") for number in range(1000)]
    (found,) = read_spans(tmp_path, *deep)
    assert len(found.tool_calls) == 1000
    ring = [tool(2, 3, "a"), tool(3, 2, "b"), tool(4, 4, "c")]
    (found,) = read_spans(tmp_path, *ring)
    assert sorted(tools(found)) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("spans", "problem"),
    [
        (
            [chat(2, None, [QUESTION], [said("assistant", {"type": "super_tool", "x": 1})])],
            "a part of type 'super_tool'",
        ),
        ([span(7, "x", None, {"gen_ai.tool.call.arguments": "{}"}), *RUN], "'gen_ai.tool.call.arguments'"),
        ([span(7, "", None, {"openinference.span.kind": "TOOL"}), *RUN], "has no name"),
    ],
)
def test_what_could_be_a_call_is_refused(tmp_path: Path, spans: list[Any], problem: str) -> None:
    path = write(tmp_path / "spans.json", otlp(*spans))
    message = refusal(path)
    assert problem in message
    assert "--accept-loss" in message
    source = source_of(path)
    bad = BadLines(source, skip=False, accept_loss=True)
    assert list(read_source(source, bad))
    assert any(problem in loss.found for loss in bad.losses)


def test_spans_are_freed_as_their_traces_are_made(tmp_path: Path) -> None:
    """Not by the garbage collector, which takes an eighth of the time if there are cycles to be found."""
    gc.collect()
    gc.disable()
    try:
        read_spans(tmp_path, *RUN)
        assert not [one for one in gc.get_objects() if type(one) in (Node, Turn)]
    finally:
        gc.enable()


def test_runs_that_are_worked_out_are_told_by_one_warning(tmp_path: Path) -> None:
    """Model calls without a root span are joined by their messages; each file has one line about it."""
    asked = said("assistant", asks("refund", {"id": 7}, "c1"))
    first = chat(2, None, [QUESTION], [asked], trace="a" * 32)
    second = chat(3, None, [QUESTION, asked, said("tool", gives("ok", "c1"))], [ANSWER], trace="b" * 32)
    source = source_of(write(tmp_path / "spans.json", otlp(first, second)))
    bad = BadLines(source, skip=False)
    (found,) = read_source(source, bad)
    assert (found.inferred, calls(found), len(found.model_calls)) == (("run",), [("refund", {"id": 7})], 2)
    (loss,) = bad.losses
    assert "worked out" in loss.found
    assert loss.may_hold_call, "which makes it a warning"
