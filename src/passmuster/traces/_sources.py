"""The files that hold traces: paths, folders, globs and standard input, each file once.

A file's *name* is how reports show it: relative to the root if it is inside, else as it was given.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from passmuster._problems import OutsideError, Problem, TraceError

STDIN = "<stdin>"
_CHANGED = "changed while it was read, so that no verdict holds for it: run again when nothing writes to it"
_BUFFER = 1 << 18
_LIKE_TRACES = r"\.(?:jsonl|ndjson|jsonlines|json)\b"
"""Somewhere in the name of a file that is no trace file by its ending, but may hold traces."""
_ROTATED = r"\.(?:jsonl|ndjson|jsonlines)\.\d+$"
_ENDINGS = (".jsonlines", ".jsonl", ".json", ".ndjson", ".gz", ".zst", ".pb", ".eval", ".parquet")
_PACKED = (".gz", ".zst")
ROW = 1 << 28
"""Offsets between two rows of a Parquet file: more than any row has bytes."""


class Source(Struct, frozen=True):
    """One trace file: where it is, and how reports name it."""

    path: str
    name: str
    format: str | None = None
    """The format that it has to be read as (`--format`); None to find out from its records."""

    stated: tuple[int, str] | None = None
    """Its size, and a mark that changes when it does, where a store has said so."""

    @property
    def compressed(self) -> bool:
        return self.path.lower().endswith(_PACKED)

    @property
    def parquet(self) -> bool:
        return self.path.lower().endswith(".parquet")

    @property
    def remote(self) -> bool:
        """Whether the path is an address, such as `s3://…`."""
        return "://" in self.path

    @property
    def size(self) -> int:
        """Bytes as they are stored."""
        return self.stated[0] if self.stated else os.path.getsize(self.path)

    @property
    def lines_expected(self) -> bool:
        """Whether the file's ending promises one record per line."""
        plain = self.path.lower().removesuffix(".gz").removesuffix(".zst")
        return plain.endswith((".jsonl", ".ndjson", ".jsonlines"))

    @contextlib.contextmanager
    def open(self, end: int | None = None) -> Iterator[io.BufferedReader]:
        """The file's bytes, decompressed. Raises `TraceError` where they cannot be read to their end.

        Few bytes after `end` are going to be read, so that a store is not asked for them ahead.
        """
        try:
            with self._stored(end) as stored, io.BufferedReader(self._unpacked(stored), _BUFFER) as file:
                yield file
        except SystemError as error:  # how an interrupt within a read of the decompressor ends now and then
            if isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
                raise KeyboardInterrupt from error
            raise
        except (EOFError, zlib.error, OSError) as error:
            reason = f"cannot be read: {getattr(error, 'strerror', None) or error}"
            if self.compressed and not isinstance(error, PermissionError | IsADirectoryError | FileNotFoundError):
                kind = "gzip" if self.path.lower().endswith(".gz") else "zstd"
                reason = f"the {kind} file is damaged or cut off ({error})"
            raise TraceError(Problem(reason, self.name)) from error

    def _unpacked(self, stored: Any) -> Any:
        if not self.compressed:
            return stored
        packed = io.BufferedReader(stored, _BUFFER)
        if self.path.lower().endswith(".gz"):
            import gzip  # late, for few runs need it

            return gzip.GzipFile(fileobj=packed)
        from passmuster.traces._zstd import MISSING_ZSTD, ZstdMissing, unpacked

        try:
            return unpacked(packed)
        except ZstdMissing as error:
            raise TraceError(Problem(MISSING_ZSTD, self.name)) from error

    def _stored(self, end: int | None) -> Any:
        """The bytes as they are stored."""
        if not self.remote:
            return io.FileIO(self.path)
        from passmuster.traces._remote_file import RemoteFile  # late, as it needs an extra

        return RemoteFile(self.path, self.stated, end)


@contextlib.contextmanager
def unchanged(sources: Sequence[Source]) -> Iterator[None]:
    """A time in which these files must not change: they are read in parts, and more than once."""
    before = [_known_mark(source) for source in sources]

    def changed(gone: bool) -> list[Problem]:
        pairs = zip(sources, before, _marks_now(sources), strict=True)
        return [Problem(_CHANGED, source.name) for source, mark, now in pairs if now != mark and (now or gone)]

    try:
        yield
    except (TraceError, OutsideError) as error:
        if problems := changed(gone=False):  # whatever else is wrong with them
            raise TraceError(problems) from error
        raise
    if problems := changed(gone=True):
        raise TraceError(problems)


def mark_of(source: Source, *, now: bool = False) -> str:
    """A mark that changes when the file does; without `now`, a store is not asked again what it has said before."""
    return repr(_marks_now([source])[0] if now else _known_mark(source))


def _known_mark(source: Source) -> tuple[int, int, int] | str | None:
    return source.stated[1] if source.stated else _marks_now([source])[0]


def _marks_now(sources: Sequence[Source]) -> list[tuple[int, int, int] | str | None]:
    remote: dict[str, str | None] = {}
    if addresses := [source.path for source in sources if source.remote]:
        from passmuster.traces._remote import marks_now

        remote = marks_now(addresses)
    return [remote[source.path] if source.remote else _mark_of_file(source.path) for source in sources]


def _mark_of_file(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:  # whoever reads it says why
        return None
    return found.st_size, found.st_mtime_ns, found.st_ino


def find_sources(patterns: Iterable[str], base: Path, root: Path, format: str | None = None) -> list[Source]:
    """The files that paths, folders and globs name, sorted by name; a file reached twice is there once."""
    problems: list[Problem] = []
    found: dict[str, Source] = {}
    for pattern in patterns:
        if "://" in pattern:
            found |= _remote(pattern, format)
            continue
        matches = _expand(pattern, base)
        if not matches:
            problems.append(Problem(_nothing(pattern, base), pattern))
        for path in matches:
            real = os.path.realpath(path)
            if not os.path.isfile(real):
                problems.append(Problem(_no_file(real), _display(path, real, root)))
                continue
            source = Source(real, _display(path, real, root), format)
            known = found.setdefault(real, source)
            if source.name < known.name:
                found[real] = source
    if problems:
        raise TraceError(problems)
    return sorted(found.values(), key=lambda source: source.name)


def _remote(address: str, format: str | None) -> dict[str, Source]:
    from passmuster.traces._remote import expand, name_of

    entries = expand(address, lambda path: path.lower().endswith(_ENDINGS))
    if not entries:
        raise TraceError(Problem("no trace file is there", name_of(address)))
    return {one.address: Source(one.address, name_of(one.address), format, (one.size, one.mark)) for one in entries}


def _expand(pattern: str, base: Path) -> list[str]:
    path = os.path.join(base, pattern)
    if os.path.isdir(path):
        return list(_inside(path))
    if os.path.exists(path):
        return [path]
    if _is_glob(pattern):
        import glob

        hits = sorted(glob.glob(path, recursive=True))
        return [hit for hit in hits if not os.path.isdir(hit)]
    return []


def _is_glob(pattern: str) -> bool:
    return any(sign in pattern for sign in "*?[")


def _inside(folder: str) -> Iterator[str]:
    seen: set[str] = set()
    for place, folders, files in os.walk(folder, onerror=_refuse_folder, followlinks=True):
        real = os.path.realpath(place)
        if real in seen:  # links may form a cycle
            folders.clear()
            continue
        seen.add(real)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if name.startswith("."):
                continue
            if name.lower().endswith(_ENDINGS) or re.search(_ROTATED, name.lower()):
                yield os.path.join(place, name)
            elif re.search(_LIKE_TRACES, name.lower()):
                raise TraceError(Problem(_PASSED_OVER, os.path.join(place, name)))


_PASSED_OVER = (
    "looks like a trace file, but files with this ending are not read: unpack or rename it, move it out of the folder, "
    "or name the files to read by a glob such as 'traces/*.jsonl'"
)


def _nothing(pattern: str, base: Path) -> str:
    path = os.path.join(base, pattern)
    if os.path.isdir(path):
        return "holds no trace file (looked for .jsonl, .json, .gz and .zst in it and below)"
    if _is_glob(pattern):
        return "this glob matches no file"
    return "there is no such trace file or folder"


def _refuse_folder(error: OSError) -> None:
    """Stop at a folder that cannot be read, for its traces would be left out."""
    raise TraceError(Problem(f"this folder cannot be read: {error.strerror or error}", str(error.filename)))


def _no_file(path: str) -> str:
    if not os.path.exists(path):
        return "is a link to a file that does not exist"
    return "is not a regular file, and traces are read more than once; give them on standard input: --traces -"


def _display(path: str, real: str, root: Path) -> str:
    """The name relative to the root, `/` on every system; the whole path if it is outside."""
    for candidate in (os.path.abspath(path), real):
        with contextlib.suppress(ValueError):
            return Path(candidate).relative_to(root).as_posix()
    return Path(os.path.abspath(path)).as_posix()


@contextlib.contextmanager
def standard_input() -> Iterator[Source]:
    """Standard input as a source, kept in a temporary file so that it can be read again for line numbers."""
    if sys.stdin is None:
        raise TraceError(Problem("is closed", STDIN))
    import shutil
    import tempfile

    with tempfile.TemporaryDirectory(prefix="passmuster-") as folder:
        head = sys.stdin.buffer.read(2)
        ending = ".gz" if head == b"\x1f\x8b" else ""
        path = os.path.join(folder, "stdin" + ending)
        with open(path, "wb") as copy:
            copy.write(head)
            shutil.copyfileobj(sys.stdin.buffer, copy, 1 << 20)
        yield Source(path, STDIN)
