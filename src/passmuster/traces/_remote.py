"""Trace files in object stores, and behind every other address that fsspec knows.

A question that fails is asked again, here and in one place only: stores' own repeats are switched off.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar
from urllib.parse import urlsplit

from msgspec import Struct

from passmuster._problems import OutsideError, Problem, TraceError

_ATTEMPTS = 5
_FIRST_PAUSE_S = 0.1
_PATIENCE_S = 60.0
"""After so long a failed question is not asked again: one attempt may wait for minutes where a server is silent."""
_FINAL = (FileNotFoundError, PermissionError, IsADirectoryError, NotImplementedError)
"""What asking again does not change."""
_LISTED = 8
"""Files of one folder from which on listing it is cheaper than asking for each."""
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
    store, path = store_of(pattern, name)
    ask = Asking(name)
    if any(sign in pattern for sign in "*[") or ("?" in pattern and not pattern.startswith("http")):
        spelled = re.sub(r"\*\*(?=[^/])", "**/*", path)  # `**.jsonl` is at any depth, as it is for object stores
        found = ask(lambda: store.glob(spelled, detail=True))
        return [_entry(store, info) for info in found.values() if info.get("type") != "directory"]
    info = ask(lambda: store.info(path))
    if info.get("type") != "directory":
        return [RemoteEntry(pattern, _size(info, name), _mark(info))]
    found = ask(lambda: store.find(path, detail=True))
    return [_entry(store, info) for key, info in found.items() if wanted(key)]


def stat(address: str) -> RemoteEntry:
    """A file as it is now."""
    name = name_of(address)
    store, path = store_of(address, name)

    def info() -> Any:
        store.invalidate_cache()
        return store.info(path)

    found = Asking(name)(info)
    return RemoteEntry(address, _size(found, name), _mark(found))


def marks_now(addresses: Iterable[str]) -> dict[str, str | None]:
    """The marks of files as they are now, None for one that is gone. Folders with many of them are listed."""
    folders: dict[str, list[str]] = {}
    for address in addresses:
        folders.setdefault(address.rpartition("/")[0], []).append(address)
    marks: dict[str, str | None] = {}
    for folder, inside in folders.items():
        if len(inside) < _LISTED or folder.startswith("http"):
            marks |= {address: _mark_now(address) for address in inside}
        else:
            listed = _listed(folder)
            marks |= {address: listed.get(address) for address in inside}
    return marks


def _mark_now(address: str) -> str | None:
    try:
        return stat(address).mark
    except TraceError:
        return None


def _listed(folder: str) -> dict[str, str]:
    store, path = store_of(folder, folder)

    def listing() -> Any:
        store.invalidate_cache()
        return store.ls(path, detail=True)

    return {entry.address: entry.mark for entry in (_entry(store, info) for info in Asking(folder)(listing))}


class Asking:
    """Asks a store until it answers, so many times, with longer and longer pauses."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, question: Callable[[], T]) -> T:
        started = time.monotonic()
        for attempt in range(_ATTEMPTS):
            try:
                return question()
            except _FINAL as error:
                raise TraceError(Problem(_refusal(error), self._name)) from error
            except Exception as error:  # each store has errors of its own
                last = attempt == _ATTEMPTS - 1 or time.monotonic() - started > _PATIENCE_S
                if last or "credentials" in str(error).lower():
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


def store_of(address: str, name: str) -> tuple[Any, str]:
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
    if hasattr(store, "retries"):  # of s3fs and others, which would multiply those of `Asking`
        store.retries = 1
    return store, path


def _entry(store: Any, info: Any) -> RemoteEntry:
    address = store.unstrip_protocol(info["name"])
    return RemoteEntry(address, _size(info, address), _mark(info))


def _size(info: Any, name: str) -> int:
    if info.get("size") is None and info.get("type") != "directory":
        raise TraceError(Problem("the server does not say how many bytes it has: copy it to this machine first", name))
    return int(info.get("size") or 0)


def _mark(info: Any) -> str:
    """By the hash that a store states. A listing and the file itself may give its time to a different precision."""
    hashes = [info[key] for key in ("ETag", "etag", "md5Hash") if info.get(key) is not None]
    times = [info[key] for key in ("LastModified", "updated", "mtime", "created") if info.get(key) is not None]
    return "|".join([str(info.get("size")), *map(str, hashes or times)])
