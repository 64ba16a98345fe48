"""The native form: what each field becomes, what may be left out, and what is refused with its reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.traces.building import call, lines, read, read_past, refusal, result, tools, trace, write

from passmuster.traces._model import Agent, Fault, Handoff, LlmCall, Message, ToolCall, oversized_numbers

WHOLE = {
    "trace_id": "t-1",
    "scenario": "SEC-001",
    "query": "Who am I?",
    "answer": "A.",
    "run": 2,
    "agent": {"name": "support", "version": "2.1.0"},
    "steps": [
        {"type": "llm_call", "model": "m", "tokens_in": 812, "tokens_out": 40, "cost_usd": 0.0021, "duration_ms": 640},
        {
            "type": "tool_call",
            "id": "c1",
            "tool": "get_customer",
            "arguments": {"id": "cust_1"},
            "result": {"name": "A"},
            "error": None,
            "duration_ms": 31,
            "group": 3,
            "parent": None,
        },
        {"type": "handoff", "from": "triage", "to": "billing"},
        {"type": "message", "role": "user", "content": "Who am I?"},
    ],
    "total_tokens": 852,
    "total_llm_calls": 1,
    "total_duration_ms": 671,
    "total_cost_usd": 0.0021,
    "behaviors": {"verified identity": True},
    "tags": ["smoke"],
    "error": None,
    "metadata": {"anything": [1, 2]},
}


def one(tmp_path: Path, record: Any) -> Any:
    (read_one,) = read(write(tmp_path / "t.jsonl", json.dumps(record).encode()))
    return read_one


def test_every_field_is_read(tmp_path: Path) -> None:
    found = one(tmp_path, WHOLE)
    assert (found.trace_id, found.scenario, found.query, found.answer) == ("t-1", "SEC-001", "Who am I?", "A.")
    assert (found.run, found.agent, found.agent_version) == (2, Agent("support", "2.1.0"), "2.1.0")
    assert found.steps[0] == LlmCall("m", 812, 40, 0.0021, 640.0)
    assert found.steps[2:] == (Handoff("billing", "triage"), Message("user", "Who am I?"))
    (made,) = found.tool_calls
    assert (made.tool, made.id, made.arguments, made.result) == ("get_customer", "c1", {"id": "cust_1"}, {"name": "A"})
    assert (made.duration_ms, made.group, made.failed) == (31.0, 3, False)
    assert (found.total_tokens, found.total_llm_calls) == (852, 1)
    assert (found.total_duration_ms, found.total_cost_usd) == (671.0, 0.0021)
    assert (found.behaviors, found.tags, found.error) == ({"verified identity": True}, ("smoke",), None)


def test_agents_responses_and_times_are_read(tmp_path: Path) -> None:
    steps = [
        {"type": "llm_call", "id": "resp_1", "tokens_in": 9, "tokens_cached": 4, "agent": "triage", "started_at": 17.5},
        call("refund", agent="billing", started_at="2026-03-01T09:30:00Z"),
        {"type": "message", "role": "assistant", "content": "Done.", "agent": "billing"},
    ]
    for loosely in ({}, {"trace_id": 7}):
        found = one(tmp_path, trace(*steps, started_at="2026-03-01T09:29:58Z", inferred=["run"], **loosely))
        assert found.steps[0] == LlmCall(id="resp_1", tokens_in=9, tokens_cached=4, agent="triage", started_at=17.5)
        assert (found.steps[1].agent, found.steps[1].started_at) == ("billing", "2026-03-01T09:30:00Z")
        assert found.steps[2] == Message("assistant", "Done.", "billing")
        assert (found.started_at, found.inferred) == ("2026-03-01T09:29:58Z", ("run",))


@pytest.mark.parametrize(
    ("written", "field", "expected"),
    [
        ({"trace_id": 7}, "trace_id", "7"),
        ({"scenario": 12}, "scenario", "12"),
        ({"answer": ""}, "answer", ""),
        ({"answer": None}, "answer", None),
        ({}, "answer", None),
        ({"agent": {"version": 2.5}}, "agent", Agent(None, "2.5")),
        ({"agent": {"name": "a", "version": None}}, "agent", Agent("a", None)),
        ({"error": "it broke"}, "error", Fault("it broke", "agent")),
        ({"error": {"kind": "infra", "message": "no network"}}, "error", Fault("no network", "infra")),
        ({"error": {}}, "error", Fault("", "agent")),
        ({"error": ""}, "error", None),
        ({"behaviors": ["a"]}, "behaviors", ["a"]),
        ({"tags": None}, "tags", ()),
        ({"total_tokens": 0}, "total_tokens", 0),
    ],
)
def test_looser_ways_to_write_a_field(tmp_path: Path, written: dict[str, Any], field: str, expected: object) -> None:
    assert getattr(one(tmp_path, trace(**written)), field) == expected


def test_an_agent_may_be_a_name(tmp_path: Path) -> None:
    found = one(tmp_path, trace(agent="support"))
    assert found.agent in ("support", Agent("support"))
    assert found.agent_version is None


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({}, {}),
        ({"arguments": None}, None),
        ({"input": None}, {}),
        ({"arguments": None, "args": None}, None),
        ({"arguments": {"a": 1}}, {"a": 1}),
        ({"arguments": '{"a": 1}'}, {"a": 1}),
        ({"arguments": "plain words"}, "plain words"),
        ({"arguments": "[1]"}, "[1]"),
        ({"arguments": [1, 2]}, [1, 2]),
        ({"arguments": '{"a": NaN}'}, '{"a": NaN}'),
        ({"arguments": '{"a": "\\ud83d"}'}, '{"a": "\\ud83d"}'),
        ({"arguments": '{"a": ' + "[" * 20_000 + "]" * 20_000 + "}"}, '{"a": ' + "[" * 20_000 + "]" * 20_000 + "}"),
    ],
)
def test_arguments_are_a_map_unless_the_agent_sent_something_else(
    tmp_path: Path, written: dict[str, Any], expected: object
) -> None:
    assert one(tmp_path, trace(call("t", **written))).tool_calls[0].arguments == expected


@pytest.mark.parametrize(
    ("record", "unknown"),
    [
        ({"answer": "x"}, True),
        ({"answer": "x", "steps": None}, True),
        ({"answer": "x", "trace_id": 7}, True),
        ({"answer": 'the "steps" are secret'}, True),
        ({"steps": []}, False),
        ({"steps": [], "answer": "x"}, False),
        ({"steps": [], "answer": "x", "trace_id": 7}, False),
        ({"steps": [{"type": "llm_call"}]}, False),
        ({"answer": "x", "calls_unknown": False}, True),
        ({"steps": [], "calls_unknown": True}, True),
        ({"steps": [{"type": "llm_call"}], "calls_unknown": True}, True),
        ({"steps": [{"type": "llm_call"}], "calls_unknown": True, "trace_id": 7}, True),
        ({"steps": [{"type": "llm_call"}], "calls_unknown": None}, False),
    ],
    ids=str,
)
def test_calls_are_unknown_where_no_steps_are_recorded(tmp_path: Path, record: dict[str, Any], unknown: bool) -> None:
    assert one(tmp_path, record).calls_unknown is unknown


@pytest.mark.parametrize(("error", "failed"), [(None, False), ("", False), ({}, False), ("no", True), ({"a": 1}, True)])
def test_a_call_failed_if_its_error_says_something(tmp_path: Path, error: object, failed: bool) -> None:
    assert one(tmp_path, trace(call("t", error=error))).tool_calls[0].failed is failed


@pytest.mark.parametrize("digits", [1, 19, 20, 400, 4300])
@pytest.mark.parametrize("sign", ["", "-"])
def test_long_integers_are_kept(tmp_path: Path, digits: int, sign: str) -> None:
    number = sign + "9" * digits
    text = f'{{"steps": [{{"type": "tool_call", "tool": "t", "arguments": {{"n": {number}}}, "result": {number}}}]}}'
    (made,) = read(write(tmp_path / "t.jsonl", text.encode()))[0].tool_calls
    assert made.arguments == {"n": int(number)}
    assert made.result == int(number)


@pytest.mark.parametrize("number", ["1e400", "9" * 5000, "1e99999"])
@pytest.mark.parametrize("sign", ["", "-"])
def test_a_number_beyond_a_double_is_infinite(tmp_path: Path, number: str, sign: str) -> None:
    text = f'{{"steps": [{{"type": "tool_call", "tool": "t", "arguments": {{"n": {sign}{number}}}}}]}}'
    (made,) = read(write(tmp_path / "t.jsonl", text.encode()))[0].tool_calls
    assert made.arguments == {"n": float(sign + "inf")}


LARGEST_DOUBLE = 2**1024 - 2**971


@pytest.mark.parametrize(
    ("number", "oversized"),
    [
        ("5", False),
        ("1e308", False),
        ("9" * 308, False),
        (str(LARGEST_DOUBLE), False),
        (str(LARGEST_DOUBLE + 1), True),
        (str(10**309), True),
        ("9" * 309, True),
        ("9" * 5000, True),
        ("1e400", True),
        ("-1e400", True),
        ("-" + "9" * 309, True),
    ],
)
@pytest.mark.parametrize("padding", [*range(0, 80, 7), 1_000])
def test_a_trace_knows_whether_a_number_is_larger_than_any_double(
    tmp_path: Path, number: str, oversized: bool, padding: int
) -> None:
    """Wherever the number stands in the record, and in every format."""
    arguments = f'{{"{"x" * padding}": 1, "deep": [{{"n": {number}}}]}}'
    spelled = json.dumps(arguments)
    function = f'{{"name": "t", "arguments": {spelled}}}'
    texts = [
        f'{{"steps": [{{"type": "tool_call", "tool": "t", "arguments": {arguments}}}]}}',
        f'{{"steps": [{{"type": "tool_call", "tool": "t", "arguments": {spelled}}}]}}',
        f'{{"type": "tool_call", "tool": "t", "arguments": {arguments}}}',
        f'{{"messages": [{{"role": "assistant", "tool_calls": [{{"function": {function}}}]}}]}}',
    ]
    for text in texts:
        (found,) = read(write(tmp_path / "t.jsonl", text.encode()))
        assert found.has_oversized_number is oversized
        paths = list(oversized_numbers(found.tool_calls[0].arguments))
        assert paths == ([("deep", 0, "n")] if oversized else [])


def test_digits_elsewhere_are_no_oversized_number(tmp_path: Path) -> None:
    text = f'{{"answer": "{"7" * 400}", "steps": [{{"type": "tool_call", "tool": "t", "result": 1e400}}]}}'
    assert not read(write(tmp_path / "t.jsonl", text.encode()))[0].has_oversized_number


def test_results_among_the_steps_are_paired(tmp_path: Path) -> None:
    found = one(tmp_path, trace(call("a", id=1), call("b", id=2), result(id=2, error="x"), result(id=1, result=5)))
    assert tools(found) == ["a", "b"]
    assert [made.result for made in found.tool_calls] == [5, None]
    assert [made.failed for made in found.tool_calls] == [False, True]


BAD = [
    ("{}", "is not a trace"),
    ('{"query": "x"}', "found an object with the keys query"),
    ('{"steps": null}', "neither 'steps' nor 'answer'"),
    ('{"answer": null}', "neither 'steps' nor 'answer'"),
    ('{"steps": {}}', "got `object` - at `$.steps`"),
    ('{"steps": [1]}', "Expected `object`, got `int` - at `$.steps[0]`"),
    ('{"steps": [{}]}', "missing required field `type` - at `$.steps[0]` (a step is one of: tool_call"),
    ('{"steps": [{"type": "toolcall", "tool": "t"}]}', "(a step is one of: tool_call"),
    ('{"steps": [{"type": "tool_call"}]}', "missing required field `tool` - at `$.steps[0]`"),
    ('{"steps": [{"type": "tool_call", "name": "t"}]}', "expected under 'tool', not 'name'"),
    ('{"steps": [{"type": "tool_call", "tool": 5}]}', "Expected `str`, got `int` - at `$.steps[0].tool`"),
    ('{"steps": [{"type": "tool_call", "tool": "t", "args": {"a": 1}}]}', "has 'args' where its 'arguments'"),
    ('{"steps": [{"type": "tool_call", "tool": "t", "arguments": null, "input": {}}]}', "has 'input' where"),
    ('{"steps": [{"type": "tool_call", "tool": "t", "duration_ms": -1}]}', ">= 0"),
    ('{"steps": [{"type": "tool_call", "tool": "t", "argument": {"a": 1}}]}', "has 'argument' where its 'arguments'"),
    (
        '{"answer": "", "tool_calls": [{"tool": "t"}]}',
        "the trace holds a call of 't' in 'tool_calls', which is not read",
    ),
    ('{"steps": [], "actions": [{"tool": "t"}]}', "the trace holds a call of 't' in 'actions', which is not read"),
    ('{"steps": [{"type": "llm_call", "tool_calls": [{}]}]}', "step 1 holds a tool call"),
    ('{"steps": [{"type": "llm_call"}, {"type": "llm_call", "function_call": {"name": "t"}}]}', "step 2 holds"),
    ('{"steps": [{"type": "message", "role": "assistant", "tool_calls": [{}]}]}', "step 1 holds a tool call"),
    ('{"steps": [{"type": "handoff"}]}', "missing required field `to`"),
    ('{"steps": [{"type": "message"}]}', "missing required field `role`"),
    ('{"steps": [], "trace_id": 1.5}', "`$.trace_id`"),
    ('{"steps": [], "total_tokens": -1}', "`$.total_tokens`"),
    ('{"steps": [], "total_tokens": 1.5}', "`$.total_tokens`"),
    ('{"steps": [], "total_cost_usd": true}', "`$.total_cost_usd`"),
    ('{"steps": [], "behaviors": {"a": 1}}', "`$.behaviors"),
    ('{"steps": [], "tags": "a"}', "`$.tags`"),
    ('{"steps": [], "error": {"kind": "network"}}', "`$.error.kind`"),
    ('{"steps": [], "error": true}', "`$.error`"),
    ('{"steps": [', "is cut off"),
    ('{"steps": [], "query": "cut off here', "is cut off"),
    ('{"steps": [], "query": "\\ud83d\\ude00', "is cut off"),
    ('{"steps": [], "query": "tab\there"}', "is not JSON: invalid character"),
    ('{"steps": []} x', "is not JSON"),
    ('{"steps": [NaN]}', "is not JSON"),
    ('{"steps": [], "x": NaN}', "is not JSON"),
    ('{"steps": [], "query": "\\ud83d"}', "half of a surrogate pair"),
    ('{"steps": [], "query": "\\ude00"}', "half of a surrogate pair"),
    ('{"steps": [], "x": ' + "[" * 20_000 + "]" * 20_000 + "}", "is nested too deeply"),
    ('{"steps": [], "x": ' + "[" * 100_000 + "]" * 100_000 + "}", "is nested too deeply"),
]


@pytest.mark.parametrize(("text", "reason"), BAD, ids=[text[:60] for text, _ in BAD])
def test_what_is_no_trace_is_refused_by_file_and_line(tmp_path: Path, text: str, reason: str) -> None:
    good = json.dumps(trace()).encode()
    path = write(tmp_path / "t.jsonl", b"\n".join([good, text.encode(), good]))
    assert refusal(path).startswith("t.jsonl:2: ")
    assert reason in refusal(write(tmp_path / "alone.jsonl", text.encode()) if "keys" in reason else path)
    traces, bad = read_past(path)
    assert (len(traces), bad) == (2, 1)


@pytest.mark.parametrize(
    "record",
    [
        trace(call("t"), {"type": "llm_call", "tool_calls": [{"id": "c1"}]}),
        {**trace(call("t")), "tool_calls": ["t"], "events": [{"tool": "t"}]},
        {**trace({"type": "llm_call", "tool_calls": [], "function_call": None}), "tool_calls": None},
        {"answer": "A.", "events": [{"name": "start"}], "spans": []},
        {"answer": 'You said "tool_calls".'},
    ],
    ids=json.dumps,
)
def test_what_repeats_the_steps_or_tells_of_no_call_is_ignored(tmp_path: Path, record: Any) -> None:
    assert one(tmp_path, record).origin.line == 1


def test_as_deep_as_allowed(tmp_path: Path) -> None:
    """Brackets in strings do not nest, however many there are."""
    deep: object = "[{" * 500
    for _ in range(190):
        deep = [deep, '\\"]']
    assert one(tmp_path, trace(call("t", arguments={"a": deep}))).tool_calls[0].arguments == {"a": deep}


def test_a_long_value_does_not_flood_the_message(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", lines(trace({"type": "x" * 10_000})))
    assert len(refusal(path)) < 500


def test_no_record_can_claim_another_place(tmp_path: Path) -> None:
    found = one(tmp_path, {**trace(), "origin": {"file": "x"}, "—origin": {"file": "x"}})
    assert found.origin.file == "t.jsonl"


def test_traces_made_by_hand_need_no_file() -> None:
    assert ToolCall("t", arguments={}).result is None
