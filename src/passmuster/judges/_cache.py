"""The verdict cache: one sorted JSON-lines file that a team can commit.

A line holds a key, which is a hash of everything that could change the verdict, the score and the reason. It holds
neither the answer nor a secret. Lines that a merge doubled are read as one; lines that contradict
each other are refused. Saving adds to what is on disk, so two runs at once lose nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from passmuster._atomic_write import PRIVATE_FOLDER, make_private_folder, replace_file
from passmuster._problems import InputError, Problem
from passmuster.checks import Question
from passmuster.judges._config import JudgeConfig, Member
from passmuster.judges._prompts import PROMPT_VERSION, Prompt
from passmuster.suite import Suite

"""Where verdicts are kept by default, beside the history."""
_CONFLICT = ("<<<<<<<", "|||||||", "=======", ">>>>>>>")
_KEY_LENGTH = 64
_PAUSE = 0.02


class CacheError(InputError):
    """The file of earlier verdicts is damaged."""


class Entry(Struct, frozen=True, kw_only=True):
    """One remembered verdict of one judge."""

    key: str
    kind: str
    model: str
    score: int
    reason: str
    hint: str = ""
    """A few words of the rule and the query, for whoever reviews the file."""

    def __post_init__(self) -> None:
        if len(self.key) != _KEY_LENGTH or set(self.key) - set("0123456789abcdef"):
            raise ValueError("its key is not a SHA-256 in small letters")
        if not 1 <= self.score <= 5:
            raise ValueError("its score is not from 1 to 5")
        if not self.reason.strip():
            raise ValueError("its reason is empty")


def cache_path(config: JudgeConfig, suite: Suite) -> Path | None:
    """The file of a suite's verdicts; None where it wants none. Raises `CacheError` if a link leads out of the root."""
    if isinstance(config.cache, str):
        return suite.folder / config.cache
    if not config.cache:
        return None
    path = suite.root / PRIVATE_FOLDER / "judge-cache.jsonl"
    if not Path(os.path.realpath(path)).is_relative_to(suite.root):
        message = "a link leads out of the root, where no verdicts are kept; name a `cache` in judge_config"
        raise CacheError(Problem(message, str(path)))
    return path


def cache_key(question: Question, prompt: Prompt, member: Member) -> str:
    """The key of a verdict: a hash of everything that could change it, taken after redaction."""
    sent = msgspec.to_builtins(question)
    del sent["unsent"]
    everything = {
        "prompt_version": PROMPT_VERSION,
        "prompt": msgspec.to_builtins(prompt),
        "question": sent,
        **member.identity,
    }
    canonical = json.dumps(everything, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def load(path: Path) -> dict[str, Entry]:
    """The verdicts in a file by their keys; none if there is no file. Raises `CacheError` for a damaged one."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return {}
    except OSError as problem:
        raise CacheError(Problem(f"these verdicts cannot be read: {problem.strerror or problem}", str(path))) from None
    except UnicodeDecodeError:
        raise CacheError(Problem("this file of verdicts is not UTF-8 text", str(path))) from None
    found: dict[str, tuple[Entry, int]] = {}
    problems: list[Problem] = []
    for number, line in enumerate(text.split("\n"), 1):
        read = _read_line(line)
        if isinstance(read, str):
            problems.append(Problem(read, str(path), number))
        elif read is not None:
            problems += _add(found, read, number, path)
    if problems:
        raise CacheError(problems)
    return {key: entry for key, (entry, _) in found.items()}


def save(path: Path, entries: Iterable[Entry]) -> None:
    """Add verdicts to a file. A verdict on disk wins over a new one with the same key."""
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.parent.name == PRIVATE_FOLDER:
        make_private_folder(target.parent)
    with locked(target.with_name(f"{target.name}.lock")):
        on_disk = load(target)
        merged = {**{entry.key: entry for entry in entries}, **on_disk}
        if merged.keys() != on_disk.keys():
            replace_file(target, "".join(f"{_line(merged[key])}\n" for key in sorted(merged)).encode())


def _read_line(line: str) -> Entry | str | None:
    """The entry on a line, None for an empty line, or what is wrong with it."""
    line = line.rstrip("\r")
    if not line.strip():
        return None
    if line.startswith(_CONFLICT):
        return (
            "a merge conflict was left here; keep the lines of both sides and delete the markers "
            "(`*.jsonl merge=union` in .gitattributes does so by itself)"
        )
    try:
        return msgspec.json.decode(line, type=Entry)
    except (msgspec.MsgspecError, RecursionError) as problem:
        return f"this line is not a verdict: {problem}"


def _add(found: dict[str, tuple[Entry, int]], entry: Entry, number: int, path: Path) -> list[Problem]:
    if entry.key not in found:
        found[entry.key] = (entry, number)
        return []
    earlier, line = found[entry.key]
    if earlier.score != entry.score:
        message = (
            f"this verdict (score {entry.score}) contradicts the one on line {line} (score {earlier.score}) "
            "with the same key; delete one of them, or both to ask again"
        )
        return [Problem(message, str(path), number)]
    # Two runs may word one verdict differently; which wording is kept must not depend on the order of lines.
    found[entry.key] = (min(earlier, entry, key=_line), line)
    return []


def _line(entry: Entry) -> str:
    return json.dumps(msgspec.to_builtins(entry), ensure_ascii=False)


@contextlib.contextmanager
def locked(path: Path, patience: float = 60.0) -> Iterator[None]:
    """Holds the lock file `path`, which is removed again and released when its process ends.

    Raises `TimeoutError` if another holds it for too long.
    """
    deadline = time.monotonic() + patience
    while (descriptor := _try(path)) is None:
        if time.monotonic() > deadline:
            raise TimeoutError(f"another process has held {path.name} for {patience:g} seconds")
        time.sleep(_PAUSE)
    try:
        yield
    finally:
        # Removed while held: whoever waits for this very file finds that it is no longer there and tries anew.
        with contextlib.suppress(OSError):
            path.unlink()
        os.close(descriptor)


def _try(path: Path) -> int | None:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except PermissionError:
        # Windows says so while a file that is still open is being removed.
        if sys.platform == "win32" and path.parent.is_dir() and os.access(path.parent, os.W_OK):
            return None
        raise
    try:
        _lock(descriptor)
        if os.path.samestat(os.fstat(descriptor), os.stat(path)):
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def _lock(descriptor: int) -> None:
    """Takes the lock, or raises `BlockingIOError`."""
    if sys.platform == "win32":
        import msvcrt

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError as problem:
            raise BlockingIOError from problem
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
