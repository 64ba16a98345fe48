"""Whatever an agent prints becomes a trace that can be written and read again, or a failure of the agent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passmuster.agents._answers import AgentFailure, Turn, joined, printed_trace
from passmuster.traces import native_record, read_traces

KEYS = st.sampled_from(
    (
        *("answer", "steps", "messages", "role", "content", "type", "tool", "name", "input", "output", "tool_calls"),
        *("id", "arguments", "function", "spans", "events", "error", "parts", "query", "total_tokens", "result"),
    )
)
LEAVES = st.sampled_from([None, 1, -1, 1.5, True, 10**30, "x", "user", "assistant", "tool_call", "tool_use", "text"])
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=20
)


@given(VALUES, st.booleans())
@settings(max_examples=200, deadline=None)
def test_any_json(value: Any, line: bool) -> None:
    check(json.dumps(value).encode(), line)


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 5000 + b"]" * 5000,
        b'{"answer":"x","steps":[{"type":"tool_call","tool":"a","arguments":{"n":1' + b"0" * 400 + b"}}]}",
        b'{"answer":"x","metadata":{"a":1e400}}',
        b'{"answer":"\\ud800"}',
        b"\xef\xbb\xbfhello",
        b"\0",
        b'{"answer":"x","total_tokens":-1}',
    ],
)
def test_odd_output(data: bytes) -> None:
    check(data, False)


def check(data: bytes, line: bool) -> None:
    try:
        trace = printed_trace(data, line=line)
    except AgentFailure:
        return
    for one in (trace, joined([Turn("q", trace), Turn("q", trace)], 2)):
        (again,) = read_traces(native_record(one))
        assert (again.answer, again.calls_unknown) == (one.answer, one.calls_unknown)
        assert [call.tool for call in again.tool_calls] == [call.tool for call in one.tool_calls]
