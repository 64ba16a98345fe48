"""The files that hold traces: paths, folders, globs and standard input, each file once.

A file's *name* is how reports show it: relative to the root if it is inside, else as it was given.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from passmuster._problems import Problem, TraceError

STDIN = "<stdin>"
_BUFFER = 1 << 18
_ENDINGS = (".jsonl", ".json", ".ndjson", ".gz")


class Source(Struct, frozen=True):
    """One trace file: where it is, and how reports name it."""

    path: str
    name: str
    format: str | None = None
    """The format that it has to be read as (`--format`); None to find out from its records."""

    @property
    def compressed(self) -> bool:
        return self.path.lower().endswith(".gz")

    @property
    def lines_expected(self) -> bool:
        """Whether the file's ending promises one record per line."""
        return self.path.lower().removesuffix(".gz").endswith((".jsonl", ".ndjson"))

    @contextlib.contextmanager
    def open(self) -> Iterator[io.BufferedReader]:
        """The file's bytes, decompressed. Raises `TraceError` where they cannot be read to their end."""
        try:
            with io.BufferedReader(self._raw(), _BUFFER) as file:
                yield file
        except (EOFError, zlib.error, OSError) as error:
            reason = f"cannot be read: {getattr(error, 'strerror', None) or error}"
            if self.compressed and not isinstance(error, PermissionError | IsADirectoryError | FileNotFoundError):
                reason = f"the gzip file is damaged or cut off ({error})"
            raise TraceError(Problem(reason, self.name)) from error

    def _raw(self) -> Any:
        if not self.compressed:
            return io.FileIO(self.path)
        import gzip  # late, for few runs need it

        return gzip.GzipFile(self.path)


def find_sources(patterns: Iterable[str], base: Path, root: Path, format: str | None = None) -> list[Source]:
    """The files that paths, folders and globs name, sorted by name; a file reached twice is there once."""
    problems: list[Problem] = []
    found: dict[str, Source] = {}
    for pattern in patterns:
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
            if not name.startswith(".") and name.lower().endswith(_ENDINGS):
                yield os.path.join(place, name)


def _nothing(pattern: str, base: Path) -> str:
    path = os.path.join(base, pattern)
    if os.path.isdir(path):
        return "holds no trace file (looked for .jsonl, .json and .gz in it and below)"
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
