"""Event lines: one step a record, gathered into traces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.traces.building import call, header, lines, read, read_past, refusal, result, said, tools, trace, write

from passmuster.traces._model import Fault

Json = dict[str, Any]


def test_a_file_is_one_trace(tmp_path: Path) -> None:
    path = write(
        tmp_path / "e.jsonl",
        lines(
            call("a", id="1", arguments={"x": 1}),
            result(id="1", result="ok", duration_ms=5),
            {"type": "llm_call", "tokens_in": 3, "tokens_out": 4},
            {"type": "handoff", "to": "billing"},
            call("b"),
        ),
    )
    (found,) = read(path)
    assert tools(found) == ["a", "b"]
    assert (found.tool_calls[0].result, found.tool_calls[0].duration_ms) == ("ok", 5.0)
    assert len(found.steps) == 4
    assert found.trace_id is None


GROUPINGS: list[tuple[list[Json], list[tuple[str | None, list[str]]]]] = [
    ([call("a"), call("b")], [(None, ["a", "b"])]),
    ([call("a", trace_id="x"), call("b", trace_id="y"), call("c", trace_id="x")], [("x", ["a", "c"]), ("y", ["b"])]),
    ([call("a", trace_id="x"), call("b"), call("c", trace_id="y"), call("d")], [("x", ["a", "b"]), ("y", ["c", "d"])]),
    ([call("a"), call("b", trace_id="x")], [(None, ["a"]), ("x", ["b"])]),
    ([call("a", trace_id=1), call("b", trace_id="1")], [("1", ["a", "b"])]),
    ([header(trace_id="x"), call("a"), header(trace_id="y"), call("b")], [("x", ["a"]), ("y", ["b"])]),
    ([header(trace_id="x", steps=[call("a")]), header(trace_id="y", steps=[call("b")])], [("x", ["a"]), ("y", ["b"])]),
    ([header(steps=[call("a")]), call("b")], [(None, ["a", "b"])]),
]


@pytest.mark.parametrize(("events", "expected"), GROUPINGS)
def test_records_with_ids_tell_traces_apart(
    tmp_path: Path, events: list[Json], expected: list[tuple[str | None, list[str]]]
) -> None:
    found = read(write(tmp_path / "e.jsonl", lines(*events)))
    assert [(one.trace_id, tools(one)) for one in found] == expected
    assert read(write(tmp_path / "e.json", events, indent=1)) != []
    assert [tools(one) for one in read(tmp_path / "e.json")] == [tools(one) for one in found]


def test_a_header_states_any_field_of_the_native_form(tmp_path: Path) -> None:
    first = header(scenario="S", agent="a", tags=["x"], run=3, behaviors=["b"], error={"kind": "infra", "message": "m"})
    last = header(total_tokens=12, total_cost_usd=0.5, total_duration_ms=9, total_llm_calls=2, answer="done")
    (found,) = read(write(tmp_path / "e.jsonl", lines(first, call("a"), last)))
    assert (found.scenario, found.run, found.tags, found.behaviors) == ("S", 3, ("x",), ["b"])
    assert (found.total_tokens, found.total_cost_usd, found.total_llm_calls) == (12, 0.5, 2)
    assert (found.answer, found.error) == ("done", Fault("m", "infra"))


@pytest.mark.parametrize(
    ("events", "query", "answer"),
    [
        ([said("user", "q"), said("assistant", "a")], "q", "a"),
        ([said("user", "q1"), said("assistant", "a1"), said("user", "q2"), said("assistant", "a2")], "q1", "a2"),
        ([said("system", "s"), said("assistant", "hello"), said("user", "q")], "q", "hello"),
        ([said("user", [{"type": "text", "text": "a"}, {"type": "image"}, {"text": "b"}])], "ab", None),
        ([said("assistant", "")], None, ""),
        (
            [header(query="stated", answer="stated too"), said("user", "q"), said("assistant", "a")],
            "stated",
            "stated too",
        ),
        ([said("user", None), call("a")], None, None),
    ],
)
def test_query_and_answer(tmp_path: Path, events: list[Json], query: str | None, answer: str | None) -> None:
    (found,) = read(write(tmp_path / "e.jsonl", lines(*events)))
    assert (found.query, found.answer) == (query, answer)


def test_native_traces_take_no_query_from_their_messages(tmp_path: Path) -> None:
    (found,) = read(write(tmp_path / "t.jsonl", lines(trace(said("user", "q"), said("assistant", "a")))))
    assert (found.query, found.answer) == (None, None)


BAD: list[tuple[list[Json], int, str]] = [
    ([call("a"), {"type": "tool"}], 2, "Invalid value 'tool' - at `$.type` (a step is one of"),
    ([call("a"), {"tool": "b"}], 2, "missing required field `type`"),
    ([call("a"), {"type": "tool_call", "tool": "b", "parameters": {}}], 2, "has 'parameters' where its 'arguments'"),
    ([call("a"), call("b", arguments=None, args={"x": 1})], 2, "has 'args' where its 'arguments'"),
    ([call("a"), header(steps=[call("b", arguments={}), call("c", args={})])], 2, "the call of 'c' has 'args' where"),
    ([call("a", trace_id=1.5)], 1, "`$.trace_id`"),
    ([header(scenario="A"), call("a"), header(scenario="B")], 3, "states 'scenario' of a trace that has it already"),
    ([header(query="A"), call("a"), header(query="B"), call("b")], 3, "states 'query'"),
    ([header(steps=[call("a")]), header(steps=[call("b")])], 2, "states 'steps'"),
    ([header(trace_id="x", scenario="A"), call("a", trace_id="y")], 1, "nothing happened in it"),
    ([header(scenario="A")], 1, "nothing happened in it"),
    ([call("a"), {**said("assistant", ""), "tool_calls": [{"name": "b"}]}], 2, "holds a call of 'b' in 'tool_calls'"),
    ([{**said("assistant", ""), "function_call": {"name": "b"}}], 1, "holds a call of 'b' in 'function_call'"),
    (
        [{"type": "llm_call"}, {"type": "llm_call", "tool_calls": [{"id": "1"}]}],
        2,
        "the event holds a tool call in 'tool_calls', which is not read",
    ),
]


def test_a_model_call_may_repeat_what_an_event_tells(tmp_path: Path) -> None:
    (found,) = read(write(tmp_path / "e.jsonl", lines({"type": "llm_call", "tool_calls": [{"id": "1"}]}, call("a"))))
    assert tools(found) == ["a"]


@pytest.mark.parametrize(("events", "line", "reason"), BAD)
def test_what_is_refused(tmp_path: Path, events: list[Json], line: int, reason: str) -> None:
    path = write(tmp_path / "e.jsonl", lines(*events))
    assert refusal(path).startswith(f"e.jsonl:{line}: ")
    assert reason in refusal(path)
    assert read_past(path)[1] == 1


@pytest.mark.parametrize("fields", [{"answer": ""}, {"error": "crashed"}, {"steps": []}])
def test_a_header_alone_is_a_trace_if_it_says_how_it_ended(tmp_path: Path, fields: Json) -> None:
    assert len(read(write(tmp_path / "e.jsonl", lines(header(**fields))))) == 1
