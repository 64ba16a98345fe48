"""Lines for what is reported: of a trace and of each call in it, however the file is written."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.traces.building import Json, call, header, lines, read, result, said, source_of, trace, write

from passmuster.traces._locate import Spot, line_of_byte, lines_of, spot_of_call, spot_of_trace
from passmuster.traces._model import Trace


def places(path: Path) -> list[tuple[int, list[int]]]:
    """For each trace of a file its line, and those of its calls."""
    found = read(path)
    spots = [(spot_of_trace(one), [spot_of_call(one, n) for n in range(len(one.tool_calls))]) for one in found]
    numbers = lines_of([spot for first, rest in spots for spot in (first, *rest)])
    return [(numbers[first], [numbers[spot] for spot in rest]) for first, rest in spots]


NATIVE = (trace(call("a"), call("b"), query="日本\n語"), trace(call("c"), note="ü"), trace(call("d")))
EVENTS = (header(query="ü"), call("a", id=1), said("user", "日本"), call("b"), result(id=1))


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("t.jsonl", lines(*NATIVE), [(1, [1, 1]), (2, [2]), (3, [3])]),
        ("t.jsonl", lines(*NATIVE, newline="\r\n", last=""), [(1, [1, 1]), (2, [2]), (3, [3])]),
        ("t.jsonl", b"\n\n" + lines(*NATIVE, newline="\n\n"), [(3, [3, 3]), (5, [5]), (7, [7])]),
        ("t.jsonl", b"\xef\xbb\xbf" + lines(*NATIVE), [(1, [1, 1]), (2, [2]), (3, [3])]),
        ("t.jsonl.gz", lines(*NATIVE), [(1, [1, 1]), (2, [2]), (3, [3])]),
        ("t.json", lines(*NATIVE), [(1, [1, 1]), (2, [2]), (3, [3])]),
        ("t.jsonl", lines(*EVENTS), [(1, [2, 4])]),
        ("t.jsonl.gz", b"\n" + lines(*EVENTS), [(2, [3, 5])]),
        ("t.json", b"[\n" + lines(*EVENTS, newline=",\n", last="]"), [(2, [3, 5])]),
        ("t.json", b"[\n" + lines(*NATIVE, newline=",\n", last="]"), [(2, [2, 2]), (3, [3]), (4, [4])]),
        # A call that was only seen as a result stands where the result does.
        ("t.jsonl", lines(said("user", ""), result(tool="a")), [(1, [2])]),
        # Calls inside a header.
        ("t.json", b'{"type": "trace",\n"steps": [\n{"type": "tool_call",\n"tool": "a"}]}', [(1, [3])]),
    ],
)
def test_lines_of_a_file(tmp_path: Path, name: str, data: bytes, expected: list[tuple[int, list[int]]]) -> None:
    assert places(write(tmp_path / name, data)) == expected


PRETTY = """[
  {
    "query": "\\"steps\\": [{ \\\\",
    "metadata": {"steps": [{}, {}]},

    "steps": [
      {"type": "message", "role": "user",
       "content": "[[{{ü"},
      {
        "type": "tool_result", "id": 1
      },
      {"tool": "a", "type": "tool_call", "id": 1,
       "arguments": {"steps": [{"a": 1}]}}, {"type": "tool_call", "tool": "b"},
      {
        "type": "tool_call",
        "tool": "c"
      }
    ],
    "behaviors": {"steps": true}
  },
  {"steps": [], "answer": "",
   "steps": [
     {"type": "tool_call", "tool": "d"}]},
  {"answer": "x"}
]
"""


@pytest.mark.parametrize("name", ["t.json", "t.json.gz"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_lines_inside_a_document(tmp_path: Path, name: str, newline: str) -> None:
    path = write(tmp_path / name, PRETTY.replace("\n", newline).encode())
    assert places(path) == [(2, [12, 13, 14]), (21, [23]), (24, [])]


def test_one_object_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "t.json", b"\xef\xbb\xbf\n" + json.dumps(trace(call("a"), call("b")), indent=1).encode())
    assert places(path) == [(2, [4, 8])]


def test_lines_of_parts_add_up() -> None:
    """Each part was counted by itself; a line is that in its part after the lines of all parts before."""
    spots = [Spot("a", 0, line=2), Spot("a", 70, part=50, line=1), Spot("a", 99, part=90, line=3), Spot("b", 5, line=4)]
    parts = {("a", 90): 9, ("a", 0): 3, ("a", 50): 5, ("b", 0): 7}
    assert lines_of(spots, parts) == dict(zip(spots, [2, 4, 11, 4], strict=True))


def test_traces_from_no_file_have_no_lines() -> None:
    assert lines_of([spot_of_trace(Trace())]) == {}


@given(st.binary(max_size=60), st.data())
def test_the_line_of_any_byte(data: bytes, draw: st.DataObject) -> None:
    offset = draw.draw(st.integers(0, len(data)))
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder) / "t.txt", data)
        assert line_of_byte(source_of(path), offset) == data[:offset].count(b"\n") + 1


texts = st.text(st.sampled_from('a"\\[]{}:,ü日😀\n '), max_size=6)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts | st.just("steps"), inner, max_size=3),
    max_leaves=6,
)
other_fields = st.dictionaries(st.sampled_from(["metadata", "note", "x", "Steps", "step"]), values, max_size=3)


@st.composite
def some_steps(draw: st.DrawFn) -> list[Json]:
    """Calls, and other steps between them. The tool's name comes first, and is filled in later."""
    kinds = draw(st.lists(st.sampled_from(["call", "call", "said", "llm"]), max_size=5))
    found: list[Json] = []
    for kind in kinds:
        if kind == "call":
            found.append({"tool": "", **draw(other_fields), **call("", arguments=draw(values), result=draw(values))})
        else:
            found.append(said("user", draw(values)) if kind == "said" else {"type": "llm_call", "x": draw(values)})
    return found


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, list[list[str]]]:
    """A document in one of many layouts, and the names of its calls: each is found in the text just once."""
    numbers = iter(range(1000))
    traces: list[Json] = []
    names: list[list[str]] = []
    for steps in draw(st.lists(some_steps(), min_size=1, max_size=3)):
        names.append([])
        for step in steps:
            if step["type"] == "tool_call":
                step["tool"] = f"tool-{next(numbers)}!"
                names[-1].append(step["tool"])
        traces.append({**draw(other_fields), **trace(*steps), **draw(other_fields)})
    layout: dict[str, Any] = {"ensure_ascii": draw(st.booleans()), "indent": draw(st.sampled_from([None, 0, 1, 4]))}
    whole: Any = traces[0] if len(traces) == 1 and draw(st.booleans()) else traces
    text = draw(st.sampled_from(["", "\n", "\ufeff", "\r\n "])) + json.dumps(whole, **layout)
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"]))), names


@settings(max_examples=150)
@given(documents())
def test_lines_in_any_document_are_those_a_search_finds(document: tuple[str, list[list[str]]]) -> None:
    """The name is the first thing in a call, so the call begins in the line above it, or in the same one."""
    text, names = document
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder) / "t.json", text.encode())
        found = places(path)
    assert [len(calls) for _, calls in found] == [len(calls) for calls in names]
    for (_, calls), tools in zip(found, names, strict=True):
        begins = [text.rindex("{", 0, text.index(f'"{tool}"')) for tool in tools]
        assert calls == [text.count("\n", 0, place) + 1 for place in begins]


def test_time_grows_with_the_number_of_calls(tmp_path: Path) -> None:
    """Every call of a long trace is reported, in one document."""

    def seconds(times: int) -> float:
        (one,) = read(write(tmp_path / f"{times}.json", trace(*[call("a", arguments={"i": 1})] * times), indent=1))
        started = time.process_time()
        assert len(set(lines_of(spot_of_call(one, number) for number in range(times)).values())) == times
        return time.process_time() - started

    seconds(100)
    assert seconds(16_000) < 30 * max(0.01, min(seconds(2_000) for _ in range(3)))
