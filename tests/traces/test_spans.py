"""A file read in parts, cut anywhere, gives exactly the traces and lines of the file read whole."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.traces.building import Json, call, header, lines, source_of, trace, write

from passmuster.traces._locate import lines_of, spot_of_trace
from passmuster.traces._model import Trace
from passmuster.traces._reading import BadLines, is_splittable, read_source
from passmuster.traces._sources import Source

Facts = tuple[str | None, int, list[str], int]


def facts(traces: list[Trace], parts: dict[tuple[str, int], int]) -> list[Facts]:
    """What must not depend on how the file was cut: id, byte, tools and line."""
    numbers = lines_of([spot_of_trace(one) for one in traces], parts)
    return [
        (one.trace_id, one.origin.offset, [made.tool for made in one.tool_calls], numbers[spot_of_trace(one)])
        for one in traces
    ]


def read_parts(source: Source, cuts: list[int]) -> tuple[list[Facts], int]:
    """The traces of all parts one after the other, and the number of bad lines."""
    traces: list[Trace] = []
    parts: dict[tuple[str, int], int] = {}
    bad = BadLines(source, skip=True)
    for start, end in pairwise(cuts):

        def ends(number: int, start: int = start) -> None:
            parts[(source.name, start)] = number

        traces += read_source(source, bad, (start, end), ends)
    return facts(traces, parts), bad.count


def read_whole(source: Source) -> tuple[list[Facts], int]:
    bad = BadLines(source, skip=True)
    return facts(list(read_source(source, bad)), {}), bad.count


records = st.builds(
    lambda name, text, number: lines(trace(*[call(name)] * number, trace_id=name, note=text), last=""),
    st.sampled_from(["a", "ü", "日本"]),
    st.text(st.sampled_from('x\\"ü😀'), max_size=20),
    st.integers(0, 2),
)
rows = st.one_of(records, records, records, st.sampled_from([b"", b"  ", b'{"steps": [', b"\xff", b"{}"]))


@st.composite
def files(draw: st.DrawFn) -> bytes:
    data = draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    data += lines(trace(trace_id="first")) if draw(st.booleans()) else b""
    for row in draw(st.lists(rows, min_size=1, max_size=6)):
        data += row + draw(st.sampled_from([b"\n", b"\r\n", b"\n\n"]))
    return data + draw(st.sampled_from([b"", lines(trace(trace_id="last"), last="")]))


@settings(max_examples=150)
@given(files(), st.data())
def test_parts_of_any_length(data: bytes, draw: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = source_of(write(Path(folder) / "t.jsonl", data + lines(trace(trace_id="one"))))
        size = Path(source.path).stat().st_size
        inner = draw.draw(st.lists(st.integers(1, size - 1), unique=True, max_size=8))
        assert read_parts(source, [0, *sorted(inner), size]) == read_whole(source)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", None])
def test_a_cut_at_every_byte(tmp_path: Path, newline: str, last: str | None) -> None:
    several = (trace(call("a"), trace_id="ü"), trace(trace_id="2"), trace(call("b"), call("c"), trace_id="3"))
    source = source_of(write(tmp_path / "t.jsonl", lines(*several, newline=newline, last=last)))
    size = Path(source.path).stat().st_size
    whole = read_whole(source)
    assert len(whole[0]) == 3
    for cut in range(1, size):
        assert read_parts(source, [0, cut, size]) == whole


@pytest.mark.parametrize("length", [1, 2, 7, 50, 1000])
def test_lines_longer_than_a_part(tmp_path: Path, length: int) -> None:
    several = [trace(trace_id=str(number), note="x" * (number % 5) * 40) for number in range(8)]
    source = source_of(write(tmp_path / "t.jsonl", lines(*several)))
    size = Path(source.path).stat().st_size
    assert read_parts(source, [*range(0, size, length), size]) == read_whole(source)


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("t.jsonl", lines(trace(), trace()), True),
        ("t.json", lines(trace(), trace()), True),
        ("t.json", trace(), True),
        ("t.json", [trace(), trace()], False),
        ("t.jsonl.gz", lines(trace(), trace()), False),
        ("t.jsonl", lines(call("a"), call("b")), False),
        ("t.jsonl", lines(header(trace_id="a", answer=""), header(trace_id="b", answer="")), False),
        ("t.jsonl", b"{\n", False),
    ],
)
def test_what_can_be_cut(tmp_path: Path, name: str, data: bytes | Json | list[Json], expected: bool) -> None:
    assert is_splittable(source_of(write(tmp_path / name, data))) is expected
