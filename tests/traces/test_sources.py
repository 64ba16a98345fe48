"""Which files hold the traces: paths, folders, globs and standard input, each file once."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.traces.building import call, lines, trace, write

from passmuster._problems import TraceError
from passmuster.traces._reading import BadLines, read_source, read_traces
from passmuster.traces._sources import Source, find_sources, standard_input

LINE = lines(trace(call("a")))


def names(base: Path, *patterns: str, root: Path | None = None) -> list[str]:
    return [source.name for source in find_sources(patterns, base, root or base)]


def messages(base: Path, *patterns: str) -> list[str]:
    with pytest.raises(TraceError) as caught:
        find_sources(patterns, base, base)
    return [str(problem) for problem in caught.value.problems]


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A folder with trace files, others, hidden ones, and folders in folders."""
    base = Path(os.path.realpath(tmp_path))
    for name in ("b.jsonl", "a.json", "c.ndjson", "d.jsonl.gz", "notes.txt", ".hidden.jsonl"):
        write(base / "traces" / name, LINE)
    for name in ("deep/er/e.jsonl", "deep/f.json", ".git/g.jsonl"):
        write(base / "traces" / name, LINE)
    (base / "traces" / "empty").mkdir()
    return base


EVERY = ["traces/a.json", "traces/b.jsonl", "traces/c.ndjson", "traces/d.jsonl.gz"]
DEEP = ["traces/deep/er/e.jsonl", "traces/deep/f.json"]


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (["traces/b.jsonl"], ["traces/b.jsonl"]),
        (["traces/notes.txt"], ["traces/notes.txt"]),
        (["traces/.hidden.jsonl"], ["traces/.hidden.jsonl"]),
        (["traces"], EVERY + DEEP),
        (["traces/"], EVERY + DEEP),
        (["./traces/../traces"], EVERY + DEEP),
        (["traces/*.jsonl"], ["traces/b.jsonl"]),
        (["traces/*.json*"], ["traces/a.json", "traces/b.jsonl", "traces/d.jsonl.gz"]),
        (["traces/[ab].*"], ["traces/a.json", "traces/b.jsonl"]),
        (["traces/*"], ["traces/a.json", "traces/b.jsonl", "traces/c.ndjson", "traces/d.jsonl.gz", "traces/notes.txt"]),
        (["traces/**/*.jsonl"], ["traces/b.jsonl", "traces/deep/er/e.jsonl"]),
        (["**/er/*"], ["traces/deep/er/e.jsonl"]),
        (["traces/b.jsonl", "traces/a.json"], ["traces/a.json", "traces/b.jsonl"]),
        (["traces/b.jsonl", "traces/*.jsonl", "traces/deep/../b.jsonl"], ["traces/b.jsonl"]),
    ],
)
def test_what_names_which_files(house: Path, patterns: list[str], expected: list[str]) -> None:
    assert names(house, *patterns) == expected


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (["nowhere.jsonl"], ["nowhere.jsonl: there is no such trace file or folder"]),
        (["traces/*.csv"], ["traces/*.csv: this glob matches no file"]),
        (["traces/dee*"], ["traces/dee*: this glob matches no file"]),
        (
            ["traces/empty"],
            ["traces/empty: holds no trace file (looked for .jsonl, .json, .gz and .zst in it and below)"],
        ),
        (["x.jsonl", "traces/b.jsonl", "y"], ["x.jsonl: there is no such", "y: there is no such"]),
        ([""], [""]),
    ],
)
def test_what_names_nothing_is_refused_all_at_once(house: Path, patterns: list[str], expected: list[str]) -> None:
    if patterns == [""]:
        assert names(house / "traces" / "deep", "", root=house) == DEEP
        return
    found = messages(house, *patterns)
    assert len(found) == len(expected)
    assert all(message.startswith(start) for message, start in zip(found, expected, strict=True))


def test_a_file_whose_name_looks_like_a_glob(tmp_path: Path) -> None:
    write(tmp_path / "run[1].jsonl", LINE)
    assert names(tmp_path, "run[1].jsonl") == ["run[1].jsonl"]


def test_names_are_relative_to_the_root_and_full_outside(house: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = write(tmp_path_factory.mktemp("outside") / "o.jsonl", LINE)
    assert names(house / "traces", "b.jsonl", root=house) == ["traces/b.jsonl"]
    assert names(house, str(house / "traces" / "b.jsonl")) == ["traces/b.jsonl"]
    assert names(house, str(outside)) == [outside.as_posix()]


def test_a_file_reached_by_a_link_is_read_once(house: Path) -> None:
    (house / "traces" / "again.jsonl").symlink_to("b.jsonl")
    os.link(house / "traces" / "a.json", house / "traces" / "z.json")
    assert names(house, "traces/again.jsonl", "traces/b.jsonl") == ["traces/again.jsonl"]
    assert names(house, "traces/b.jsonl", "traces/again.jsonl") == ["traces/again.jsonl"]
    assert names(house, "traces/a.json", "traces/z.json") == ["traces/a.json", "traces/z.json"]


def test_links_to_folders_are_followed_and_circles_end(house: Path) -> None:
    elsewhere = write(house / "elsewhere" / "x.jsonl", LINE)
    (house / "traces" / "linked").symlink_to(elsewhere.parent)
    (house / "traces" / "deep" / "round").symlink_to(house / "traces")
    assert names(house, "traces") == sorted([*EVERY, *DEEP, "traces/linked/x.jsonl"])
    (house / "also").symlink_to("traces/deep")
    assert names(house, "also/er") == ["also/er/e.jsonl"]


@pytest.mark.parametrize("pattern", ["traces", "traces/*.jsonl"])
def test_a_link_that_leads_nowhere(house: Path, pattern: str) -> None:
    (house / "traces" / "gone.jsonl").symlink_to("nowhere")
    assert messages(house, pattern) == ["traces/gone.jsonl: is a link to a file that does not exist"]


@pytest.mark.parametrize("pattern", ["traces/pipe.jsonl", "traces", "traces/pipe*"])
def test_a_pipe_is_not_waited_for(house: Path, pattern: str) -> None:
    os.mkfifo(house / "traces" / "pipe.jsonl")
    (message,) = messages(house, pattern)
    assert message.startswith("traces/pipe.jsonl: is not a regular file")
    assert message.endswith("--traces -")


def test_a_folder_that_may_not_be_read_is_not_passed_over(house: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scandir = os.scandir

    def refuse(path: str) -> object:
        if path.endswith("deep"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    (message,) = messages(house, "traces")
    assert message.endswith("traces/deep: this folder cannot be read: Permission denied")


def test_a_file_that_vanishes(tmp_path: Path) -> None:
    source = Source(str(tmp_path / "gone.jsonl"), "gone.jsonl")
    with pytest.raises(TraceError, match=r"^gone\.jsonl: cannot be read: No such file or directory$"):
        list(read_source(source, BadLines(source, skip=True)))


def test_the_library_reads_from_the_current_folder(house: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(house)
    assert len(list(read_traces("traces"))) == 6
    assert [one.origin.file for one in read_traces(house / "traces" / "b.jsonl")] == ["traces/b.jsonl"]
    write(house / "bad.jsonl", b"{\n" + LINE)
    assert len(list(read_traces("bad.jsonl", skip_bad_lines=True))) == 1


@contextmanager
def given(data: bytes, monkeypatch: pytest.MonkeyPatch) -> Iterator[Source]:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    with standard_input() as source:
        yield source


@pytest.mark.parametrize("name", ["t.jsonl", "t.json", "t.gz"])
def test_standard_input_may_be_anything_a_file_may_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    content = trace(call("a")) if name == "t.json" else LINE
    with given(write(tmp_path / name, content, indent=2).read_bytes(), monkeypatch) as source:
        assert source.name == "<stdin>"
        assert len(list(read_source(source, BadLines(source, skip=False)))) == 1
        kept = source.path
    assert not os.path.exists(kept)


def test_nothing_on_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        given(b"", monkeypatch) as source,
        pytest.raises(TraceError, match=r"^<stdin>: is empty: it holds no trace$"),
    ):
        list(read_source(source, BadLines(source, skip=False)))
