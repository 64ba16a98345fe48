"""The file of earlier verdicts: its keys, its lines, and many writers at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.judges.questions import question

from passmuster.checks._question import Example, Question
from passmuster.judges import _prompts as prompts
from passmuster.judges._cache import CacheError, Entry, cache_key, load, locked, save
from passmuster.judges._config import Member

ROOT = Path(__file__).parents[2]
MEMBER = Member(provider="openai", model="m")


def entry(number: int, score: int = 4, reason: str = "r") -> Entry:
    return Entry(key=f"{number:064x}", kind="llm_judge", model="m", score=score, reason=reason, hint="h")


def key_of(asked: Question, member: Member = MEMBER) -> str:
    return cache_key(asked, prompts.prompt_for(asked), member)


FULL = question(evidence=("{}",), context="c", examples=(Example("a", 3, "r"),))


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "behavior"},
        {"rule": "x"},
        {"query": "x"},
        {"query": None},
        {"answer": "x"},
        {"evidence": ()},
        {"evidence": ("{}", "{}")},
        {"evidence": ('{"tool": "other"}',)},
        {"context": None},
        {"examples": ()},
        {"examples": (Example("a", 4, "r"),)},
        {"examples": (Example("a", 3, ""),)},
    ],
)
def test_every_part_of_a_question_is_in_its_key(change: dict[str, Any]) -> None:
    assert key_of(msgspec.structs.replace(FULL, **change)) != key_of(FULL)


@pytest.mark.parametrize(
    "change",
    [
        {"provider": "anthropic"},
        {"model": "m2"},
        {"base_url": "http://localhost/v1"},
        {"temperature": 0.1},
        {"temperature": None},
        {"max_tokens": 2048},
        {"structured": False},
        {"sample": 1},
    ],
)
def test_every_part_of_a_judge_that_matters_is_in_its_key(change: dict[str, Any]) -> None:
    assert key_of(FULL, msgspec.structs.replace(MEMBER, **change)) != key_of(FULL)


@pytest.mark.parametrize(
    "change",
    [
        {"api_key_env": "OTHER"},
        {"input_usd_per_million": 1.0},
        {"temperature": 0},
        {"base_url": "https://api.openai.com/v1/"},
    ],
)
def test_what_changes_no_verdict_is_not_in_it(change: dict[str, Any]) -> None:
    assert key_of(FULL, msgspec.structs.replace(MEMBER, **change)) == key_of(FULL)


def test_the_words_of_the_prompt_and_their_version_are_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    before = key_of(FULL)
    prompt = prompts.prompt_for(FULL)
    assert cache_key(FULL, prompts.Prompt(prompt.system + " ", prompt.user), MEMBER) != before
    monkeypatch.setattr("passmuster.judges._cache.PROMPT_VERSION", prompts.PROMPT_VERSION + 1)
    assert key_of(FULL) != before


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 30), st.text(st.characters(codec="utf-8"), min_size=1)), max_size=20))
def test_what_is_saved_is_loaded_sorted_and_whole(
    tmp_path_factory: pytest.TempPathFactory, found: list[tuple[int, str]]
) -> None:
    path = tmp_path_factory.mktemp("cache") / "verdicts.jsonl"
    entries = [entry(number, reason=f"r{reason}") for number, reason in found]
    for one in entries:
        save(path, [one])
    loaded = load(path)
    assert loaded.keys() == {one.key for one in entries}
    assert all(loaded[one.key] in entries for one in entries)
    if entries:
        lines = path.read_text("utf-8").split("\n")
        assert lines[-1] == ""
        assert lines[:-1] == sorted(lines[:-1])
        assert [name.name for name in path.parent.iterdir()] == [path.name]


def test_a_line_is_as_documented(tmp_path: Path) -> None:
    path = tmp_path / "new" / "verdicts.jsonl"
    save(path, [entry(1)])
    expected = f'{{"key": "{1:064x}", "kind": "llm_judge", "model": "m", "score": 4, "reason": "r", "hint": "h"}}\n'
    assert path.read_text("utf-8") == expected


def test_there_need_be_no_file(tmp_path: Path) -> None:
    assert load(tmp_path / "none.jsonl") == {}


def test_what_is_on_disk_stays_and_wins(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    save(path, [entry(1, score=2), entry(2)])
    save(path, [entry(1, score=5), entry(3)])
    assert {key[-1]: found.score for key, found in load(path).items()} == {"1": 2, "2": 4, "3": 4}


def test_a_file_that_would_not_change_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    save(path, [entry(1)])
    before = path.stat()
    save(path, [entry(1)])
    assert path.stat().st_ino == before.st_ino


def test_links_and_permissions_stay(tmp_path: Path) -> None:
    target, link = tmp_path / "real.jsonl", tmp_path / "link.jsonl"
    save(target, [entry(1)])
    target.chmod(0o640)
    link.symlink_to(target)
    save(link, [entry(2)])
    assert link.is_symlink()
    assert len(load(target)) == 2
    assert target.stat().st_mode & 0o777 == 0o640


LINE = msgspec.json.encode(entry(1)).decode()
OTHER = msgspec.json.encode(entry(1, reason="a, in other words")).decode()
CONTRARY = msgspec.json.encode(entry(1, score=2)).decode()


@pytest.mark.parametrize("text", [f"{LINE}\n{LINE}\n", f"{LINE}\r\n\r\n{LINE}\r\n", f"\ufeff{LINE}"])
def test_what_a_merge_doubled_is_read_once(tmp_path: Path, text: str) -> None:
    path = tmp_path / "verdicts.jsonl"
    path.write_bytes(text.encode())
    assert load(path) == {entry(1).key: entry(1)}


def test_of_two_wordings_the_same_is_kept_in_either_order(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    path.write_text(f"{LINE}\n{OTHER}\n", "utf-8")
    one = load(path)
    path.write_text(f"{OTHER}\n{LINE}\n", "utf-8")
    assert load(path) == one


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (f"{LINE}\n\n{CONTRARY}\n", 3, "this verdict (score 2) contradicts the one on line 1 (score 4)"),
        (f"<<<<<<< HEAD\n{LINE}\n", 1, "a merge conflict was left here; keep the lines of both sides"),
        (f"{LINE}\n=======\n", 2, "a merge conflict was left here"),
        (f"{LINE}\nscore 5\n", 2, "this line is not a verdict"),
        (LINE.replace('"score":4', '"score":9'), 1, "its score is not from 1 to 5"),
        (LINE.replace('"score":4', '"score":true'), 1, "this line is not a verdict"),
        (LINE.replace('"score":4', '"score":4.5'), 1, "this line is not a verdict"),
        (LINE.replace('"key":"0', '"key":"X'), 1, "its key is not a SHA-256"),
        (LINE.replace('"reason":"r"', '"reason":" "'), 1, "its reason is empty"),
        ("[" * 100_000, 1, "this line is not a verdict"),
    ],
)
def test_damage_is_refused_with_its_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    path = tmp_path / "verdicts.jsonl"
    path.write_text(text, "utf-8")
    with pytest.raises(CacheError) as caught:
        load(path)
    assert [(problem.file, problem.line) for problem in caught.value.problems] == [(str(path), line)]
    assert message in caught.value.problems[0].message
    with pytest.raises(CacheError):
        save(path, [entry(7)])
    assert path.read_text("utf-8") == text


def test_all_damage_is_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    path.write_text(f"<<<<<<< a\n{LINE}\n=======\n{CONTRARY}\n>>>>>>> b\n", "utf-8")
    with pytest.raises(CacheError) as caught:
        load(path)
    assert [problem.line for problem in caught.value.problems] == [1, 3, 4, 5]


def test_a_file_of_other_bytes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CacheError, match="not UTF-8"):
        load(path)
    with pytest.raises(CacheError, match="cannot be read"):
        load(tmp_path)


WRITER = """
import sys
from pathlib import Path
from passmuster.judges._cache import Entry, save
path, first = Path(sys.argv[1]), int(sys.argv[2])
print("ready", flush=True)
sys.stdin.readline()
for number in range(first, first + 25):
    save(path, [Entry(key=f"{number:064x}", kind="llm_judge", model="m", score=3, reason="r" * 200)])
"""

HOLDER = """
import sys, time
from pathlib import Path
from passmuster.judges._cache import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def started(code: str, *arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", code, *arguments]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    assert process.stdout.readline().strip() in ("ready", "held")
    return process


def test_writers_at_once_lose_nothing_and_readers_never_see_half(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    writers = [started(WRITER, str(path), str(first)) for first in (0, 100, 200, 300)]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    seen = 0
    while any(writer.poll() is None for writer in writers):
        now = len(load(path))
        assert now >= seen
        seen = now
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    numbers = {int(key, 16) for key in load(path)}
    assert numbers == {first + step for first in (0, 100, 200, 300) for step in range(25)}
    assert [name.name for name in tmp_path.iterdir()] == [path.name]


def test_a_lock_is_waited_for_and_ends_with_its_holder(tmp_path: Path) -> None:
    lock = tmp_path / "x.lock"
    holder = started(HOLDER, str(lock))
    with pytest.raises(TimeoutError, match=r"another process has held x\.lock"), locked(lock, patience=0.1):
        pass
    holder.send_signal(signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
    holder.communicate()
    assert lock.exists()
    with locked(lock, patience=5):
        pass
    assert not lock.exists()
