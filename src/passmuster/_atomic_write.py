"""Files written whole or not at all: nobody ever reads half of one, and what was there stays if anything goes wrong."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def replace_file(target: Path, data: bytes) -> None:
    """Write a file beside its place, then put it there at once. It keeps the permissions of the one before it."""
    if target.is_dir():
        raise IsADirectoryError(None, "it is a folder")
    mode = target.stat().st_mode & 0o7777 if target.exists() else None
    temporary = target.with_name(f".passmuster-{os.urandom(8).hex()}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(mode)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
