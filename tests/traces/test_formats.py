"""Formats: each is one file, detection takes the surest, and `--format` overrides it."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from tests.cli_runner import CliRunner
from tests.traces.building import Json, call, header, lines, read, refusal, said, source_of, tools, trace, write

from passmuster import read_traces
from passmuster._problems import TraceError, UsageError
from passmuster.cli._main import command
from passmuster.traces import FORMATS, BadLines, formats, is_splittable, read_source
from passmuster.traces._building import Fields, Reading
from passmuster.traces._model import Trace
from passmuster.traces._reading import _surest
from passmuster.traces._sources import Source

CHAT = {"role": "user", "content": "hello"}


def fields(record: Json) -> Fields:
    return msgspec.json.decode(json.dumps(record), type=Fields)


@pytest.mark.parametrize(
    ("record", "name"),
    [
        (trace(call()), "native"),
        ({"steps": []}, "native"),
        ({"steps": None, "answer": "x"}, "native"),
        ({"answer": "x"}, "native"),
        ({"answer": "x", "role": "user"}, "native"),
        ({"answer": "x", "messages": [{"text": "no one speaks"}]}, "native"),
        ({"steps": [], "messages": [CHAT]}, "native"),
        (call(), "event_lines"),
        (header(answer="x"), "event_lines"),
        (said("user", "x"), "event_lines"),
        ({"type": "unknown"}, "event_lines"),
        ({"type": "unknown", "messages": [CHAT]}, "event_lines"),
        ({"messages": [CHAT]}, "openai_messages"),
        ({"messages": []}, "openai_messages"),
        ({"traj": [CHAT]}, "openai_messages"),
        ({"answer": "x", "messages": [CHAT]}, "openai_messages"),
        (CHAT, "message_lines"),
        ({}, None),
        ({"query": "x"}, None),
        ({"messages": "x"}, None),
    ],
)
def test_the_surest_format_is_taken(record: Json, name: str | None) -> None:
    assert _surest(fields(record)) == ([name] if name else [])


def test_every_format_declares_what_the_package_lists() -> None:
    declared = re.findall(r"^- `(\w+)", formats.__doc__ or "", re.MULTILINE)
    for name in FORMATS:
        assert set(declared) <= set(dir(FORMATS[name])), name
        assert all(0 <= FORMATS[name].detect(fields(record)) <= 1 for record in (CHAT, trace(), call(), {}))


NEW_FORMAT = """
from passmuster.traces._model import Trace

DESCRIPTION = "One answer per record."
SHAPE = '{"said": …}'
LACKS = ()


def detect(record):
    return 0.7 if "said" in record or "messages" in record else 0.5 if "answer" in record else 0


def splittable(first):
    return True


def read(records, reading):
    for record in records:
        yield Trace(answer=bytes(record.data).decode().strip(), origin=reading.origin(record))
"""


@pytest.fixture
def new_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with one more file of the package; the files of traces go beside it."""
    path = tmp_path / "formats" / "one_answer.py"
    path.parent.mkdir()
    path.write_text(NEW_FORMAT)
    monkeypatch.setattr(formats, "__path__", [*formats.__path__, str(path.parent)])
    importlib.invalidate_caches()
    yield tmp_path
    sys.modules.pop("passmuster.traces.formats.one_answer", None)


def test_a_file_is_all_that_a_format_takes(new_format: Path) -> None:
    path = write(new_format / "t.jsonl", b'{"said": 1}\n{"said": 2}\n')
    assert [found.answer for found in read(path)] == ['{"said": 1}', '{"said": 2}']
    assert is_splittable(source_of(path))
    assert f"none of the {len(FORMATS)} formats" in refusal(write(new_format / "u.jsonl", b"{}"))
    assert "one_answer" in CliRunner().invoke(command, ["run", "--help"]).output


def test_a_new_format_does_not_take_what_another_is_surer_of(new_format: Path) -> None:
    (found,) = read(write(new_format / "t.jsonl", lines({"messages": [CHAT]})))
    assert found.query == "hello"


def test_a_tie_is_refused(new_format: Path) -> None:
    path = write(new_format / "t.jsonl", b'\n{}\n{"answer": "x"}\n')
    assert refusal(path) == "t.jsonl:3: can be read as native or as one_answer: say which with --format"
    assert [found.answer for found in read_traces(path, format="one_answer")][1:] == ['{"answer": "x"}']


def test_native_records_import_no_other_reader(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", lines(trace(call())))
    code = f"""
import sys, passmuster
assert len(list(passmuster.read_traces({str(path)!r}))) == 1
print([name for name in sys.modules if name.startswith("passmuster.traces.formats.")])
"""
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "['passmuster.traces.formats.native']"


def test_files_of_several_formats_in_one_folder(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", lines(trace(call("one"))))
    write(tmp_path / "b.jsonl", lines(call("two")))
    write(tmp_path / "c.json", {"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "three"}}]}]})
    write(tmp_path / "d.jsonl.gz", b"\xef\xbb\xbf" + lines(CHAT, {"role": "assistant", "content": "hi"}))
    assert [tools(found) for found in read_traces(tmp_path)] == [["one"], ["two"], ["three"], []]


# ── A format that is said ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("native", call(), "neither 'steps' nor 'answer'"),
        ("native", {"messages": [CHAT]}, "neither 'steps' nor 'answer'"),
        ("event_lines", trace(call()), "required field `type`"),
        ("event_lines", CHAT, "required field `type`"),
        ("openai_messages", trace(call()), "it has no 'messages'"),
        ("openai_messages", {}, "it has no 'messages'"),
    ],
)
def test_what_the_format_cannot_read_is_refused_at_its_line(tmp_path: Path, name: str, data: Json, reason: str) -> None:
    path = write(tmp_path / "t.jsonl", b"\n" + lines(data))
    with pytest.raises(TraceError, match=rf"t\.jsonl:2: .*{reason}"):
        list(read_traces(path, format=name))


@pytest.mark.parametrize("name", sorted(FORMATS))
@pytest.mark.parametrize(
    "data", [b"[1]", b"7", b'"x"', b"null", b"{", b"\xff", b"[" * 20_000, b'{"type": {}}', b"[{}]"]
)
def test_nonsense_is_refused_in_every_format(tmp_path: Path, name: str, data: bytes) -> None:
    for file in ("t.jsonl", "t.json", "t.jsonl.gz", "t.json.gz"):
        with pytest.raises(TraceError, match=r"t\.\w+(\.gz)?(:1)?: "):
            list(read_traces(write(tmp_path / file, data), format=name))


@pytest.mark.parametrize("name", sorted(FORMATS))
@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbf", b" \r\n"])
def test_an_empty_file_is_refused_in_every_format(tmp_path: Path, name: str, data: bytes) -> None:
    with pytest.raises(TraceError, match="is empty: it holds no trace"):
        list(read_traces(write(tmp_path / "t.jsonl", data), format=name))


def test_a_format_that_detection_would_not_take(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", lines({"answer": "expected", "steps": [], **CHAT}))
    assert next(read_traces(path)).answer == "expected"
    assert next(read_traces(path, format="openai_messages")).query == "hello"


def test_bad_lines_do_not_change_how_parts_are_read(tmp_path: Path) -> None:
    """Whether records are conversations or messages is decided by the first one of the file, not of a part."""
    data = lines({"messages": [CHAT]}, CHAT, CHAT, {"messages": [CHAT]})
    source = source_of(write(tmp_path / "t.jsonl", data))
    assert is_splittable(source)
    for cut in range(1, len(data)):
        bad = BadLines(source, skip=True)
        found = [one for span in ((0, cut), (cut, len(data))) for one in read_source(source, bad, span)]
        assert (len(found), bad.count) == (2, 2)


@pytest.mark.parametrize(("name", "hint"), [("nativ", "; did you mean 'native'?"), ("x", ""), ("", ""), ("_x", "")])
def test_an_unknown_format(tmp_path: Path, name: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        list(read_traces(tmp_path, format=name))
    assert str(caught.value) == f"there is no trace format '{name}'; there are {', '.join(FORMATS)}{hint}"


SUITE = "tests: [{id: t, metric: tool_blocklist, blocklist: [admin]}]"


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_run_with_a_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: str) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "passmuster.yaml", SUITE.encode())
    asked = [{"role": "assistant", "tool_calls": [{"function": {"name": "admin"}}]}]
    for name in ("a", "b"):
        write(tmp_path / f"{name}.jsonl", lines({"answer": "x", "messages": asked}))
    arguments = [
        "run",
        "--traces",
        "*.jsonl",
        "--no-history",
        "--quiet",
        "--workers",
        workers,
        "--report",
        "json=r.json",
    ]
    assert CliRunner().invoke(command, [*arguments, "--format", "native"]).exit_code == 2
    assert CliRunner().invoke(command, [*arguments, "--format", "openai_messages"]).exit_code == 1
    assert json.loads(Path("r.json").read_bytes())["provenance"]["options"]["format"] == "openai_messages"
    given = (tmp_path / "a.jsonl").read_bytes()
    arguments = ["run", "--traces", "-", "--no-history", "--quiet", "--format", "openai_messages"]
    assert CliRunner().invoke(command, arguments, input=given).exit_code == 1


@pytest.mark.parametrize(
    "arguments", [["run"], ["baseline", "save", "-o", "b.json"], ["judge", "audit", "--labels", "l.jsonl"]]
)
def test_every_command_that_reads_traces_takes_a_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    judged = "scenarios: [{id: s, query: q, correctness: {llm_judge: [is polite]}}]\n"
    judged += "judge_config: {provider: openai, model: gpt-x}\n"
    write(tmp_path / "passmuster.yaml", (judged if "audit" in arguments else SUITE).encode())
    write(tmp_path / "l.jsonl", lines({"trace_id": "t", "scenario": "s"}))
    write(tmp_path / "t.jsonl", lines(trace(call())))
    result = CliRunner().invoke(command, [*arguments, "--traces", "t.jsonl", "--format", "evnt_lines"])
    assert (result.exit_code, "did you mean 'event_lines'?" in result.output) == (2, True), result.output


@pytest.mark.parametrize("name", ["t.bin", "t.bin.gz"])
def test_a_file_that_is_no_text_goes_to_the_format_that_knows_its_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def read_file(source: Source, reading: Reading) -> Iterator[Trace]:
        with source.open() as file:
            yield Trace(trace_id=file.read().decode(), answer="")

    native = FORMATS["native"]
    monkeypatch.setattr(native, "detect_bytes", lambda head: head.startswith(b"\nRUN\0"), raising=False)
    monkeypatch.setattr(native, "read_file", read_file, raising=False)
    (found,) = read(write(tmp_path / name, b"\nRUN\0one"))
    assert found.trace_id == "\nRUN\0one"
    assert not is_splittable(source_of(tmp_path / name))
    assert "is not" in refusal(write(tmp_path / "other.bin", b"\0\1\2"))
