"""The ways a file may be written: lines or a document, packed, with a mark in front, with any line ends."""

from __future__ import annotations

import contextlib
import gzip
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.traces.building import call, lines, read, read_past, refusal, result, tools, trace, write

from passmuster._problems import TraceError

TWO = (trace(call("a", id=1), result(id=1, result="ü"), query="日本"), trace(call("b"), call("c")))
EVENTS = (call("a", trace_id="1"), call("b", trace_id="2"), call("c", trace_id="2"))
BOM = b"\xef\xbb\xbf"

SHAPES = {
    "lines": lines(*TWO),
    "no last newline": lines(*TWO, last=""),
    "CRLF": lines(*TWO, newline="\r\n"),
    "CRLF, no last newline": lines(*TWO, newline="\r\n", last=""),
    "blank lines": b"\n  \n" + lines(*TWO, newline="\n\r\n\t\n\n") + b"\n \n",
    "byte order mark": BOM + lines(*TWO),
    "byte order mark and blank line": BOM + b"\r\n" + lines(*TWO, newline="\r\n"),
    "spaces around": b"  " + lines(*TWO, newline="  \n  "),
    "events": lines(*EVENTS),
    "events, CRLF": lines(*EVENTS, newline="\r\n", last=""),
}
DOCUMENTS = {
    "array": json.dumps(TWO).encode(),
    "pretty array": json.dumps(TWO, indent=2).encode(),
    "array, CRLF": json.dumps(TWO, indent=2).replace("\n", "\r\n").encode(),
    "array, byte order mark": BOM + b"\n" + json.dumps(TWO, indent=2, ensure_ascii=False).encode(),
    "array of one a line": b"[\n" + lines(*TWO, newline=",\n", last="\n") + b"]\n",
    "array of events": json.dumps(EVENTS, indent=1).encode(),
    "documents in a row": b"\n".join(json.dumps(one, indent=4).encode() for one in TWO),
    "documents in a row, CRLF": b"".join(
        json.dumps(one, indent=4).replace("\n", "\r\n").encode() + b" \r\n\r\n" for one in TWO
    ),
}
PRETTY = ("pretty array", "array, CRLF", "array of one a line", "documents in a row", "documents in a row, CRLF")
"""Documents that no line of which is a record."""


@pytest.mark.parametrize("ending", [".jsonl", ".json", ".ndjson", ".txt", "", ".jsonl.gz", ".json.gz", ".gz"])
@pytest.mark.parametrize("data", SHAPES.values(), ids=SHAPES.keys())
def test_lines(tmp_path: Path, data: bytes, ending: str) -> None:
    assert [tools(one) for one in read(write(tmp_path / f"t{ending}", data))] == [["a"], ["b", "c"]]


@pytest.mark.parametrize("last", ["", "\n", "\r\n"])
@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz"])
@pytest.mark.parametrize("length", [n + more for n in (1 << 18, 1 << 19, 5 << 17) for more in (-2, -1, 0, 1, 2)])
def test_lines_longer_than_what_is_read_at_once(tmp_path: Path, length: int, ending: str, last: str) -> None:
    """A line of any length is whole, and so are the lines around it; the line break is not counted here."""
    short = len(lines(trace(call("b"), answer=""), last=""))
    long = trace(call("b"), answer="x" * (length - short))
    data = lines(trace(call("a")), long, trace(call("c")), long, last=last)
    traces = read(write(tmp_path / f"t{ending}", data))
    assert [tools(one) for one in traces] == [["a"], ["b"], ["c"], ["b"]]
    assert [len(one.answer or "") for one in traces] == [0, length - short, 0, length - short]
    starts = [0, *(place + 1 for place, byte in enumerate(data[:-1]) if byte == 10)]
    assert [one.origin.offset for one in traces] == starts[:4]


@pytest.mark.parametrize("ending", [".json", ".txt", "", ".json.gz", ".gz"])
@pytest.mark.parametrize("data", DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_documents(tmp_path: Path, data: bytes, ending: str) -> None:
    assert [tools(one) for one in read(write(tmp_path / f"t{ending}", data))] == [["a"], ["b", "c"]]


@pytest.mark.parametrize("name", PRETTY)
@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz"])
def test_documents_in_files_that_promise_lines(tmp_path: Path, name: str, ending: str) -> None:
    assert [tools(one) for one in read(write(tmp_path / f"t{ending}", DOCUMENTS[name]))] == [["a"], ["b", "c"]]


def test_places_in_documents_in_a_row(tmp_path: Path) -> None:
    data = DOCUMENTS["documents in a row"]
    path = write(tmp_path / "t.json", data)
    assert [one.origin.offset for one in read(path)] == [0, data.index(b"\n{") + 1]
    bad = data.replace(b'"b"', b'"b')
    assert "t.json:" in refusal(write(path, bad))


@pytest.mark.parametrize(
    "data",
    [
        json.dumps(TWO[1]),
        json.dumps(TWO[1], indent=2),
        json.dumps(TWO[1], indent=2).replace("\n", "\r\n"),
        "\n\n" + json.dumps(TWO[1], indent=2) + "\n\n",
        '{"agent":\n{"name": "x"}, "steps": [{"type": "tool_call", "tool": "b"}, {"type": "tool_call", "tool": "c"}]}',
        '{"steps": [\n{"type": "tool_call", "tool": "b"}\n, {"type": "tool_call", "tool": "c"}]}',
        '{"steps": [{"type": "tool_call", "tool": "b"}, {"type": "tool_call", "tool": "c"}\n]}',
    ],
)
def test_one_object_over_any_number_of_lines(tmp_path: Path, data: str) -> None:
    (found,) = read(write(tmp_path / "t.json", data.encode()))
    assert tools(found) == ["b", "c"]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("t.jsonl", b"", "t.jsonl: is empty: it holds no trace"),
        ("t.jsonl", b"\n \r\n", "t.jsonl: is empty: it holds no trace"),
        ("t.jsonl", BOM, "t.jsonl: is empty: it holds no trace"),
        ("t.json", b"", "t.json: is empty: it holds no trace"),
        ("t.json", b"[]", "t.json: is empty: it holds no trace"),
        ("t.json", b"\n[\n]\n", "t.json: is empty: it holds no trace"),
        ("t.gz", b"", "t.gz: is empty: it holds no trace"),
        ("t.json", b"null", "t.json:1: is not a trace: found null"),
        ("t.json", b"[1]", "t.json:1: is not a trace: found a number"),
        ("t.json", b"[\n\n []]", "t.json:3: is not a trace: found a list"),
        ("t.jsonl", b"[]\n", "t.jsonl:1: is not a trace: found a list"),
        ("t.json", b'"x"', "t.json:1: is not a trace: found a string"),
        ("t.json", b"{}", "t.json:1: is not a trace: found an empty object"),
        ("t.json", b"[{},\n", "t.json:1: is cut off"),
        ("t.json", b'[{"steps": []},\n {"steps": [}]', "t.json:2: is not JSON: invalid character"),
        ("t.json", b'{\n"steps": [],\n"x": tru, "y": 1}', "t.json:3: is not JSON: invalid character"),
        ("t.json", b'{\n"steps": [],\n"x": "\xff"}', "t.json:3: is not UTF-8: invalid byte 0xff"),
        ("t.json", b'{\n"steps": [\n{"type": "message", "role": "user"},\n{"type": 5}]}', "t.json:4: "),
        ("t.json", b'{"steps": [\n{"steps": []}\n', "t.json:1: is cut off"),
        ("t.jsonl", b'{"steps": []}\n{"answer": "\xc3"}', "t.jsonl:2: is not UTF-8: invalid byte 0xc3"),
        (
            "t.jsonl",
            b'{"steps": []}\n{"x": "\xed\xa0\xbd", "answer": ""}',
            "t.jsonl:2: is not UTF-8: invalid byte 0xed",
        ),
        ("t.jsonl", b"PK\x03\x04\x00\x00\xff", "t.jsonl:1: is not UTF-8: invalid byte 0xff"),
        ("t.jsonl", b"\x00" * 100, "t.jsonl:1: is not JSON: invalid character"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    assert refusal(write(tmp_path / name, data)).startswith(message)


def test_a_damaged_first_line_does_not_make_a_document(tmp_path: Path) -> None:
    path = write(tmp_path / "t.json", b'{"steps": [\n' + lines(*TWO))
    assert refusal(path).startswith("t.json:1: is cut off")
    traces, bad = read_past(path)
    assert (len(traces), bad) == (2, 1)


PACKED = gzip.compress(lines(*TWO) * 200)


@pytest.mark.parametrize(
    "data",
    [
        PACKED[:-1],
        PACKED[: len(PACKED) // 2],
        PACKED[:20],
        PACKED[:-8] + b"\0" * 8,
        PACKED[:30] + b"\xff\xff" + PACKED[32:],
        PACKED + b"rubbish",
        lines(*TWO),
    ],
    ids=["last byte", "half", "start", "checksum", "middle", "behind", "not packed"],
)
def test_a_damaged_gzip_file(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "t.jsonl.gz"
    path.write_bytes(data)
    assert refusal(path).startswith("t.jsonl.gz: the gzip file is damaged or cut off (")


def test_a_bad_line_in_a_damaged_gzip_file(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl.gz"
    path.write_bytes(gzip.compress(b"{\n" + lines(*TWO) * 200)[:-10])
    assert "t.jsonl.gz" in refusal(path)


def test_members_of_a_gzip_file_follow_each_other(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl.gz"
    path.write_bytes(gzip.compress(lines(TWO[0])) + gzip.compress(lines(TWO[1])))
    assert len(read(path)) == 2


pieces = st.sampled_from(
    [
        b'{"steps": [',
        b'{"type": "tool_call", "tool": "a"}',
        b"]}",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b"\n",
        b"\r",
        b'"',
        b"\\",
        b"\\ud83d",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xc3\xbc",
        b"NaN",
        b"1e999",
        b"9" * 5000,
        b"null",
        b'"answer": ""',
        b"\x00",
    ]
)


@settings(max_examples=300)
@given(
    st.binary(max_size=40) | st.lists(pieces, max_size=12).map(b"".join), st.sampled_from(["t.jsonl", "t.json", "t"])
)
def test_any_bytes_are_read_or_refused(data: bytes, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder) / name, data)
        with contextlib.suppress(TraceError):
            read(path)
        with contextlib.suppress(TraceError):
            read_past(path)


@settings(max_examples=50)
@given(st.binary(max_size=200), st.integers(0, 60))
def test_any_bytes_in_a_gzip_file(data: bytes, place: int) -> None:
    packed = gzip.compress(lines(*TWO))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.jsonl.gz"
        path.write_bytes(packed[:place] + data + packed[place + len(data) :])
        with contextlib.suppress(TraceError):
            read_past(path)
