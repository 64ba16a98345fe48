"""Files written whole or not at all: nobody ever reads half of one, and what was there stays if anything goes wrong."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

PRIVATE_FOLDER = ".passmuster"
"""The folder under a root for the history, verdicts of judges and live runs."""


def create_file(target: Path, data: bytes) -> None:
    """Write a file that is not there yet. Raises `FileExistsError` where one is, also if it came up only now."""
    temporary = target.with_name(f".passmuster-{os.urandom(8).hex()}.tmp")
    try:
        replace_file(temporary, data)
        try:
            os.link(temporary, target)
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links
            with open(target, "xb") as file:
                file.write(data)
    finally:
        with suppress(OSError):
            temporary.unlink()


def replace_file(target: Path, data: bytes | Iterable[bytes]) -> None:
    """Write a file beside its place, then put it there at once. It keeps the permissions of the one before it."""
    if target.is_dir():
        raise IsADirectoryError(None, "it is a folder")
    mode = target.stat().st_mode & 0o7777 if target.exists() else None
    temporary = target.with_name(f".passmuster-{os.urandom(8).hex()}.tmp")
    try:
        with open(temporary, "xb") as file:
            for piece in (data,) if isinstance(data, bytes) else data:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(mode)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def make_private_folder(folder: Path) -> None:
    """Make a folder for what nobody wants to commit by accident: it tells git to look away."""
    folder.mkdir(exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists() or not ignore.stat().st_size:  # a full disk may have left an empty one behind
        replace_file(ignore, b"*\n")
