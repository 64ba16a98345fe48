"""What must hold for any run: order and lines of spans do not matter, and what is left out invents no call."""

from __future__ import annotations

import json
import random
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.traces.spans.recording import (
    Json,
    agent,
    asks,
    chat,
    gives,
    otlp,
    read_documents,
    said,
    span,
    tool,
    words,
)

from passmuster.traces._model import Trace
from passmuster.traces._totals import total_tokens

TOOLS = st.sampled_from(["look", "refund", "send_mail"])
GIVEN: st.SearchStrategy[Json] = st.sampled_from([{}, {"id": 1}, {"id": 2, "deep": {"list": [1, 2.5]}}])


class Call:
    def __init__(self, name: str, arguments: Json, failed: bool, identity: str | None) -> None:
        self.name, self.arguments, self.failed, self.id = name, arguments, failed, identity

    def __repr__(self) -> str:
        return f"{self.name}({self.arguments})"


@st.composite
def turns(draw: st.DrawFn) -> list[list[Call]]:
    """The calls of each model call but the last, which answers."""
    with_ids = draw(st.booleans())
    found = []
    for turn in range(draw(st.integers(0, 3))):
        calls = []
        for number in range(draw(st.integers(1, 3))):
            identity = f"call_{turn}_{number}" if with_ids else None
            calls.append(Call(draw(TOOLS), draw(GIVEN), draw(st.booleans()), identity))
        found.append(calls)
    return found


def recorded(run: list[list[Call]], executed: bool, trace: str, root: bool) -> list[Json]:
    """The spans of a run: model calls with their messages and, if wanted, executions and a root."""
    messages = [said("user", words(f"Question {trace[:2]}"))]
    parent = 1 if root else None
    spans = [agent(1, None, "support", begin=0, end=900, trace=trace)] if root else []
    clock = 10

    def place() -> dict[str, Any]:
        nonlocal clock
        clock += 10
        own = trace if root else f"{trace[:24]}{clock:08x}"
        return {"begin": clock, "trace": own}

    for number, calls in enumerate(run):
        answer = said("assistant", *(asks(call.name, call.arguments, call.id) for call in calls))
        spans.append(chat(10 + number * 10, parent, messages, [answer], **place()))
        for inner, call in enumerate(calls):
            if executed:
                broken = "broken" if call.failed else None
                fields = {"arguments": call.arguments, "result": "fine", "failed": broken, **place()}
                spans.append(tool(11 + number * 10 + inner, parent, call.name, call.id, **fields))
        results = [said("tool", gives("fine", call.id)) for call in calls]
        messages = [*messages, answer, *results]
    spans.append(chat(90, parent, messages, [said("assistant", words(f"Answer {trace[:2]}"))], **place()))
    return spans


def facts(trace: Trace) -> Any:
    """All of a trace but where it stands in its file."""
    return trace.steps, trace.query, trace.answer, trace.inferred, total_tokens(trace)


def read_all(documents: list[Json]) -> list[Trace]:
    with tempfile.TemporaryDirectory() as folder:
        return read_documents(Path(folder), *documents)


def split(spans: list[Json], chance: random.Random) -> list[Json]:
    """The spans as documents of one to three."""
    documents, rest = [], list(spans)
    while rest:
        count = chance.randint(1, 3)
        documents.append(otlp(*rest[:count]))
        rest = rest[count:]
    return documents


@settings(max_examples=40, deadline=None)
@given(turns(), turns(), st.booleans(), st.booleans(), st.randoms(use_true_random=False))
def test_two_runs_in_any_order(
    one: list[list[Call]], other: list[list[Call]], executed: bool, root: bool, chance: Any
) -> None:
    """Runs mixed in one file are told apart, with a root span or by their messages."""
    executed = executed and root
    spans = recorded(one, executed, "a" * 32, root) + recorded(other, executed, "b" * 32, root)
    chance.shuffle(spans)
    found = {trace.answer: trace for trace in read_all(split(spans, chance))}
    assert set(found) == {"Answer aa", "Answer bb"}
    for name, run in (("aa", one), ("bb", other)):
        trace = found[f"Answer {name}"]
        wanted = [call for calls in run for call in calls]
        assert [(call.tool, call.arguments) for call in trace.tool_calls] == [
            (call.name, call.arguments) for call in wanted
        ]
        assert [call.result for call in trace.tool_calls] == ["fine"] * len(wanted)
        assert [call.failed for call in trace.tool_calls] == [call.failed and executed for call in wanted]
        groups = [len(calls) for calls in run if len(calls) > 1]
        assert sorted(Counter(call.group for call in trace.tool_calls if call.group is not None).values()) == sorted(
            groups
        )
        assert (len(trace.model_calls), total_tokens(trace)) == (len(run) + 1, 110 * (len(run) + 1))
        assert trace.query == f"Question {name}"
        assert trace.inferred == (("run",) if run and not root else ())


OPTIONAL = (
    *("gen_ai.tool.call.id", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result"),
    *("gen_ai.response.id", "gen_ai.usage.input_tokens", "gen_ai.input.messages", "gen_ai.output.messages"),
    *("gen_ai.request.model", "gen_ai.agent.name"),
)


@settings(max_examples=80, deadline=None)
@given(turns(), st.data())
def test_what_is_left_out_changes_no_call(run: list[list[Call]], data: st.DataObject) -> None:
    spans = recorded(run, True, "a" * 32, True)
    for one in spans:
        left_out = data.draw(st.sets(st.sampled_from(OPTIONAL), max_size=4))
        one["attributes"] = [pair for pair in one["attributes"] if pair["key"] not in left_out]
    found = read_all([otlp(*spans)])
    wanted = [call for calls in run for call in calls]
    if not found:
        assert not wanted
        return
    (trace,) = found
    assert Counter(call.tool for call in trace.tool_calls) == Counter(call.name for call in wanted)
    arguments = Counter((call.name, json.dumps(call.arguments)) for call in wanted)
    known = Counter((call.tool, json.dumps(call.arguments)) for call in trace.tool_calls if call.arguments is not None)
    assert known <= arguments
    assert sum(call.failed for call in trace.tool_calls) == sum(call.failed for call in wanted)


@settings(max_examples=40, deadline=None)
@given(turns(), st.booleans(), st.data())
def test_spans_that_are_repeated_count_once(run: list[list[Call]], executed: bool, data: st.DataObject) -> None:
    spans = recorded(run, executed, "a" * 32, True)
    again = data.draw(st.lists(st.sampled_from(spans), max_size=4))
    ((whole,), (found,)) = read_all([otlp(*spans)]), read_all([otlp(*spans, *again)])
    assert facts(found) == facts(whole)


@settings(max_examples=40, deadline=None)
@given(turns(), st.booleans(), st.data())
def test_other_spans_between_change_nothing(run: list[list[Call]], executed: bool, data: st.DataObject) -> None:
    spans = recorded(run, executed, "a" * 32, True)
    noise = [
        span(200 + number, "GET /health", 1, {"http.method": "GET"}, begin=number * 7, trace="a" * 32)
        for number in range(data.draw(st.integers(0, 4)))
    ]
    ((whole,), (found,)) = read_all([otlp(*spans)]), read_all([otlp(*noise, *spans)])
    assert facts(found) == facts(whole)
