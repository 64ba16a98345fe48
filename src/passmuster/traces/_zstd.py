"""Zstandard, from Python 3.14 or from the extra `zstd`."""

from __future__ import annotations

import io
from importlib import import_module
from typing import IO, Any

MISSING_ZSTD = "is compressed with zstd: pip install 'passmuster[zstd]', or use Python 3.14"


class ZstdMissing(Exception):
    """Neither Python nor an extra can unpack zstd."""


class _Unpacked(io.RawIOBase):
    """A stream of `zstandard`, whose own errors become `OSError`."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        try:
            count: int = self._stream.readinto(room)
        except OSError:
            raise
        except Exception as error:
            raise OSError(str(error)) from error
        return count


def unpacked(packed: IO[bytes]) -> io.RawIOBase:
    """The unpacked bytes of a stream, several frames one after the other included. Raises `ZstdMissing`."""
    for module in ("compression.zstd", "zstandard"):
        try:
            zstd = import_module(module)
        except ImportError:
            continue
        if module == "compression.zstd":
            return _Unpacked(zstd.ZstdFile(packed))
        return _Unpacked(zstd.ZstdDecompressor().stream_reader(packed, read_across_frames=True))
    raise ZstdMissing
