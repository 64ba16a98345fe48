"""A file lock between processes, released when its process ends."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

_PAUSE = 0.02


@contextlib.contextmanager
def locked(path: Path, patience: float = 60.0) -> Iterator[None]:
    """Holds the lock file `path`, which is removed again; `TimeoutError` if another holds it for too long."""
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
