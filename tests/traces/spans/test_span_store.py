"""Spans of a large file wait in a temporary file, and add up to the same traces as those that stay in memory."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.traces.spans.recording import (
    Json,
    agent,
    asks,
    chat,
    gives,
    log,
    otlp,
    read_documents,
    said,
    span,
    tool,
    words,
)

from passmuster.traces._model import Trace
from passmuster.traces.spans import _gathering
from passmuster.traces.spans._span import Event, Span
from passmuster.traces.spans._span_store import SpanStore

VALUES: st.SearchStrategy[Any] = st.one_of(
    *(st.none(), st.booleans(), st.floats(allow_nan=False), st.text(max_size=5), st.lists(st.integers(0, 9))),
    st.integers(-(2**70), 2**70),  # msgpack holds 64 bits
)


@st.composite
def spans(draw: st.DrawFn) -> list[Span]:
    found = []
    for number in range(draw(st.integers(0, 12))):
        attributes = draw(st.dictionaries(st.text(max_size=3), VALUES, max_size=3))
        events = [Event("happened", dict(attributes), draw(VALUES), number)] if draw(st.booleans()) else []
        found.append(
            Span(draw(st.sampled_from("abc")), str(number), "", "work", 1, 2, attributes, events, order=number)
        )
    return found


@settings(max_examples=60, deadline=None)
@given(spans(), st.sets(st.integers(0, 12)))
def test_moved_spans_are_the_same(added: list[Span], moments: set[int]) -> None:
    store = SpanStore()
    for number, one in enumerate(added):
        store.add(one)
        if number in moments:
            store.move_out()
    found = {trace_id: store.take([trace_id]) for trace_id in store.ids()}
    store.close()
    for trace_id, kept in found.items():
        kept.sort(key=lambda one: one.order)  # those that cannot be moved come last
        assert kept == [one for one in added if one.trace_id == trace_id]
    assert set(found) == {one.trace_id for one in added}
    assert store.ids() == []


def test_traces_stay_in_the_order_they_begin() -> None:
    store = SpanStore()
    for number, trace_id in enumerate("bacab"):
        store.add(Span(trace_id, str(number), "", "work", 1, 2, {}, []))
        if number in (1, 3):
            store.move_out()
    assert store.ids() == ["b", "a", "c"]
    assert [one.span_id for one in store.take(["b", "a"])] == ["0", "4", "1", "3"]
    store.close()


def conversation(trace: str, tool_trace: str | None = None) -> list[Json]:
    """A run with one call, whose execution may stand in a trace of its own."""
    question, request = (
        said("user", words("Where is it?")),
        said("assistant", asks("look", {"id": 7}, f"call-{trace[:2]}")),
    )
    own = {"arguments": {"id": 7}, "result": {"found": trace[:2]}, "trace": tool_trace or trace}
    answer = said("assistant", words(f"Answer {trace[:2]}"))
    return [
        agent(1, None, "support", begin=0, end=90, trace=trace),
        chat(2, 1, [question], [request], trace=trace),
        tool(3, None if tool_trace else 1, "look", f"call-{trace[:2]}", **own),
        chat(4, 1, [question, request, said("tool", gives("short", f"call-{trace[:2]}"))], [answer], trace=trace),
    ]


def logged() -> list[Json]:
    """A model call whose messages are log records, which come after its span."""
    model = span(5, "chat", None, {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}, trace="d" * 32)
    asked = log(5, "gen_ai.user.message", {"content": "How?"}, trace="d" * 32)
    return [otlp(model), asked, log(5, "gen_ai.choice", {"message": {"content": "So."}}, trace="d" * 32, at=1)]


FILES = {
    "traces in turn": [
        otlp(one) for pair in zip(conversation("a" * 32), conversation("b" * 32), strict=True) for one in pair
    ],
    "a tool in a trace of its own": [otlp(one) for one in (*conversation("a" * 32, "c" * 32), *conversation("b" * 32))],
    "log records": [*(otlp(one) for one in conversation("a" * 32)), *logged()],
}


@pytest.mark.parametrize("documents", FILES.values(), ids=FILES)
def test_large_files_are_read_like_small_ones(
    documents: list[Json], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = read_documents(tmp_path, *documents)
    monkeypatch.setattr(_gathering, "_MOST_HELD", 0)
    assert read_documents(tmp_path, *documents) == whole
    assert len(whole) == 2
    assert all(trace.answer for trace in whole)


def test_a_tool_in_a_trace_of_its_own_belongs_to_the_run_that_asked(tmp_path: Path) -> None:
    found: list[Trace] = read_documents(tmp_path, *FILES["a tool in a trace of its own"])
    assert [(call.tool, call.result) for trace in found for call in trace.tool_calls] == [
        ("look", {"found": "aa"}),
        ("look", {"found": "bb"}),
    ]


def test_without_a_folder_for_temporary_files_spans_stay_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = FILES["traces in turn"]
    whole = read_documents(tmp_path, *documents)
    monkeypatch.setattr(_gathering, "_MOST_HELD", 0)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    assert read_documents(tmp_path, *documents) == whole
