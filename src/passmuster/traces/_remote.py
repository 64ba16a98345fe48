"""Trace files in object stores, and behind every other address that fsspec knows.

A file is read by ranges of bytes. A range that fails or comes back short is asked for again; the next one is already on
its way while this one is evaluated.
"""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar
from urllib.parse import urlsplit

from msgspec import Struct

from passmuster._problems import OutsideError, Problem, TraceError

_BLOCK = 8 << 20
_ATTEMPTS = 5
_FIRST_PAUSE_S = 0.1
_FINAL = (FileNotFoundError, PermissionError, IsADirectoryError, NotImplementedError)
"""What asking again does not change."""
T = TypeVar("T")


class RemoteEntry(Struct, frozen=True):
    """A file in a store as its listing shows it."""

    address: str
    size: int
    mark: str
    """Changes when the file does."""


def name_of(address: str) -> str:
    """The address as reports show it. Raises `TraceError` for one that holds a credential."""
    parts = urlsplit(address)
    if "@" in parts.netloc:
        message = "holds a credential: leave it out, and give it in the way of the store (environment, profile, role)"
        raise TraceError(Problem(message, f"{parts.scheme}://…@{parts.netloc.rpartition('@')[2]}{parts.path}"))
    return address.partition("?")[0] if parts.scheme in ("http", "https") else address


def expand(pattern: str, wanted: Callable[[str], bool]) -> list[RemoteEntry]:
    """The files that an address names: one file, those below a folder that are `wanted`, or those a glob fits."""
    name = name_of(pattern)
    store, path = _store(pattern, name)
    ask = _Asking(name)
    if any(sign in pattern for sign in "*[") or ("?" in pattern and not pattern.startswith("http")):
        spelled = re.sub(r"\*\*(?=[^/])", "**/*", path)  # `**.jsonl` is at any depth, as it is for object stores
        found = ask(lambda: store.glob(spelled, detail=True))
        return [_entry(store, info) for info in found.values() if info.get("type") != "directory"]
    info = ask(lambda: store.info(path))
    if info.get("type") != "directory":
        return [RemoteEntry(pattern, int(info.get("size") or 0), _mark(info))]
    found = ask(lambda: store.find(path, detail=True))
    return [_entry(store, info) for key, info in found.items() if wanted(key)]


def stat(address: str) -> RemoteEntry:
    """A file as it is now."""
    name = name_of(address)
    store, path = _store(address, name)

    def info() -> Any:
        store.invalidate_cache()
        return store.info(path)

    found = _Asking(name)(info)
    return RemoteEntry(address, int(found.get("size") or 0), _mark(found))


class RemoteFile(io.RawIOBase):
    """A file in a store, to be read from any byte on."""

    def __init__(self, address: str, size: int | None = None) -> None:
        name = name_of(address)
        self._store, self._path = _store(address, name)
        self._ask = _Asking(name)
        self._size = stat(address).size if size is None else size
        self._place = 0
        self._block, self._begin = b"", 0
        self._ahead: tuple[int, Future[bytes]] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="passmuster-read-ahead")

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._place = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        return self._place

    def readinto(self, room: Any) -> int:
        if self._place >= self._size:
            return 0
        if not self._begin <= self._place < self._begin + len(self._block):
            self._block, self._begin = self._from(self._place), self._place
        start = self._place - self._begin
        piece = memoryview(self._block)[start : start + len(room)]
        room[: len(piece)] = piece
        self._place += len(piece)
        return len(piece)

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)
        super().close()

    def _from(self, begin: int) -> bytes:
        """The block that begins here; the next one is asked for."""
        if self._ahead is not None and self._ahead[0] == begin:
            block = self._ahead[1].result()
        else:
            block = self._get(begin)
        following = begin + len(block)
        self._ahead = None
        if following < self._size:
            self._ahead = following, self._thread.submit(self._get, following)
        return block

    def _get(self, begin: int) -> bytes:
        end = min(begin + _BLOCK, self._size)

        def get() -> bytes:
            data: bytes = self._store.cat_file(self._path, start=begin, end=end)
            if len(data) != end - begin:
                raise OSError(f"{len(data)} bytes came back where {end - begin} were asked for")
            return data

        return self._ask(get)


class _Asking:
    """Asks a store until it answers, so many times, with longer and longer pauses."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, question: Callable[[], T]) -> T:
        for attempt in range(_ATTEMPTS):
            try:
                return question()
            except _FINAL as error:
                raise TraceError(Problem(_refusal(error), self._name)) from error
            except Exception as error:  # each store has errors of its own
                if "credentials" in str(error).lower() or attempt == _ATTEMPTS - 1:
                    reason = f"cannot be read: {type(error).__name__}: {str(error)[:300]}"
                    raise OutsideError(Problem(reason, self._name)) from error
                time.sleep(_FIRST_PAUSE_S * 2**attempt)
        raise AssertionError("the last attempt returns or raises")


def _refusal(error: Exception) -> str:
    if isinstance(error, PermissionError):
        return "access is denied: check the credentials, and that they may list and read it"
    if isinstance(error, FileNotFoundError):
        return "there is no such trace file, folder or bucket"
    return f"cannot be read: {error}"


def _store(address: str, name: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it."""
    try:
        import fsspec
    except ImportError as error:
        message = "is not on this machine, which needs another package: pip install 'passmuster[remote]'"
        raise TraceError(Problem(message, name)) from error
    try:
        store, path = fsspec.core.url_to_fs(address)
    except (ImportError, ValueError) as error:
        raise TraceError(Problem(f"no package that reads this kind of address is installed: {error}", name)) from error
    return store, path


def _entry(store: Any, info: Any) -> RemoteEntry:
    return RemoteEntry(store.unstrip_protocol(info["name"]), int(info.get("size") or 0), _mark(info))


def _mark(info: Any) -> str:
    known = (info.get(key) for key in ("ETag", "etag", "md5Hash", "LastModified", "updated", "mtime", "created"))
    return "|".join([str(info.get("size")), *(str(one) for one in known if one is not None)])
